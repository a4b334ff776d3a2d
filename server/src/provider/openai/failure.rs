//! What a failed call is called: code, sentence, whether asking again may help, and whether the
//! provider may have been called. All of the dialect's sentences are here.

use std::error::Error;
use std::io;
use std::time::Duration;

use holdfast_protocol::{FailureCode, Finish};
use reqwest::StatusCode;
use serde_json::Value;

use super::answer::Fault;
use super::chunk::{self, End};
use crate::provider::quote::quote;
use crate::provider::secret::Secret;
use crate::provider::{ProviderError, Usage};

/// Speaks of one provider's failures.
#[derive(Clone, Debug)]
pub(super) struct Failures {
    origin: String,
    key: Option<Secret>,
}

impl Failures {
    /// For the provider at `origin`, without ever quoting `key`.
    pub(super) const fn new(origin: String, key: Option<Secret>) -> Self {
        Self { origin, key }
    }

    /// The call failed before its reply began.
    pub(super) fn no_reply(&self, error: &reqwest::Error, connect: Duration) -> ProviderError {
        let origin = &self.origin;
        if error.is_builder() {
            return unsendable();
        }
        // A connection that was never made has carried no byte of the request. Every other fault,
        // however early it looks, may have come after the first byte.
        if error.is_connect() {
            let reason = self.why_no_connection(error, connect);
            let sentence = format!("The model server at {origin} cannot be reached: {reason}.");
            return uncalled(FailureCode::ProviderUnreachable, sentence, true);
        }
        if error.is_timeout() {
            return no_first_byte();
        }
        let sentence =
            format!("The model server at {origin} closed the connection without a proper answer.");
        called(FailureCode::ProviderFailed, sentence, true)
    }

    fn why_no_connection(&self, error: &reqwest::Error, connect: Duration) -> String {
        if error.is_timeout() {
            return format!("no connection within {}", seconds(connect));
        }
        if error.is_dns() {
            return "its name is not known".to_owned();
        }
        let mut deepest: &dyn Error = error;
        while let Some(source) = deepest.source() {
            deepest = source;
            if let Some(error) = source.downcast_ref::<io::Error>()
                && error.kind() == io::ErrorKind::ConnectionRefused
            {
                return "the connection was refused".to_owned();
            }
        }
        let reason = quote(&deepest.to_string(), self.key.as_ref());
        reason.map_or_else(|| "no connection".to_owned(), |it| it.trim_end_matches('.').to_owned())
    }

    /// The reply's status is not a success. `body` is what came of it, within its bound.
    pub(super) fn status(
        &self,
        status: StatusCode,
        body: &[u8],
        retry_after: Option<Duration>,
    ) -> ProviderError {
        let number = status.as_u16();
        if status.is_redirection() {
            let sentence = format!(
                "The model server at {} redirects to another address ({number}), which is not \
                 followed: check the provider's URL.",
                self.origin
            );
            return called(FailureCode::ProviderRejected, sentence, false);
        }
        let parsed = serde_json::from_slice::<Value>(body).ok();
        let is_spent = parsed.as_ref().is_some_and(|body| {
            chunk::error_names(body)
                .any(|name| matches!(name, "insufficient_quota" | "billing_hard_limit_reached"))
        });
        let (code, begin, retryable) = match number {
            408 => (FailureCode::ProviderTimeout, "The model server gave up waiting", true),
            429 if is_spent => (
                FailureCode::ProviderThrottled,
                "The model server says that the quota is spent",
                false,
            ),
            429 => (FailureCode::ProviderThrottled, "The model server asks to slow down", true),
            401 | 403 if self.key.is_none() => {
                (FailureCode::ProviderRejected, "The model server wants a key", false)
            }
            401 | 403 => (FailureCode::ProviderRejected, "The model server refused the key", false),
            404 => (
                FailureCode::ProviderRejected,
                "The model server knows no such model or address",
                false,
            ),
            400..=499 => (
                FailureCode::ProviderRejected,
                "The model server refused the request",
                number == 425,
            ),
            500..=599 => (FailureCode::ProviderFailed, "The model server failed", true),
            _ => (FailureCode::ProviderFailed, "The model server gave an unexpected reply", false),
        };
        let words = self.words(parsed.as_ref(), body);
        let advice = retry_after
            .filter(|wait| retryable && !wait.is_zero())
            .map(|wait| format!(" It asks to wait {}.", seconds(wait)))
            .unwrap_or_default();
        let sentence = sentence(&format!("{begin} ({number})"), words.as_deref());
        called(code, sentence + &advice, retryable)
    }

