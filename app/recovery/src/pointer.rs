//! The pointer: what the browser keeps about an ask it has not seen settle.

use holdfast_protocol::{AskBody, ConversationId, ObjectWriter, Owner, RequestId, Timestamp};
use serde_json::Value;

/// Enough to look an ask up, and to submit it again unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub owner: Option<Owner>,
    /// The exact body sent.
    pub ask: AskBody,
    /// Stop was pressed: recovery cancels and never resubmits.
    pub cancel: bool,
}

impl Pointer {
    /// Reads an entry of the list. By hand, as the wire's types are: for a smaller page.
    fn read(entry: &Value) -> Option<Self> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        let member = |name: &str| entry.get(name).filter(|value| !value.is_null());
        Some(Self {
            request_id: text("request_id")?.parse().ok()?,
            conversation_id: text("conversation_id")?.parse().ok()?,
            question: text("question")?.to_owned(),
            asked_at: text("asked_at")?.parse().ok()?,
            owner: match member("owner") {
                Some(owner) => Some(owner.as_str()?.parse().ok()?),
                None => None,
            },
            ask: serde_json::from_value(entry.get("ask")?.clone()).ok()?,
            cancel: member("cancel").map_or(Some(false), Value::as_bool)?,
        })
    }
}

impl Pointer {
    fn write(&self) -> Value {
        ObjectWriter::default()
            .with_text("request_id", &self.request_id)
            .with_text("conversation_id", &self.conversation_id)
            .with_text("question", &self.question)
            .with_text("asked_at", &self.asked_at)
            .with("owner", Some(self.owner.as_ref().map_or(Value::Null, |it| it.as_str().into())))
            .with("ask", Some(self.ask.to_json()))
            .with("cancel", self.cancel.then_some(Value::Bool(true)))
            .finish()
    }
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
            match Pointer::read(&entry) {
                Some(pointer) => pointers.readable.push(pointer),
                None => pointers.unreadable.push(entry),
            }
        }
        pointers
    }

    /// The owner of the latest of them, if all are one principal's.
    pub fn sole_owner(&self) -> Option<&Owner> {
        let latest = self.readable.last()?.owner.as_ref()?;
        let is_theirs = |pointer: &Pointer| {
            pointer.owner.as_ref().is_some_and(|owner| owner.principal() == latest.principal())
        };
        self.readable.iter().all(is_theirs).then_some(latest)
    }

    /// Writes the JSON array: the readable ones first.
    pub fn to_json(&self) -> String {
        let mut entries: Vec<Value> = self.readable.iter().map(Pointer::write).collect();
        entries.extend(self.unreadable.iter().cloned());
        Value::Array(entries).to_string()
    }

    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.readable.is_empty() && self.unreadable.is_empty()
    }
}
