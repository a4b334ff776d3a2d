//! The pointer: what the browser keeps about an ask it has not seen settle.

use holdfast_protocol::{AskBody, ConversationId, Owner, RequestId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Enough to look an ask up, and to submit it again unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    /// The ask's identity.
    pub request_id: RequestId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// The question, to be shown before the server has said anything.
    pub question: String,
    /// When the person asked, by the browser's clock.
    pub asked_at: Timestamp,
    /// Whose it is; absent only until the first session reply.
    #[serde(default)]
    pub owner: Option<Owner>,
    /// The exact body sent.
    pub ask: AskBody,
    /// Stop was pressed: recovery cancels and never resubmits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancel: bool,
}

/// The list of pointers as it stands in storage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pointers {
    /// The pointers that can be read.
    pub readable: Vec<Pointer>,
    /// What cannot be read, perhaps a newer page's: kept as it is, never dropped.
    pub unreadable: Vec<Value>,
}

impl Pointers {
    /// Reads the JSON array. What is no array is kept whole as one unreadable entry.
    pub fn parse(text: &str) -> Self {
        let mut pointers = Self::default();
        let entries = match serde_json::from_slice(text.as_bytes()) {
            Ok(Value::Array(entries)) => entries,
            Ok(other) => vec![other],
            Err(_) => vec![Value::String(text.to_owned())],
        };
        for entry in entries {
            match serde_json::from_value::<Pointer>(entry.clone()) {
                Ok(pointer) => pointers.readable.push(pointer),
                Err(_) => pointers.unreadable.push(entry),
            }
        }
        pointers
    }

    /// Writes the JSON array: the readable ones first.
    pub fn to_json(&self) -> String {
        let mut entries: Vec<Value> =
            self.readable.iter().filter_map(|pointer| serde_json::to_value(pointer).ok()).collect();
        entries.extend(self.unreadable.iter().cloned());
        Value::Array(entries).to_string()
    }

    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.readable.is_empty() && self.unreadable.is_empty()
    }
}
