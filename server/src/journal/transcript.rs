//! A conversation as it is taken along: out of an archive, or into one.

use holdfast_protocol::{ConversationId, Outcome, RequestId, Timestamp};

use super::{Fingerprint, Terms};

/// A conversation with settled turns, or a stretch of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    /// Its id.
    pub id: ConversationId,
    /// Its title.
    pub title: String,
    /// What is put first in what a provider is shown.
    pub system_prompt: Option<String>,
    /// When its first ask arrived.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// Its turns, in their order.
    pub turns: Vec<TranscriptTurn>,
}

/// A turn with what tells a repetition of its ask from another one.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptTurn {
    /// What became of it.
    pub outcome: Outcome,
    /// What it asked for.
    pub terms: Terms,
    /// What a second submission must equal.
    pub fingerprint: Fingerprint,
}

impl TranscriptTurn {
    /// Whether the archive's own outcome says the same. Its place there, and what repeats it there, may
    /// be others.
    pub fn says_the_same_as(&self, kept: &Outcome) -> bool {
        let bare = |outcome: &Outcome| {
            let mut outcome = Outcome { seq: None, retried_by: None, ..outcome.clone() };
            if let Some(answer) = &mut outcome.answer {
                (answer.offset, answer.bytes) = (0, answer.text.len() as u64);
            }
            outcome
        };
        bare(&self.outcome) == bare(kept)
    }
}

/// What became of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Turns that are new.
    pub created: u64,
    /// Turns that were there already, and say the same.
    pub unchanged: u64,
    /// Ids that are used by something else, which was left alone.
    pub conflicts: Vec<RequestId>,
}

impl Imported {
    /// Adds what became of another part of the same import.
    pub fn add(&mut self, other: Self) {
        self.created += other.created;
        self.unchanged += other.unchanged;
        self.conflicts.extend(other.conflicts);
    }
}
