//! The body of an ask, as a client sends it again and again.

use fastrand::Rng;
use serde_json::{Value, json};
use uuid::Uuid;

/// An ask with its identity.
#[derive(Clone, Debug)]
pub(crate) struct Ask(Value);

/// An id by chance.
pub(crate) fn id(chance: &mut Rng) -> String {
    Uuid::from_u128(chance.u128(..)).to_string()
}

impl Ask {
    /// A question in a conversation.
    pub(crate) fn new(chance: &mut Rng, conversation: &str, question: &str) -> Self {
        let body = json!({
            "request_id": id(chance),
            "conversation_id": conversation,
            "question": question,
        });
        Self(body)
    }

    /// The same question on purpose, under another id.
    pub(crate) fn retry(&self, chance: &mut Rng) -> Self {
        let mut body = self.0.clone();
        body["retry_of"] = self.id().into();
        body["request_id"] = id(chance).into();
        Self(body)
    }

    pub(crate) fn body(&self) -> &Value {
        &self.0
    }

    pub(crate) fn id(&self) -> &str {
        self.0["request_id"].as_str().unwrap()
    }

    pub(crate) fn conversation(&self) -> &str {
        self.0["conversation_id"].as_str().unwrap()
    }

    pub(crate) fn question(&self) -> &str {
        self.0["question"].as_str().unwrap()
    }
}
