//! Runs: each ask is executed once, by the server, whoever is or is not looking.
//!
//! Here belong the claim on an id, the queue of a conversation, the run itself, its fan-out to those
//! who look, its cancellation, its settlement, what a crash left, and the drain. Not here: HTTP, SQL,
//! and what an answer is made of (`ask`).
//!
//! *Architecture invariant:* a run belongs to the server. No future of a connection owns any part of
//! it, so dropping one at any point changes nothing.
//!
//! *Architecture invariant:* for one id there is at most one [`Live`], and whoever submits, looks up or
//! cancels meets it there. An id without one is in the journal, settled, or was never accepted.
//!
//! *Architecture invariant:* nothing is said to be accepted or settled that the journal has not said.
//!
//! *Architecture invariant:* whoever has waited, for an ask or for the journal, looks again whether the
//! conversation was deleted before anything of it is told.

mod admit;
mod classify;
mod conduct;
mod deadlines;
mod deleted;
mod drain;
mod end;
mod following;
mod line;
mod live;
mod registry;
mod settle;
mod settled;
mod slots;
mod submission;
mod text;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use holdfast_protocol::{Conversation, ConversationId, Outcome};
use thiserror::Error;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

pub use deadlines::Limits;
pub use following::{Follower, Following};
pub use submission::{Cancellation, Submission};

use self::deleted::Deleted;
use self::live::{Live, Stop};
use self::registry::{Claim, Registry};
use self::settled::Settled;
use self::slots::Slots;
use crate::clock::Clock;
use crate::journal::{ConversationKey, Journal, JournalError, Key};
use crate::provider::Provider;

/// How long to wait before the journal is asked again.
const AGAIN: Duration = Duration::from_millis(500);

/// How long somebody is ready to wait.
#[derive(Clone, Copy, Debug)]
pub struct Until {
    /// For the ask to settle; then its outcome is told as it stands.
    pub settled: Instant,
    /// For any word at all: a journal that has not replied by then counts as failing.
    pub told: Instant,
}

/// How runs behave.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many conversations run side by side.
    pub side_by_side: usize,
    /// How long a provider may take.
    pub limits: Limits,
    /// What is put first in what a provider is shown, unless a conversation has its own.
    pub system_prompt: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { side_by_side: 8, limits: Limits::default(), system_prompt: None }
    }
}

/// What a lookup finds.
#[derive(Clone, Debug)]
pub enum Found {
    /// An outcome as it stands.
    Outcome(Box<Outcome>),
    /// The JSON of an outcome that has settled.
    Settled(Bytes),
}

impl From<Outcome> for Found {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(Box::new(outcome))
    }
}

/// Where a lookup meets an ask.
enum Met {
    /// Under way.
    Live(Arc<Live>),
    /// As it stands.
    Outcome(Box<Outcome>),
}

impl From<Outcome> for Met {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(Box::new(outcome))
    }
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The id is known with another payload, or in another conversation.
    #[error("the id is known with another payload or in another conversation")]
    Mismatch,
    /// `retry_of` names no own, settled ask of the conversation.
    #[error("`retry_of` names no own, settled ask of the conversation")]
    InvalidRetryOf,
    /// `retry_of` names an ask that this one repeats already.
    #[error("already asked again by {0}")]
    AlreadyRetried(holdfast_protocol::RequestId),
    /// It is an ask into a conversation that was deleted.
    #[error("the conversation was deleted")]
    ConversationDeleted,
    /// The ask was deleted, with its conversation.
    #[error("the ask was deleted")]
    RequestDeleted,
    /// The ask names a model that there is not.
    #[error("there is no such model")]
    UnknownModel,
    /// No new asks: the server is going down.
    #[error("the server is going down")]
    ShuttingDown,
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// How far the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// What a crash left is not classified yet.
    Starting,
    /// Asks are taken.
    Serving,
    /// No new ones are; those that run may end.
    Draining,
    /// Nothing runs any more, and nobody needs to wait.
    Closed,
}

/// All runs of the process. Clones are the same.
#[derive(Clone)]
pub struct Runs(Arc<Inner>);

struct Inner {
    journal: Arc<dyn Journal>,
    provider: Arc<dyn Provider>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    registry: Registry,
    settled: Settled,
    deleted: Deleted,
    slots: Slots,
    phase: watch::Sender<Phase>,
    tasks: Mutex<JoinSet<()>>,
}

