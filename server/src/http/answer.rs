//! An outcome as a reply.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use holdfast_protocol::Outcome;
use holdfast_protocol::limits::PAGE_BYTES;

use super::wait::Wait;
use crate::runs::Found;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// 200 with an outcome that has settled, else 202.
pub(super) struct Answered {
    pub(super) found: Found,
    pub(super) wait: Wait,
    /// Whether to say where the outcome can be looked up: relative to `api/v1/ask`.
    pub(super) located: bool,
}

impl IntoResponse for Answered {
    fn into_response(self) -> Response {
        let (location, mut response) = match self.found {
            Found::Settled(json) => (None, ([(header::CONTENT_TYPE, JSON)], json).into_response()),
            Found::Outcome(outcome) => {
                let settled = outcome.status.is_settled();
                let status = if settled { StatusCode::OK } else { StatusCode::ACCEPTED };
                let location = (self.located && !settled).then(|| {
                    let Outcome { request_id, conversation_id, .. } = &*outcome;
                    format!("requests/{request_id}?conversation_id={conversation_id}")
                });
                (location, (status, Json(outcome)).into_response())
            }
        };
        let headers = response.headers_mut();
        self.wait.confirm(headers);
        if let Some(location) = location.and_then(|text| HeaderValue::try_from(text).ok()) {
            headers.insert(header::LOCATION, location);
        }
        response
    }
}

/// Leaves of the answer what follows `after`, at most a page of it. An offset beyond its end, or
/// inside a character, begins anew.
pub(super) fn page(outcome: &mut Outcome, after: u64) {
    let Some(answer) = &mut outcome.answer else { return };
    let begin = usize::try_from(after).ok().filter(|at| answer.text.is_char_boundary(*at));
    let begin = begin.unwrap_or(0);
    let end = answer.text.floor_char_boundary(begin.saturating_add(PAGE_BYTES));
    answer.text = answer.text.get(begin..end).unwrap_or_default().to_owned();
    answer.offset = begin as u64;
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use holdfast_protocol::{Answer, Status};
    use uuid::Uuid;

    use super::*;

    fn paged(text: &str, after: u64) -> (u64, String) {
        let id = Uuid::nil();
        let mut outcome = Outcome::bare(
            holdfast_protocol::RequestId::new(id),
            holdfast_protocol::ConversationId::new(id),
            Status::Completed,
            None,
        );
        let bytes = text.len() as u64;
        outcome.answer = Some(Answer { text: text.to_owned(), bytes, ..Answer::default() });
        page(&mut outcome, after);
        let answer = outcome.answer.unwrap();
        assert_eq!(answer.bytes, bytes, "the whole stays as long as it is");
        (answer.offset, answer.text)
    }

    #[test]
    fn an_offset_leaves_what_follows_it() {
        assert_eq!(paged("aé", 0), (0, "aé".into()));
        assert_eq!(paged("aé", 1), (1, "é".into()));
        assert_eq!(paged("aé", 3), (3, String::new()));
    }

    #[test]
    fn an_offset_that_is_none_begins_anew() {
        assert_eq!(paged("aé", 2), (0, "aé".into()));
        assert_eq!(paged("aé", 4), (0, "aé".into()));
        assert_eq!(paged("aé", u64::MAX), (0, "aé".into()));
    }

    #[test]
    fn pages_joined_are_the_whole() {
        let whole = "é".repeat(PAGE_BYTES) + "a";
        let mut joined = String::new();
        while joined.len() < whole.len() {
            let (offset, text) = paged(&whole, joined.len() as u64);
            assert_eq!(offset, joined.len() as u64);
            assert!(!text.is_empty() && text.len() <= PAGE_BYTES);
            joined.push_str(&text);
        }
        assert_eq!(joined, whole);
    }
}
