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
mod cancel;
mod classify;
mod conduct;
mod deadlines;
mod deleted;
mod drain;
mod end;
mod following;
mod line;
mod live;
mod look_up;
mod registry;
mod settle;
mod settled;
mod slots;
mod submission;
mod submit;
mod text;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use thiserror::Error;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

pub use deadlines::Limits;
pub use following::{Follower, Following};
pub use look_up::Found;
pub use submission::{Cancellation, Submission};

use self::deleted::Deleted;
use self::live::Live;
use self::registry::Registry;
use self::settled::Settled;
use self::slots::Slots;
use crate::clock::Clock;
use crate::journal::{Journal, JournalError};
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
