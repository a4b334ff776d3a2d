//! Who is asking, and what there is to ask.

use holdfast_protocol::reply::Reply;
use holdfast_protocol::{Code, Problem, Session};
use holdfast_recovery::SessionReply;
use serde_json::Value;

use super::{Abort, fetch};
use crate::json;

/// Fetches the session: what recovery wants to know, and the whole of it for the screen.
pub(crate) async fn session(abort: &Abort) -> (SessionReply, Option<Session>) {
    match fetch::get("api/v1/session", Vec::new(), 0, abort).await {
        Some(fetched) => read(&fetched.reply()),
        None => (SessionReply::Nothing, None),
    }
}

fn read(reply: &Reply<'_>) -> (SessionReply, Option<Session>) {
    let signed_out = (SessionReply::SignedOut, None);
    match reply.status {
        200 => match json::read::<Session>(reply.body) {
            Some(session) if session.signed_in => {
                let owner = session.owner.clone();
                (SessionReply::SignedIn { owner, policy: session.recovery }, Some(session))
            }
            // A session that nobody has may well lack what belongs to somebody.
            _ if says_signed_out(reply.body) => signed_out,
            _ => (SessionReply::Nothing, None),
        },
        401 if is_sign_in(reply.body) => signed_out,
        _ => (SessionReply::Nothing, None),
    }
}

fn says_signed_out(body: &[u8]) -> bool {
    json::read::<Value>(body)
        .is_some_and(|value| value.get("signed_in").and_then(Value::as_bool) == Some(false))
}

fn is_sign_in(body: &[u8]) -> bool {
    json::read::<Problem>(body)
        .is_some_and(|problem| matches!(problem.code, Code::SignInRequired | Code::InvalidToken))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(status: u16, body: &str) -> SessionReply {
        let reply = Reply {
            status,
            content_type: Some("application/json"),
            retry_after: None,
            date: None,
            body: body.as_bytes(),
        };
        read(&reply).0
    }

    #[test]
    fn a_session_names_the_owner() {
        let body = r#"{"signed_in": true, "principal": {"name": "local"}, "owner": "p.a",
            "limits": {"question": 32768}, "models": [], "offers": [], "build": "b",
            "recovery": {"submit_attempts": 3, "startup_attempts": 2, "resubmissions": 1}}"#;
        match said(200, body) {
            SessionReply::SignedIn { owner, policy } => {
                assert_eq!((owner.as_str(), policy.submit_attempts), ("p.a", 3));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nobody_is_signed_in_only_where_holdfast_says_so() {
        assert_eq!(said(200, r#"{"signed_in": false}"#), SessionReply::SignedOut);
        let problem = r#"{"status": 401, "code": "sign_in_required", "detail": "Sign in."}"#;
        assert_eq!(said(401, problem), SessionReply::SignedOut);
        for (status, body) in [
            (200, "<html>log in to the hotel</html>"),
            (200, "{}"),
            (401, "Unauthorized"),
            (401, r#"{"code": "login"}"#),
            (503, r#"{"status": 503, "code": "starting", "detail": ""}"#),
            (0, ""),
        ] {
            assert_eq!(said(status, body), SessionReply::Nothing, "{status} {body}");
        }
    }
}
