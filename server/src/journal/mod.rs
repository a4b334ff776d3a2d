//! The journal: the durable record of every ask, and the single source of truth.
//!
//! Here belong the [`Journal`] trait, the values that cross it, and one backend a folder. Not here:
//! when an ask may run, what an interrupted one is called, which context it sees; those are decided
//! above, and the journal only makes the decision durable.
//!
//! *Architecture invariant:* only a backend knows SQL, and nothing of a backend leaks through the
//! trait. A method that writes returns `Ok` only after what it wrote survives power loss.
//!
//! *Architecture invariant:* a failed write proves nothing. Its caller must neither say “accepted” nor
//! “settled”, nor conclude that nothing was kept; every write may be repeated until it succeeds.
//!
//! *Architecture invariant:* every method takes the principal, and no row of another principal is
//! read or changed by it.
//!
//! *Architecture invariant:* a store across a network can keep every promise here. An ask's run is a
//! claim with an epoch; whoever opens the store later has the higher one, and from then on every write
//! of an earlier holder is [`JournalError::Stale`]. Nobody is notified of anything: whoever waits for
//! what another process does asks again.

#[cfg(test)]
mod agreement;
mod deletion;
mod error;
mod fingerprint;
mod identity;
pub mod in_memory;
mod listing;
mod record;
pub mod sqlite;
#[cfg(test)]
mod suite;
mod title;
mod transcript;

use async_trait::async_trait;
use holdfast_protocol::{
    Conversation, ConversationId, ConversationList, ConversationSummary, Outcome, Owner, RequestId,
};

pub use deletion::{Deletion, Moment, Purge, Restore, UNDO};
pub use error::JournalError;
pub use fingerprint::Fingerprint;
pub use identity::Identity;
pub use listing::{Changes, Cursor, CursorError, Listing};
pub use record::{
    Accept, Begin, CancelledUnheard, ConversationKey, Deadlines, Key, Mark, NewAsk, Partial,
    PrincipalId, Record, Start, Terms, Turn,
};
pub use title::title_of;
pub use transcript::{Imported, Transcript, TranscriptTurn};

use crate::clock::Uptime;

/// What a call to the journal comes back with.
pub type Result<T> = std::result::Result<T, JournalError>;

