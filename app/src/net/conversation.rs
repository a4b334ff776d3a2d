//! Loading a page of a conversation's turns.

use std::time::Duration;

use holdfast_protocol::reply::{Reply, WAIT_MOST};
use holdfast_protocol::{Code, Conversation, ConversationId, Problem, retry_after};

use super::{Abort, fetch};
use crate::json;

/// What became of it.
#[derive(Debug, PartialEq)]
pub(crate) enum Loaded {
    /// The turns.
    Page(Box<Conversation>),
    /// There is no such conversation, as far as this principal can know.
    NotFound,
    /// It was deleted.
    Deleted,
    /// Nobody is signed in.
    SignIn,
    /// Holdfast refused, with a sentence.
    Refused(String),
    /// Nothing that says anything; worth another try, after a while if one was named.
    Nothing(Option<Duration>),
}

/// Loads the newest turns, or those before a `seq`.
pub(crate) async fn conversation(id: ConversationId, before: Option<u64>, abort: &Abort) -> Loaded {
    let before = before.map(|seq| ("before", seq.to_string())).into_iter().collect();
    match fetch::get(&format!("api/v1/conversations/{id}"), before, 0, abort).await {
        Some(fetched) => read(id, &fetched.reply()),
        None => Loaded::Nothing(None),
    }
}

fn read(id: ConversationId, reply: &Reply<'_>) -> Loaded {
    let after = || {
        let after = retry_after(reply.retry_after?, reply.date)?;
        (after <= WAIT_MOST).then_some(after)
    };
    if reply.status == 200 {
        return match json::read::<Conversation>(reply.body) {
            Some(page) if page.id == id => Loaded::Page(Box::new(page)),
            _ => Loaded::Nothing(None),
        };
    }
    let Some(problem) = json::read::<Problem>(reply.body) else {
        return Loaded::Nothing(after());
    };
    match problem.code {
        Code::ConversationNotFound => Loaded::NotFound,
        Code::ConversationDeleted | Code::RequestDeleted => Loaded::Deleted,
        Code::SignInRequired | Code::InvalidToken => Loaded::SignIn,
        code if code.status() < 500 && code != Code::RateLimited => Loaded::Refused(problem.detail),
        _ => Loaded::Nothing(after()),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    const ID: &str = "018f2b6e-7c11-7cc3-9d5a-0123456789ac";

    fn said(status: u16, body: &str) -> Loaded {
        let reply = Reply {
            status,
            content_type: None,
            retry_after: Some("7"),
            date: None,
            body: body.as_bytes(),
        };
        read(ID.parse().unwrap(), &reply)
    }

    fn problem(code: Code) -> Loaded {
        said(code.status(), &serde_json::to_string(&Problem::new(code, "Why.")).unwrap())
    }

    #[test]
    fn a_page_is_taken_only_with_the_right_id() {
        let page = |id: &str| format!(r#"{{"id": "{id}", "title": "T", "turns": [], "next": 4}}"#);
        assert!(matches!(said(200, &page(ID)), Loaded::Page(page) if page.next == Some(4)));
        let other = page("018f2b6e-7c11-7cc3-9d5a-0123456789ff");
        for body in [other.as_str(), "<html>", "", r#"{"id": 3}"#] {
            assert_eq!(said(200, body), Loaded::Nothing(None), "{body}");
        }
    }

    #[test]
    fn only_holdfasts_own_codes_end_the_tries() {
        assert_eq!(problem(Code::ConversationNotFound), Loaded::NotFound);
        assert_eq!(problem(Code::ConversationDeleted), Loaded::Deleted);
        assert_eq!(problem(Code::SignInRequired), Loaded::SignIn);
        assert_eq!(problem(Code::Forbidden), Loaded::Refused("Why.".into()));
        let again = Loaded::Nothing(Some(Duration::from_secs(7)));
        for code in [Code::Starting, Code::ArchiveUnavailable, Code::RateLimited, Code::Internal] {
            assert_eq!(problem(code), again, "{code}");
        }
        assert_eq!(said(404, "<h1>nginx</h1>"), again);
        assert_eq!(said(0, ""), again);
    }
}