impl Runs {
    /// Nothing runs yet, and nothing is taken before [`Runs::start`] has classified the journal.
    pub fn new(
        journal: Arc<dyn Journal>,
        provider: Arc<dyn Provider>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Self {
        let phase = watch::Sender::new(Phase::Starting);
        Self(Arc::new(Inner {
            journal,
            provider,
            clock,
            slots: Slots::new(settings.side_by_side, phase.subscribe()),
            settings,
            registry: Registry::default(),
            settled: Settled::default(),
            deleted: Deleted::default(),
            phase,
            tasks: Mutex::default(),
        }))
    }

    /// Begins, in the background, to take up what the last stop left. The phase says when that is
    /// done.
    pub fn start(&self) {
        let runs = self.clone();
        self.spawn(async move { runs.take_up().await });
        let runs = self.clone();
        self.spawn(async move { runs.sweep().await });
    }

    /// How far the server is, now and from now on.
    pub fn phase(&self) -> watch::Receiver<Phase> {
        self.0.phase.subscribe()
    }

    /// Takes an ask, or attaches to it where its id is known, and waits for its end. The outcome is
    /// durable as far as it says.
    pub async fn submit(&self, submission: Submission, until: Until) -> Result<Outcome, Refusal> {
        let conversation = submission.conversation();
        let live = self.attach(submission, until).await?;
        let outcome = self.wait(&live, until).await.outcome();
        self.check_open(conversation)?;
        Ok(outcome)
    }

    /// Takes an ask, or attaches to it where its id is known. It is durable.
    async fn attach(&self, submission: Submission, until: Until) -> Result<Arc<Live>, Refusal> {
        let key = submission.key;
        let conversation = submission.conversation();
        loop {
            let (live, is_mine) = match self.0.registry.claim(key) {
                Claim::Mine(live) => {
                    self.spawn(self.clone().admit(Arc::clone(&live), submission.clone()));
                    (live, true)
                }
                Claim::Theirs(live) => (live, false),
            };
            match until.in_time(live.admitted()).await? {
                Ok(()) => {}
                Err(refusal) if is_mine => return Err(refusal),
                // It was another submission that was refused; this one may fare better.
                Err(_) => continue,
            }
            if !live.is_same_ask(submission.conversation_id, Some(submission.fingerprint)) {
                return Err(Refusal::Mismatch);
            }
            self.check_open(conversation)?;
            if !is_mine && live.lacks_question() {
                // It met its own cancel, which is about to let go of the id: it has to arrive.
                tokio::task::yield_now().await;
                continue;
            }
            if !is_mine {
                live.count_submission();
            }
            return Ok(live);
        }
    }

    /// What became of an ask, as [`Runs::look_up`] says it, ready to be sent where it is known to
    /// change no more.
    pub async fn look_up_whole(
        &self,
        key: Key,
        conversation_id: ConversationId,
        until: Until,
    ) -> Result<Found, Refusal> {
        self.check_kept(key, conversation_id)?;
        if let Some(json) = self.0.settled.get(key, conversation_id) {
            return Ok(Found::Settled(json));
        }
        let now = self.0.settled.now();
        let outcome = self.look_up(key, conversation_id, until).await?;
        let kept = self.0.settled.keep(key, &outcome, now);
        Ok(kept.map_or_else(|| outcome.into(), Found::Settled))
    }

    /// What became of an ask, waiting for its end. Never starts or changes anything.
    pub async fn look_up(
        &self,
        key: Key,
        conversation_id: ConversationId,
        until: Until,
    ) -> Result<Outcome, Refusal> {
        // On the heap, and gone before the wait: thousands may wait at once.
        let outcome = match Box::pin(self.meet(key, conversation_id, until)).await? {
            Met::Live(live) => self.wait(&live, until).await.outcome(),
            Met::Outcome(outcome) => *outcome,
        };
        self.check_kept(key, conversation_id)?;
        Ok(outcome)
    }

    /// The same with only the piece of the answer's text that follows `after`, at most
    /// [`PAGE_BYTES`](holdfast_protocol::limits::PAGE_BYTES) of it. An offset beyond its end, or inside
    /// a character, begins anew.
    pub async fn look_up_page(
        &self,
        key: Key,
        conversation_id: ConversationId,
        after: u64,
        until: Until,
    ) -> Result<Outcome, Refusal> {
        let page = match Box::pin(self.meet(key, conversation_id, until)).await? {
            Met::Live(live) => self.wait(&live, until).await.page(after),
            Met::Outcome(outcome) => text::page(&outcome, after),
        };
        self.check_kept(key, conversation_id)?;
        Ok(page)
    }

    /// Finds an ask where it is: under way, or in the journal.
    async fn meet(
        &self,
        key: Key,
        conversation_id: ConversationId,
        until: Until,
    ) -> Result<Met, Refusal> {
        self.check_kept(key, conversation_id)?;
        let unknown = Outcome::unknown(key.request_id, conversation_id);
        loop {
            let live = self.0.registry.get(key).filter(|live| live.is_admitted());
            let live = match live {
                Some(live) => live,
                None => match until.in_time(self.0.journal.find(key)).await?? {
                    None => return Ok(unknown.into()),
                    Some(record) if record.outcome.conversation_id != conversation_id => {
                        return Ok(unknown.into());
                    }
                    Some(record) if record.outcome.status.is_settled() => {
                        return Ok(record.outcome.into());
                    }
                    Some(record) => match self.0.registry.get(key) {
                        // It was accepted while the journal was being read: whoever has it is about
                        // to know.
                        Some(live) => match until.in_time(live.admitted()).await? {
                            Ok(()) => live,
                            Err(_) => return Ok(unknown.into()),
                        },
                        None if Instant::now() >= until.settled => {
                            return Ok(record.outcome.into());
                        }
                        // It settled meanwhile, or another process that shares the store has it.
                        None => {
                            sleep_until((Instant::now() + AGAIN).min(until.settled)).await;
                            continue;
                        }
                    },
                },
            };
            let is_same = live.is_same_ask(conversation_id, None);
            return Ok(if is_same { Met::Live(live) } else { unknown.into() });
        }
    }

    /// Cancels an ask in whatever state it is, and returns what became of it, which may be what it
    /// had settled as before.
    pub async fn cancel(
        &self,
        cancellation: Cancellation,
        until: Until,
    ) -> Result<Outcome, Refusal> {
        let key = cancellation.key;
        loop {
            let (live, is_mine) = match self.0.registry.claim(key) {
                Claim::Mine(live) => {
                    self.spawn(
                        self.clone().cancel_unheard(Arc::clone(&live), cancellation.clone()),
                    );
                    (live, true)
                }
                Claim::Theirs(live) => (live, false),
            };
            match until.in_time(live.admitted()).await? {
                Ok(()) => {}
                Err(refusal) if is_mine => return Err(refusal),
                Err(_) => continue,
            }
            if !live.is_same_ask(cancellation.conversation_id, None) {
                return Err(Refusal::Mismatch);
            }
            self.check_kept(key, cancellation.conversation_id)?;
            live.stop(Stop::Cancel);
            let outcome = self.wait(&live, until).await.outcome();
            self.check_kept(key, cancellation.conversation_id)?;
            return Ok(outcome);
        }
    }

    /// A page of a conversation; its turns under way are as they stand now, not as last journalled.
    pub async fn conversation(
        &self,
        key: ConversationKey,
        before: Option<u64>,
        limit: u32,
        until: Until,
    ) -> Result<Option<Conversation>, Refusal> {
        let page = until.in_time(self.0.journal.conversation(key, before, limit)).await??;
        let Some(mut conversation) = page else {
            return Ok(None);
        };
        for turn in conversation.turns.iter_mut().filter(|turn| !turn.status.is_settled()) {
            let key = Key::new(key.principal, turn.request_id);
            *turn = match self.look_up(key, turn.conversation_id, until).await {
                Err(Refusal::RequestDeleted) => return Ok(None),
                outcome => outcome?,
            };
        }
        Ok(Some(conversation).filter(|_| !self.is_deleted(key)))
    }

    /// Waits until the ask has settled, the time is up, or the server is about to end.
    async fn wait<'a>(&self, live: &'a Live, until: Until) -> &'a Live {
        let mut phase = self.0.phase.subscribe();
        tokio::select! {
            biased;
            () = live.settled() => {}
            _ = phase.wait_for(|phase| *phase == Phase::Closed) => {}
            () = sleep_until(until.settled) => {}
        }
        live
    }

    /// Runs a task that belongs to the server.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}

impl Until {
    /// Waits for the journal: a disk that hangs is a disk that fails.
    pub(crate) async fn in_time<T>(
        self,
        reply: impl Future<Output = T>,
    ) -> Result<T, JournalError> {
        let late = |_| JournalError::Unavailable("no reply in time".to_owned());
        timeout_at(self.told, reply).await.map_err(late)
    }
}
