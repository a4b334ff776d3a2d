//! The values that cross the [`Journal`](super::Journal) trait.

use holdfast_protocol::{ConversationId, Outcome, RequestId, Status, Timestamp};

use super::{Fingerprint, TranscriptTurn};
use crate::clock::Uptime;

/// A principal, by the store's own number. Never leaves the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrincipalId(pub i64);

/// An ask in its principal's namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Whose.
    pub principal: PrincipalId,
    /// Which.
    pub request_id: RequestId,
}

/// A conversation in its principal's namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConversationKey {
    /// Whose.
    pub principal: PrincipalId,
    /// Which.
    pub id: ConversationId,
}

/// What an ask asks for beside its question, with defaults filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Remembered answers must be fresh.
    pub current: bool,
    /// The answer may be captured.
    pub remember: bool,
    /// The language to answer in, a BCP 47 tag.
    pub language: Option<String>,
    /// The model to ask.
    pub model: Option<String>,
}

/// A run that is about to call a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The provider's name.
    pub provider: String,
    /// Whether the call can be billed: then a run that a crash cut off is never repeated.
    pub billable: bool,
    /// When the run is given up.
    pub deadlines: Deadlines,
}

/// When a run is given up, by the clock that counts through sleep. It means something only while the
/// process that runs it lives: what a crash left has no run to give up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadlines {
    /// Unless a sign of life moves this one on.
    pub silent: Uptime,
    /// Whatever comes.
    pub run: Uptime,
}

/// An ask that arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAsk {
    /// Its identity.
    pub key: Key,
    /// Its conversation, which comes into being with its first ask.
    pub conversation_id: ConversationId,
    /// The question, trimmed.
    pub question: String,
    /// What else it asks for.
    pub terms: Terms,
    /// The settled ask it repeats.
    pub retry_of: Option<RequestId>,
    /// What its conversation is to have put first in what a provider is shown, if it is the first ask
    /// there; empty for nothing.
    pub system_prompt: String,
    /// What a second submission must equal.
    pub fingerprint: Fingerprint,
    /// When it arrived.
    pub asked_at: Timestamp,
    /// Its run, if that can start at once.
    pub start: Option<Start>,
}

/// An id that is cancelled before anything was heard of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CancelledUnheard {
    /// The ask itself, where the cancel brought it along.
    pub ask: Option<NewAsk>,
    /// The outcome to keep: ids, `cancelled`, times, receipt.
    pub outcome: Outcome,
    /// Whose it is.
    pub principal: PrincipalId,
}

/// How far an unsettled ask is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Durable; its run has not begun.
    Accepted,
    /// As accepted, but a crash came before whoever handed it in can have been told so, or its commit
    /// was said to have failed. It attaches, and is not run unasked.
    Unconfirmed,
    /// Its run has begun: a provider may have been called.
    Calling {
        /// Whether that can be billed.
        billable: bool,
    },
    /// It has an end.
    Settled,
}

/// An ask as the journal has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Whose it is.
    pub principal: PrincipalId,
    /// What became of it so far.
    pub outcome: Outcome,
    /// How far it is.
    pub mark: Mark,
    /// What a second submission must equal; unknown while only its cancel was heard of.
    pub fingerprint: Option<Fingerprint>,
    /// What it asks for.
    pub terms: Terms,
    /// How often it was submitted until it settled.
    pub submissions: u32,
    /// How often its run was started.
    pub starts: u32,
    /// The provider it was last started with.
    pub provider: Option<String>,
    /// When its run is given up, while it is being called.
    pub deadlines: Option<Deadlines>,
}

impl Record {
    /// Its identity.
    pub const fn key(&self) -> Key {
        Key { principal: self.principal, request_id: self.outcome.request_id }
    }

    /// Its conversation.
    pub const fn conversation(&self) -> ConversationKey {
        ConversationKey { principal: self.principal, id: self.outcome.conversation_id }
    }

    /// What is taken along of it, if it has arrived.
    pub fn into_turn(self) -> Option<TranscriptTurn> {
        let fingerprint = self.fingerprint?;
        Some(TranscriptTurn { outcome: self.outcome, terms: self.terms, fingerprint })
    }

    /// Whether it was cancelled before it arrived and has not arrived since.
    pub const fn lacks_question(&self) -> bool {
        self.fingerprint.is_none()
    }
}

/// What became of an ask that was handed in.
#[derive(Clone, Debug, PartialEq)]
pub enum Accept {
    /// It is durable now, accepted or already marked as calling.
    New(Record),
    /// The id was known before.
    Known(Record),
    /// `retry_of` names no own, settled ask of the same conversation.
    InvalidRetryOf,
    /// Its conversation was deleted.
    Deleted,
    /// `retry_of` names an ask that this one repeats already.
    AlreadyRetried(RequestId),
}

/// What became of the attempt to start a run.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "made once an ask, and moved once")]
pub enum Begin {
    /// It is marked as calling.
    Begun,
    /// An earlier ask of the conversation is unsettled.
    NotYet,
    /// It has settled meanwhile.
    Settled(Outcome),
}

/// Text that arrived since the last time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partial {
    /// Where `text` begins in the answer, in bytes.
    pub text_offset: u64,
    /// Of the answer.
    pub text: String,
    /// Where `reasoning` begins, in bytes.
    pub reasoning_offset: u64,
    /// Of what the model thinks aloud.
    pub reasoning: String,
    /// How often the ask was submitted by now.
    pub submissions: u32,
    /// The deadline for the next sign of life, where there has been one.
    pub silent: Option<Uptime>,
}

/// A settled turn, as a later ask of the conversation sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Which.
    pub request_id: RequestId,
    /// How it ended.
    pub status: Status,
    /// What was asked.
    pub question: String,
    /// What was answered, in part unless it completed.
    pub answer: String,
}
