//! A journal that fails when the test says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use holdfast::clock::Uptime;
use holdfast::journal::{
    Accept, Begin, CancelledUnheard, Changes, ConversationKey, Deletion, Imported, Journal,
    JournalError, Key, Listing, Moment, NewAsk, Partial, PrincipalId, Purge, Record, Restore,
    Result, Start, Transcript, Turn,
};
use holdfast_protocol::{Conversation, ConversationList, ConversationSummary, Outcome, Owner};

/// A real journal behind switches.
pub(crate) struct Faulty {
    pub(crate) inner: Arc<dyn Journal>,
    /// No write succeeds.
    pub(crate) no_writes: AtomicBool,
    /// No read succeeds.
    pub(crate) no_reads: AtomicBool,
    /// The next settlement is written, and said to have failed.
    pub(crate) lies_about_settling: AtomicBool,
    /// Nothing comes back at all.
    pub(crate) hangs: AtomicBool,
    /// Every read takes so long, in milliseconds.
    pub(crate) slow_reads: AtomicU64,
    /// How long it takes until somebody hears what was read of a conversation, in milliseconds.
    pub(crate) late_conversations: AtomicU64,
    /// How long it takes until somebody hears that a deletion is written, in milliseconds.
    pub(crate) late_deletes: AtomicU64,
    /// How long it takes to write a part of an import, in milliseconds.
    pub(crate) slow_imports: AtomicU64,
    /// How many parts were written.
    pub(crate) imports: AtomicU64,
    /// A fault in the journal's own code.
    pub(crate) panics: AtomicBool,
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn Journal>) -> Self {
        Self {
            inner,
            no_writes: AtomicBool::new(false),
            no_reads: AtomicBool::new(false),
            lies_about_settling: AtomicBool::new(false),
            hangs: AtomicBool::new(false),
            slow_reads: AtomicU64::new(0),
            late_conversations: AtomicU64::new(0),
            late_deletes: AtomicU64::new(0),
            slow_imports: AtomicU64::new(0),
            imports: AtomicU64::new(0),
            panics: AtomicBool::new(false),
        }
    }

    async fn reading(&self) -> Result<()> {
        assert!(!self.panics.load(Ordering::Relaxed), "as the test wants it");
        if self.hangs.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        slowly(&self.slow_reads).await;
        if self.no_reads.load(Ordering::Relaxed) { Err(broken()) } else { Ok(()) }
    }

    async fn writing(&self) -> Result<()> {
        if self.hangs.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        if self.no_writes.load(Ordering::Relaxed) { Err(broken()) } else { Ok(()) }
    }
}

async fn slowly(millis: &AtomicU64) {
    tokio::time::sleep(Duration::from_millis(millis.load(Ordering::Relaxed))).await;
}

fn broken() -> JournalError {
    JournalError::Unavailable("/secret/path: disk I/O error".to_owned())
}

#[async_trait]
impl Journal for Faulty {
    fn local_principal(&self) -> PrincipalId {
        self.inner.local_principal()
    }

    fn local_owner(&self) -> Owner {
        self.inner.local_owner()
    }

    async fn find(&self, key: Key) -> Result<Option<Record>> {
        self.reading().await?;
        self.inner.find(key).await
    }

    async fn accept(&self, ask: NewAsk) -> Result<Accept> {
        self.writing().await?;
        self.inner.accept(ask).await
    }

    async fn begin(&self, key: Key, start: Start) -> Result<Begin> {
        self.writing().await?;
        self.inner.begin(key, start).await
    }

    async fn append(&self, key: Key, partial: Partial) -> Result<()> {
        self.writing().await?;
        self.inner.append(key, partial).await
    }

    async fn settle(&self, key: Key, outcome: Outcome) -> Result<Outcome> {
        self.writing().await?;
        let settled = self.inner.settle(key, outcome).await?;
        if self.lies_about_settling.swap(false, Ordering::Relaxed) {
            Err(broken())
        } else {
            Ok(settled)
        }
    }

    async fn cancel_unheard(&self, cancelled: CancelledUnheard) -> Result<Record> {
        self.writing().await?;
        self.inner.cancel_unheard(cancelled).await
    }

    async fn requeue(&self, key: Key) -> Result<()> {
        self.writing().await?;
        self.inner.requeue(key).await
    }

    async fn unsettled(&self) -> Result<Vec<Record>> {
        self.reading().await?;
        self.inner.unsettled().await
    }

    async fn overdue(&self, now: Uptime) -> Result<Vec<Record>> {
        self.reading().await?;
        self.inner.overdue(now).await
    }

    async fn history(&self, key: ConversationKey, seq: u64, bytes: usize) -> Result<Vec<Turn>> {
        self.reading().await?;
        self.inner.history(key, seq, bytes).await
    }

    async fn conversation(
        &self,
        key: ConversationKey,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Option<Conversation>> {
        self.reading().await?;
        let conversation = self.inner.conversation(key, before, limit).await;
        slowly(&self.late_conversations).await;
        conversation
    }

    async fn conversations(
        &self,
        principal: PrincipalId,
        listing: Listing,
    ) -> Result<ConversationList> {
        self.reading().await?;
        self.inner.conversations(principal, listing).await
    }

    async fn change(
        &self,
        key: ConversationKey,
        changes: Changes,
    ) -> Result<Option<ConversationSummary>> {
        self.writing().await?;
        self.inner.change(key, changes).await
    }

    async fn system_prompt(&self, key: ConversationKey) -> Result<Option<String>> {
        self.reading().await?;
        self.inner.system_prompt(key).await
    }

    async fn transcript(
        &self,
        key: ConversationKey,
        after: u64,
        limit: u32,
    ) -> Result<Option<Transcript>> {
        self.reading().await?;
        self.inner.transcript(key, after, limit).await
    }

    async fn import(
        &self,
        principal: PrincipalId,
        transcripts: Vec<Transcript>,
    ) -> Result<Imported> {
        self.writing().await?;
        slowly(&self.slow_imports).await;
        self.imports.fetch_add(1, Ordering::Relaxed);
        self.inner.import(principal, transcripts).await
    }

    async fn delete(&self, key: ConversationKey, at: Moment) -> Result<bool> {
        self.writing().await?;
        let deleted = self.inner.delete(key, at).await;
        slowly(&self.late_deletes).await;
        deleted
    }

    async fn restore(&self, key: ConversationKey) -> Result<Restore> {
        self.writing().await?;
        self.inner.restore(key).await
    }

    async fn deletions(&self) -> Result<Vec<Deletion>> {
        self.reading().await?;
        self.inner.deletions().await
    }

    async fn purge(&self, key: ConversationKey) -> Result<Purge> {
        self.writing().await?;
        self.inner.purge(key).await
    }

    async fn scrub(&self) -> Result<bool> {
        self.writing().await?;
        self.inner.scrub().await
    }

    async fn unindexed(&self) {
        self.inner.unindexed().await;
    }

    async fn index(&self) -> Result<bool> {
        self.writing().await?;
        self.inner.index().await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
