//! A server whose every step can be its last: a journal and a model that count the awaits of their
//! callers, and stop for ever at one of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use holdfast::clock::Uptime;
use holdfast::journal::{
    Accept, Begin, CancelledUnheard, Changes, ConversationKey, Deletion, Imported, Journal, Key,
    Listing, Moment, NewAsk, Partial, PrincipalId, Purge, Record, Restore, Result, Start,
    Transcript, Turn,
};
use holdfast::provider::{Call, Generated, Piece, Provider, ProviderError, Usage};
use holdfast_protocol::{
    Conversation, ConversationList, ConversationSummary, Finish, Model as Listed, Outcome, Owner,
    RequestId, Route,
};
use tokio::sync::Notify;

use crate::model::listed;

/// The awaits so far, and the one that is the last.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    taken: AtomicU64,
    last: u64,
    reached: Notify,
}

impl Steps {
    /// The n-th await never ends; with 0 all do.
    pub(crate) fn until(last: u64) -> Arc<Self> {
        Arc::new(Self { last, ..Self::default() })
    }

    async fn step(&self) {
        if self.taken.fetch_add(1, Ordering::Relaxed) + 1 == self.last {
            self.reached.notify_one();
            std::future::pending::<()>().await;
        }
    }

    /// Resolves when the last step is reached.
    pub(crate) async fn reached(&self) {
        self.reached.notified().await;
    }
}

/// A journal that is entered and left in steps.
pub(crate) struct Stepping<J> {
    pub(crate) inner: Arc<J>,
    pub(crate) steps: Arc<Steps>,
}

impl<J> Stepping<J> {
    async fn around<T>(&self, call: impl Future<Output = T>) -> T {
        self.steps.step().await;
        let reply = call.await;
        self.steps.step().await;
        reply
    }
}

#[async_trait]
impl<J: Journal> Journal for Stepping<J> {
    fn local_principal(&self) -> PrincipalId {
        self.inner.local_principal()
    }

    fn local_owner(&self) -> Owner {
        self.inner.local_owner()
    }

    async fn find(&self, key: Key) -> Result<Option<Record>> {
        self.around(self.inner.find(key)).await
    }

    async fn accept(&self, ask: NewAsk) -> Result<Accept> {
        self.around(self.inner.accept(ask)).await
    }

    async fn begin(&self, key: Key, start: Start) -> Result<Begin> {
        self.around(self.inner.begin(key, start)).await
    }

    async fn append(&self, key: Key, partial: Partial) -> Result<()> {
        self.around(self.inner.append(key, partial)).await
    }

    async fn settle(&self, key: Key, outcome: Outcome) -> Result<Outcome> {
        self.around(self.inner.settle(key, outcome)).await
    }

    async fn cancel_unheard(&self, cancelled: CancelledUnheard) -> Result<Record> {
        self.around(self.inner.cancel_unheard(cancelled)).await
    }

    async fn requeue(&self, key: Key) -> Result<()> {
        self.around(self.inner.requeue(key)).await
    }

    async fn unsettled(&self) -> Result<Vec<Record>> {
        self.around(self.inner.unsettled()).await
    }

    async fn overdue(&self, now: Uptime) -> Result<Vec<Record>> {
        self.around(self.inner.overdue(now)).await
    }

    async fn history(&self, key: ConversationKey, seq: u64, bytes: usize) -> Result<Vec<Turn>> {
        self.around(self.inner.history(key, seq, bytes)).await
    }

    async fn conversation(
        &self,
        key: ConversationKey,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Option<Conversation>> {
        self.around(self.inner.conversation(key, before, limit)).await
    }

    async fn conversations(
        &self,
        principal: PrincipalId,
        listing: Listing,
    ) -> Result<ConversationList> {
        self.around(self.inner.conversations(principal, listing)).await
    }

    async fn change(
        &self,
        key: ConversationKey,
        changes: Changes,
    ) -> Result<Option<ConversationSummary>> {
        self.around(self.inner.change(key, changes)).await
    }

    async fn system_prompt(&self, key: ConversationKey) -> Result<Option<String>> {
        self.around(self.inner.system_prompt(key)).await
    }

    async fn transcript(
        &self,
        key: ConversationKey,
        after: u64,
        limit: u32,
    ) -> Result<Option<Transcript>> {
        self.around(self.inner.transcript(key, after, limit)).await
    }

    async fn import(
        &self,
        principal: PrincipalId,
        transcripts: Vec<Transcript>,
    ) -> Result<Imported> {
        self.around(self.inner.import(principal, transcripts)).await
    }

    async fn delete(&self, key: ConversationKey, at: Moment) -> Result<bool> {
        self.around(self.inner.delete(key, at)).await
    }

    async fn restore(&self, key: ConversationKey) -> Result<Restore> {
        self.around(self.inner.restore(key)).await
    }

    async fn deletions(&self) -> Result<Vec<Deletion>> {
        self.around(self.inner.deletions()).await
    }

    async fn purge(&self, key: ConversationKey) -> Result<Purge> {
        self.around(self.inner.purge(key)).await
    }

    async fn scrub(&self) -> Result<bool> {
        self.around(self.inner.scrub()).await
    }

    async fn unindexed(&self) {
        self.inner.unindexed().await;
    }

    async fn index(&self) -> Result<bool> {
        self.around(self.inner.index()).await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

/// A model that bills, and answers in steps.
pub(crate) struct SteppingModel {
    pub(crate) calls: Arc<Mutex<BTreeMap<String, u64>>>,
    pub(crate) steps: Arc<Steps>,
}

/// What it says, piece by piece.
pub(crate) const PIECES: [&str; 3] = ["An answer ", "in three ", "pieces."];

impl SteppingModel {
    /// How often an ask was paid for.
    pub(crate) fn calls(calls: &Mutex<BTreeMap<String, u64>>, request_id: RequestId) -> u64 {
        calls.lock().unwrap().get(&request_id.to_string()).copied().unwrap_or(0)
    }
}

#[async_trait]
impl Provider for SteppingModel {
    fn name(&self) -> &'static str {
        "stepping"
    }

    fn models(&self) -> Vec<Listed> {
        listed(self.name())
    }

    fn is_in_process(&self) -> bool {
        false
    }

    fn route(&self) -> Route {
        Route::Provider
    }

    async fn generate(
        &self,
        call: &Call,
        pieces: &mut (dyn FnMut(Piece) + Send),
    ) -> std::result::Result<Generated, ProviderError> {
        self.steps.step().await;
        *self.calls.lock().unwrap().entry(call.idempotency_key.clone()).or_default() += 1;
        for piece in PIECES {
            self.steps.step().await;
            pieces(Piece::Text(piece.to_owned()));
            // Long enough for what came to be journalled.
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        }
        self.steps.step().await;
        Ok(Generated { model: None, finish: Some(Finish::Stop), usage: Usage::default() })
    }
}
