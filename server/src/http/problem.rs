//! From an error to an RFC 9457 problem.
//!
//! Which to use: a handler returns `Result<_, Fault>` and lets `?` convert. What the client did wrong
//! is a [`Code`] with a sentence that names it ([`Fault::new`]). What went wrong here keeps its cause
//! for the log ([`Fault::because`]): the cause is logged once, at this boundary, and never leaves.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use holdfast_protocol::{AskError, Code, Problem};

use crate::journal::JournalError;
use crate::runs::Refusal;

/// A request that is answered with a problem.
#[derive(Debug)]
pub(super) struct Fault {
    problem: Problem,
    /// For the log alone.
    cause: Option<String>,
}

pub(super) type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// The client's doing, in a sentence for people.
    pub(super) fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { problem: Problem::new(code, detail), cause: None }
    }

    /// Our own failure, with what the log should know about it.
    fn because(code: Code, detail: &str, cause: &impl ToString) -> Self {
        Self { problem: Problem::new(code, detail), cause: Some(cause.to_string()) }
    }

    /// Seconds after which the same may be tried again; every wait has some.
    const fn retry_after(&self) -> Option<u32> {
        match self.problem.code {
            Code::Starting => Some(1),
            Code::RateLimited | Code::ArchiveUnavailable => Some(2),
            // Whoever starts it again needs a moment.
            Code::ShuttingDown => Some(3),
            _ => None,
        }
    }
}

impl From<AskError> for Fault {
    fn from(error: AskError) -> Self {
        Self::new(error.code, error.detail)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Mismatch => Self::new(
                Code::RequestMismatch,
                "This request_id was used before with another question or in another conversation.",
            ),
            Refusal::InvalidRetryOf => Self::new(
                Code::InvalidRetryOf,
                "`retry_of` must name a settled ask of the same conversation.",
            ),
            Refusal::AlreadyRetried(first) => {
                let mut fault =
                    Self::new(Code::AlreadyRetried, "That question was asked again already.");
                fault.problem = fault.problem.naming(first);
                fault
            }
            Refusal::ConversationDeleted => {
                Self::new(Code::ConversationDeleted, "The conversation was deleted.")
            }
            Refusal::RequestDeleted => {
                Self::new(Code::RequestDeleted, "The question was deleted, with its conversation.")
            }
            Refusal::UnknownModel => Self::new(
                Code::InvalidField,
                "`model`: there is no such model here; the session lists those there are.",
            ),
            Refusal::ShuttingDown => Self::new(
                Code::ShuttingDown,
                "Holdfast is going down and takes no new questions; try again in a moment.",
            ),
            Refusal::Journal(error) => error.into(),
        }
    }
}

impl From<JournalError> for Fault {
    fn from(error: JournalError) -> Self {
        match &error {
            JournalError::Unavailable(_) | JournalError::Stale => Self::because(
                Code::ArchiveUnavailable,
                "The archive cannot be reached now, so nothing can be promised; try again in a \
                 moment.",
                &error,
            ),
            JournalError::Broken(_) => {
                Self::because(Code::Internal, "A fault in Holdfast; its log says more.", &error)
            }
        }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let code = self.problem.code;
        if let Some(cause) = &self.cause {
            tracing::error!(%code, %cause, "a request failed");
        }
        // A problem is strings and a number: it always serialises.
        let body = serde_json::to_vec(&self.problem).unwrap_or_default();
        let status =
            StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(Problem::MEDIA_TYPE));
        if let Some(seconds) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_as_reviewed() {
        // Programs depend on them: a code may be added, and none changed.
        let table: Vec<_> = Code::ALL
            .iter()
            .map(|code| {
                let wait = Fault::new(*code, "").retry_after();
                let wait = wait.map_or(String::new(), |seconds| format!(" (again in {seconds} s)"));
                format!("{} {code}: {}{wait}", code.status(), code.title())
            })
            .collect();
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test]
    fn every_wait_has_its_time_and_no_cause_leaves() {
        for code in Code::ALL.iter().filter(|code| code.status() == 503) {
            assert!(Fault::new(*code, "").retry_after().is_some(), "{code}");
        }
        let cause = JournalError::Unavailable("/home/ada: disk I/O error".to_owned());
        let fault = Fault::from(cause);
        assert!(fault.cause.as_deref().is_some_and(|cause| cause.contains("/home/ada")));
        assert!(!fault.problem.detail.contains("ada"));
    }
}
