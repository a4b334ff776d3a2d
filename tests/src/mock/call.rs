//! What the mock provider remembers of one call.

use std::time::{Duration, Instant};

use serde_json::Value;

/// One request to the mock provider.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its place in the log, from 0.
    pub number: usize,
    /// The path it came for.
    pub path: String,
    /// Its `Idempotency-Key`.
    pub key: Option<String>,
    /// The last user message: the question.
    pub question: String,
    /// The whole body; null if it was no JSON.
    pub body: Value,
    /// Its fields, names as sent.
    pub headers: Vec<(String, String)>,
    /// When its body had arrived.
    pub began: Instant,
    /// Bytes of the reply's body that were written so far, transfer coding apart.
    pub written: usize,
    /// How it ended; `None` while it goes on.
    pub ended: Option<Ended>,
    /// Time from `began` to its end.
    pub ended_after: Option<Duration>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its script was played to the end.
    Played,
    /// The client closed the connection before the script had ended.
    ClientClosed,
    /// The script cut the connection.
    Reset,
}

impl Call {
    /// Whether the client hung up on it.
    pub fn client_closed(&self) -> bool {
        self.ended == Some(Ended::ClientClosed)
    }

    /// The messages that were sent, as pairs of role and text.
    pub fn messages(&self) -> Vec<(String, String)> {
        let messages = self.body.get("messages").and_then(Value::as_array);
        messages
            .into_iter()
            .flatten()
            .map(|message| {
                let role = message.get("role").and_then(Value::as_str);
                (
                    role.unwrap_or_default().to_owned(),
                    text_of(message.get("content").unwrap_or(&Value::Null)),
                )
            })
            .collect()
    }
}

/// A message's text, whether it was sent as a string or in parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}

/// The last user message of a body.
pub(super) fn question_of(body: &Value) -> String {
    let messages = body.get("messages").and_then(Value::as_array);
    messages
        .into_iter()
        .flatten()
        .rfind(|message| message.get("role").and_then(Value::as_str) == Some("user"))
        .map(|message| text_of(message.get("content").unwrap_or(&Value::Null)))
        .unwrap_or_default()
}