    /// The provider's own words about a refusal: from its JSON, else its plain text, never a page.
    fn words(&self, parsed: Option<&Value>, body: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(body);
        let words = match parsed {
            Some(value) => chunk::error(value)
                .filter(|words| !words.is_empty())
                .or_else(|| chunk::message(value))?,
            // JSON that was cut at the bound, or a page.
            None if text.trim_start().starts_with(['{', '[', '<', '\u{feff}']) => return None,
            None => &text,
        };
        quote(words, self.key.as_ref())
    }

    /// The body is no answer.
    pub(super) fn fault(&self, fault: &Fault, usage: Usage) -> ProviderError {
        let failed = FailureCode::ProviderFailed;
        let (code, sentence, retryable) = match fault {
            Fault::Html => {
                let sentence = format!(
                    "The model server at {} sent a web page instead of an answer: check the \
                     provider's URL, and what stands in between.",
                    self.origin
                );
                (failed, sentence, false)
            }
            Fault::NotUtf8 => {
                (failed, "The model server sent text that is not UTF-8.".to_owned(), true)
            }
            Fault::NotJson => {
                (failed, "The model server sent something that is not JSON.".to_owned(), true)
            }
            Fault::NotChat => {
                let sentence = format!(
                    "The server at {} sent something that is no chat completion: check the \
                     provider's URL.",
                    self.origin
                );
                (failed, sentence, false)
            }
            Fault::Reported(words) => {
                let words = quote(words, self.key.as_ref());
                (failed, sentence("The model server reports an error", words.as_deref()), true)
            }
            Fault::Oversized => {
                (failed, "The model server sent a piece larger than is read.".to_owned(), false)
            }
            Fault::TooLarge => {
                let sentence = "The answer is longer than 2 MB; what came until then is kept.";
                (FailureCode::AnswerTooLarge, sentence.to_owned(), false)
            }
            Fault::Ended => {
                (failed, "The model server ended its answer in the middle.".to_owned(), true)
            }
            Fault::Blank(end) => (FailureCode::ProviderEmpty, blank(*end).to_owned(), true),
        };
        ProviderError { usage, ..called(code, sentence, retryable) }
    }
}

/// No call was made, since the configuration lacks something.
pub(super) fn not_configured(sentence: &str) -> ProviderError {
    uncalled(FailureCode::ProviderRequired, sentence.to_owned(), false)
}

/// No call was made, since the request cannot be put together.
pub(super) fn unsendable() -> ProviderError {
    let sentence = "The request to the model server could not be put together.";
    uncalled(FailureCode::Internal, sentence.to_owned(), false)
}

/// The reply did not begin in time.
pub(super) fn no_first_byte() -> ProviderError {
    let sentence = "The model server did not begin to answer in time.";
    called(FailureCode::ProviderTimeout, sentence.to_owned(), true)
}

/// The connection broke in mid answer.
pub(super) fn broken(usage: Usage) -> ProviderError {
    let sentence = "The connection to the model server broke in mid answer.".to_owned();
    ProviderError { usage, ..called(FailureCode::ProviderFailed, sentence, true) }
}

/// The reply is compressed, which was not asked for and cannot be read.
pub(super) fn compressed() -> ProviderError {
    let sentence = "The model server sent a compressed answer, which was not asked for.";
    called(FailureCode::ProviderFailed, sentence.to_owned(), false)
}

const fn blank(end: Option<End>) -> &'static str {
    match end {
        Some(End::Known(Finish::Length)) => {
            "The model reached its length limit before it began to answer: allow it more tokens."
        }
        Some(End::Known(Finish::Filtered)) => "The provider's filter held the answer back.",
        Some(End::Tool) => "The model wanted to use a tool, and none is offered here.",
        _ => "The model answered with nothing.",
    }
}

