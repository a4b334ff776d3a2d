//! The journal in memory: for simulations and tests, and to be read.
//!
//! What a backend must do is here without what makes it hard. [`Archive`] is plain maps and one
//! function a method, so that it can be read as the specification of [`Journal`]; the suite holds both
//! backends to the same. Not here: anything that a loss of power does, or a disk that fails.
//!
//! ```
//! use holdfast::journal::in_memory::Store;
//! use holdfast::journal::{Identity, Journal as _};
//!
//! let store = Store::new(&Identity::random())?;
//! let journal = store.open();
//! let next = store.open(); // another process has taken over: the first can write no more
//! assert_eq!(next.local_owner(), journal.local_owner());
//! # Ok::<_, holdfast_protocol::OwnerError>(())
//! ```
//!
//! *Architecture invariant:* a write is whole before anybody else can look, and told at once. So nothing
//! is ever in doubt here, and no ask unconfirmed.

mod archive;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use holdfast_protocol::{
    Conversation, ConversationList, ConversationSummary, Outcome, Owner, OwnerError,
};

use self::archive::Archive;
use super::{
    Accept, Begin, CancelledUnheard, Changes, ConversationKey, Deletion, Identity, Imported,
    Journal, JournalError, Key, Listing, Moment, NewAsk, Partial, PrincipalId, Purge, Record,
    Restore, Result, Start, Transcript, Turn,
};
use crate::clock::Uptime;

/// What outlives every process that opens it. Clones are the same.
#[derive(Clone, Debug)]
pub struct Store {
    owner: Owner,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug)]
struct Kept {
    archive: Archive,
    /// Of the handle that was opened last.
    epoch: u64,
}

/// The journal as one process has it open.
#[derive(Debug)]
pub struct InMemory {
    store: Store,
    epoch: u64,
    is_closed: AtomicBool,
}

impl Store {
    /// An empty one.
    ///
    /// # Errors
    /// When the parts of the identity make no owner.
    pub fn new(identity: &Identity) -> std::result::Result<Self, OwnerError> {
        let owner = format!("{}.{}", identity.principal, identity.archive).parse()?;
        let kept = Kept { archive: Archive::default(), epoch: 0 };
        Ok(Self { owner, kept: Arc::new(Mutex::new(kept)) })
    }

    /// Opens it with the next epoch. Whoever has it open can write no more, though nobody tells them.
    pub fn open(&self) -> InMemory {
        let mut kept = self.kept();
        kept.epoch += 1;
        let epoch = kept.epoch;
        InMemory { store: self.clone(), epoch, is_closed: AtomicBool::new(false) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing that holds it panics.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InMemory {
    /// What it has open: to open it again.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Ends the journal as a crash would. Nothing waits here, so nothing is lost by it.
    pub async fn abandon(&self) {
        self.close().await;
    }

    fn read<T>(&self, work: impl FnOnce(&Archive) -> T) -> Result<T> {
        self.check_open()?;
        Ok(work(&self.store.kept().archive))
    }

    fn write<T>(&self, work: impl FnOnce(&mut Archive) -> Result<T>) -> Result<T> {
        self.check_open()?;
        let mut kept = self.store.kept();
        if kept.epoch == self.epoch { work(&mut kept.archive) } else { Err(JournalError::Stale) }
    }

    fn check_open(&self) -> Result<()> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(JournalError::Unavailable("the journal is closed".to_owned()));
        }
        Ok(())
    }
}

#[async_trait]
impl Journal for InMemory {
    fn local_principal(&self) -> PrincipalId {
        archive::LOCAL
    }

    fn local_owner(&self) -> Owner {
        self.store.owner.clone()
    }

    async fn find(&self, key: Key) -> Result<Option<Record>> {
        self.read(|archive| archive.find(key))
    }

    async fn accept(&self, ask: NewAsk) -> Result<Accept> {
        self.write(|archive| archive.accept(ask))
    }

    async fn begin(&self, key: Key, start: Start) -> Result<Begin> {
        self.write(|archive| archive.begin(key, start))
    }

    async fn append(&self, key: Key, partial: Partial) -> Result<()> {
        self.write(|archive| {
            archive.append(key, partial);
            Ok(())
        })
    }

    async fn settle(&self, key: Key, outcome: Outcome) -> Result<Outcome> {
        self.write(|archive| archive.settle(key, outcome))
    }

    async fn cancel_unheard(&self, cancelled: CancelledUnheard) -> Result<Record> {
        self.write(|archive| archive.cancel_unheard(cancelled))
    }

    async fn requeue(&self, key: Key) -> Result<()> {
        self.write(|archive| {
            archive.requeue(key);
            Ok(())
        })
    }

    async fn unsettled(&self) -> Result<Vec<Record>> {
        self.read(Archive::unsettled)
    }

    async fn overdue(&self, now: Uptime) -> Result<Vec<Record>> {
        self.read(|archive| archive.overdue(now))
    }

    async fn history(
        &self,
        conversation: ConversationKey,
        seq: u64,
        bytes: usize,
    ) -> Result<Vec<Turn>> {
        self.read(|archive| archive.history(conversation, seq, bytes))
    }

    async fn conversation(
        &self,
        conversation: ConversationKey,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Option<Conversation>> {
        self.read(|archive| archive.conversation(conversation, before, limit))
    }

    async fn conversations(
        &self,
        principal: PrincipalId,
        listing: Listing,
    ) -> Result<ConversationList> {
        self.read(|archive| archive.list(principal, &listing))
    }

    async fn change(
        &self,
        conversation: ConversationKey,
        changes: Changes,
    ) -> Result<Option<ConversationSummary>> {
        self.write(|archive| Ok(archive.change(conversation, changes)))
    }

    async fn system_prompt(&self, conversation: ConversationKey) -> Result<Option<String>> {
        self.read(|archive| archive.system_prompt(conversation))
    }

    async fn transcript(
        &self,
        conversation: ConversationKey,
        after: u64,
        limit: u32,
    ) -> Result<Option<Transcript>> {
        self.read(|archive| archive.transcript(conversation, after, limit))
    }

    async fn import(
        &self,
        principal: PrincipalId,
        transcripts: Vec<Transcript>,
    ) -> Result<Imported> {
        self.write(|archive| archive.import(principal, transcripts))
    }

    async fn delete(&self, conversation: ConversationKey, at: Moment) -> Result<bool> {
        self.write(|archive| Ok(archive.delete(conversation, at)))
    }

    async fn restore(&self, conversation: ConversationKey) -> Result<Restore> {
        self.write(|archive| Ok(archive.restore(conversation)))
    }

    async fn deletions(&self) -> Result<Vec<Deletion>> {
        self.read(Archive::deletions)
    }

    async fn purge(&self, conversation: ConversationKey) -> Result<Purge> {
        self.write(|archive| Ok(archive.purge(conversation)))
    }

    async fn scrub(&self) -> Result<bool> {
        // What is dropped from a map is not to be found in any file.
        self.check_open().map(|()| true)
    }

    async fn unindexed(&self) {
        // There is no index: everything is looked through.
        std::future::pending::<()>().await;
    }

    async fn index(&self) -> Result<bool> {
        self.check_open().map(|()| false)
    }

    async fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }
}
