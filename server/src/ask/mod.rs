//! How an ask is answered: recall → context → generate → capture.
//!
//! Plain functions over the traits of the journal, the providers and the memory: they know no HTTP
//! and no SQL, and they decide nothing about when an ask runs or what becomes of it; that is the work
//! of `runs`. An installation without memory recalls nothing and captures nothing: every ask goes to
//! the provider, with the conversation's earlier turns.

mod capture;
mod context;
mod generate;

use holdfast_protocol::RequestId;

pub use capture::capture;
pub use context::{Context, context};
pub use generate::generate;

use crate::journal::{ConversationKey, Record, Terms};
use crate::provider::Call;

/// An ask, as far as answering it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its identity.
    pub request_id: RequestId,
    /// Its conversation.
    pub conversation: ConversationKey,
    /// Its place there: it sees what settled before it.
    pub seq: u64,
    /// The question.
    pub question: String,
    /// What else it asks for.
    pub terms: Terms,
}

impl Asked {
    /// What a record asks. An ask that never arrived asks nothing.
    pub fn of(record: &Record) -> Option<Self> {
        Some(Self {
            request_id: record.outcome.request_id,
            conversation: record.conversation(),
            seq: record.outcome.seq?,
            question: record.outcome.question.clone()?,
            terms: record.terms.clone(),
        })
    }

    /// The call that asks a provider, given what it is to see beside the question.
    pub fn call(&self, context: &Context) -> Call {
        Call {
            // The local owner's asks are counted by their own id.
            idempotency_key: self.request_id.to_string(),
            model: self.terms.model.clone(),
            messages: context.messages.clone(),
            language: self.terms.language.clone(),
        }
    }
}