/// `begin`, and the provider's words after it if there are any, as a sentence.
fn sentence(begin: &str, words: Option<&str>) -> String {
    match words {
        None => format!("{begin}."),
        Some(words) if words.ends_with(['.', '!', '?', '…']) => format!("{begin}: {words}"),
        Some(words) => format!("{begin}: {words}."),
    }
}

fn seconds(duration: Duration) -> String {
    match duration.as_secs_f64().ceil() {
        1.0 => "1 second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}

fn called(code: FailureCode, message: String, retryable: bool) -> ProviderError {
    ProviderError { code, message, retryable, called: true, usage: Usage::default() }
}

fn uncalled(code: FailureCode, message: String, retryable: bool) -> ProviderError {
    ProviderError { called: false, ..called(code, message, retryable) }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn failures(key: Option<&str>) -> Failures {
        Failures::new("http://h".to_owned(), key.and_then(Secret::new))
    }

    fn status(number: u16, body: &str) -> ProviderError {
        failures(Some("topsecret1")).status(
            StatusCode::from_u16(number).unwrap(),
            body.as_bytes(),
            Some(Duration::from_secs(20)),
        )
    }

    #[test]
    fn every_status_has_its_code() {
        use FailureCode::{ProviderFailed, ProviderRejected, ProviderThrottled, ProviderTimeout};
        for (number, code, retryable) in [
            (400, ProviderRejected, false),
            (401, ProviderRejected, false),
            (402, ProviderRejected, false),
            (403, ProviderRejected, false),
            (404, ProviderRejected, false),
            (408, ProviderTimeout, true),
            (409, ProviderRejected, false),
            (413, ProviderRejected, false),
            (422, ProviderRejected, false),
            (425, ProviderRejected, true),
            (429, ProviderThrottled, true),
            (499, ProviderRejected, false),
            (500, ProviderFailed, true),
            (502, ProviderFailed, true),
            (503, ProviderFailed, true),
            (504, ProviderFailed, true),
            (529, ProviderFailed, true),
            (301, ProviderRejected, false),
            (302, ProviderRejected, false),
            (307, ProviderRejected, false),
            (308, ProviderRejected, false),
            (304, ProviderRejected, false),
            (600, ProviderFailed, false),
        ] {
            let error = status(number, "");
            assert_eq!(
                (error.code, error.retryable, error.called),
                (code, retryable, true),
                "{number}"
            );
            assert!(error.message.contains(&number.to_string()), "{}", error.message);
        }
    }

    #[test]
    fn the_providers_words_are_quoted() {
        for (body, expected) in [
            (r#"{"error": {"message": "No such model"}}"#, "(400): No such model."),
            (r#"{"error": "Why?"}"#, "(400): Why?"),
            (r#"{"detail": [{"msg": "Extra inputs"}]}"#, "(400): Extra inputs."),
            ("plain text\n", "(400): plain text."),
            ("<html><title>400</title></html>", "(400)."),
            (r#"{"error": {"message": "cut of"#, "(400)."),
            ("{}", "(400)."),
            ("", "(400)."),
        ] {
            let message = status(400, body).message;
            assert_eq!(message, format!("The model server refused the request {expected}"));
        }
    }

    #[test]
    fn no_secret_is_quoted() {
        for body in [
            r#"{"error": {"message": "Incorrect API key provided: topsecret1"}}"#,
            r#"{"error": {"message": "Incorrect API key provided: top\u0073ecret1"}}"#,
            "Bearer topsecret1",
        ] {
            let message = status(401, body).message;
            assert!(!message.contains("topsecret1") && message.contains("[key]"), "{message}");
        }
    }

    #[test]
    fn waiting_is_advised_where_it_helps() {
        assert!(status(429, "").message.ends_with("It asks to wait 20 seconds."));
        let spent = status(429, r#"{"error": {"message": "m", "code": "insufficient_quota"}}"#);
        assert!(!spent.retryable && !spent.message.contains("wait"), "{}", spent.message);
    }

    #[test]
    fn a_missing_key_is_told_from_a_wrong_one() {
        let wanted = failures(None).status(StatusCode::UNAUTHORIZED, b"", None).message;
        assert_eq!(wanted, "The model server wants a key (401).");
        assert_eq!(status(401, "").message, "The model server refused the key (401).");
    }
}