/// The store of every ask.
#[async_trait]
pub trait Journal: Send + Sync + 'static {
    /// The principal that owns the archive and needs no sign-in on loopback.
    fn local_principal(&self) -> PrincipalId;

    /// That principal in this archive, as pages know it.
    fn local_owner(&self) -> Owner;

    /// The ask of this id, if the principal ever had one.
    async fn find(&self, key: Key) -> Result<Option<Record>>;

    /// Makes a new ask durable, marked as calling at once where [`NewAsk::start`] is given and no
    /// earlier ask of the conversation is unsettled. A known id is left as it is, save that an ask
    /// cancelled before it arrived gets its question.
    async fn accept(&self, ask: NewAsk) -> Result<Accept>;

    /// Marks an accepted ask as calling, unless an earlier one of its conversation is unsettled. To
    /// repeat it is no second start.
    async fn begin(&self, key: Key, start: Start) -> Result<Begin>;

    /// Adds to the partial text of an ask that is being called, and moves its deadline for the next
    /// sign of life on. To repeat it with the same offsets replaces what the first attempt may have
    /// left.
    async fn append(&self, key: Key, partial: Partial) -> Result<()>;

    /// Settles an ask, in one transaction with its receipt. Returns the outcome as stored: the one
    /// given, or the one it had settled with before.
    async fn settle(&self, key: Key, outcome: Outcome) -> Result<Outcome>;

    /// Records an id as cancelled that was never heard of. A known id is left as it is.
    async fn cancel_unheard(&self, cancelled: CancelledUnheard) -> Result<Record>;

    /// Puts an ask back from calling to accepted and forgets its partial text, because its run is
    /// safe to repeat. How often it was started is remembered.
    async fn requeue(&self, key: Key) -> Result<()>;

    /// Every unsettled ask of every principal, in the order of arrival: what a crash may have left.
    async fn unsettled(&self) -> Result<Vec<Record>>;

    /// Every ask of every principal that is being called though one of its deadlines has passed.
    async fn overdue(&self, now: Uptime) -> Result<Vec<Record>>;

    /// Settled turns of a conversation with text and without a successor, newest first, beginning
    /// before `seq`; as many as are needed to reach `bytes` of questions and answers.
    async fn history(
        &self,
        conversation: ConversationKey,
        seq: u64,
        bytes: usize,
    ) -> Result<Vec<Turn>>;

    /// A page of a conversation: at most `limit` of its turns, those with a `seq` below `before`, or
    /// the newest.
    async fn conversation(
        &self,
        conversation: ConversationKey,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Option<Conversation>>;

    /// A page of the principal's conversations, by when an ask last arrived or settled in them, the
    /// newest first.
    async fn conversations(
        &self,
        principal: PrincipalId,
        listing: Listing,
    ) -> Result<ConversationList>;

    /// Changes what a person may change about a conversation, and returns what the list says of it;
    /// nothing where there is no such conversation. To change it is no activity: it keeps its place.
    async fn change(
        &self,
        conversation: ConversationKey,
        changes: Changes,
    ) -> Result<Option<ConversationSummary>>;

    /// What was given to be put first in what a provider is shown, if anything was.
    async fn system_prompt(&self, conversation: ConversationKey) -> Result<Option<String>>;

    /// A stretch of a conversation, from the oldest turn on: at most `limit` turns whose `seq` is above
    /// `after`. Those under way are told of as journalled last.
    async fn transcript(
        &self,
        conversation: ConversationKey,
        after: u64,
        limit: u32,
    ) -> Result<Option<Transcript>>;

    /// Adds those settled turns that are not there yet, all of them or none; what is there is left as it
    /// is. A turn may repeat one that is there or comes before it. A conversation may come in parts, one
    /// call after another.
    async fn import(
        &self,
        principal: PrincipalId,
        transcripts: Vec<Transcript>,
    ) -> Result<Imported>;

    /// Hides a conversation: from now on it is in no list, no page and no history, and no ask is
    /// accepted into it. Whether there is such a one. To repeat it changes nothing.
    async fn delete(&self, conversation: ConversationKey, at: Moment) -> Result<bool>;

    /// Shows a deleted conversation again, if what it held is there still.
    async fn restore(&self, conversation: ConversationKey) -> Result<Restore>;

    /// Every conversation of every principal that is deleted, the earliest first.
    async fn deletions(&self) -> Result<Vec<Deletion>>;

    /// Takes away what a deleted conversation held, save that its ids were used.
    async fn purge(&self, conversation: ConversationKey) -> Result<Purge>;

    /// Takes away what is left of what was purged where the store lies: copies that no read ever
    /// finds. Whether nothing is left; else it has to be tried again.
    async fn scrub(&self) -> Result<bool>;

    /// Waits until something may have settled that is not in the index of the search, if the store has
    /// one: a hint, for it may come for nothing, or be lost with whoever settled it.
    async fn unindexed(&self);

    /// Puts into the index some of what has settled and is not there. Whether there may be more. What is
    /// found does not depend on it, save in an archive that is older than the index; how soon does.
    async fn index(&self) -> Result<bool>;

    /// Ends the journal: what was handed in is committed, everything later fails.
    async fn close(&self);
}

impl Key {
    /// The ask of this id in the principal's namespace.
    pub const fn new(principal: PrincipalId, request_id: RequestId) -> Self {
        Self { principal, request_id }
    }
}

impl ConversationKey {
    /// The conversation of this id in the principal's namespace.
    pub const fn new(principal: PrincipalId, id: ConversationId) -> Self {
        Self { principal, id }
    }
}
