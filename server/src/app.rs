//! The server, assembled: everything but sockets, files and the operating system.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! # let provider: std::sync::Arc<dyn holdfast::provider::Provider> = unimplemented!();
//! use std::sync::Arc;
//!
//! use holdfast::app::{App, Parts};
//! use holdfast::clock::SystemClock;
//! use holdfast::journal::Identity;
//! use holdfast::journal::sqlite::{Drive, Options, SqliteJournal};
//!
//! let journal = Arc::new(SqliteJournal::open(&Options {
//!     folder: "/var/lib/holdfast".into(),
//!     drive: Drive::Task,
//!     identity: Identity { archive: "a1".into(), principal: "p1".into() },
//!     vfs: None,
//! })?);
//! let app = App::start(Parts::new(journal.clone(), provider, Arc::new(SystemClock)));
//! app.ready().await;
//! let router = app.router(); // a tower service: call it, or serve it
//!
//! // A crash: every task ends where it is, commands that wait are not written. What still holds a
//! // clone of the router (requests in flight) should be dropped first.
//! drop(router);
//! app.abort().await;
//! journal.abandon().await;
//! // Now the same folder can be opened again.
//! # Ok(()) }
//! ```
//!
//! For a simulation: with [`Drive::Task`](crate::journal::sqlite::Drive) nothing here starts a
//! thread, so on a current-thread runtime with paused time, a [`Clock`] of its own, its own provider
//! and its own [`Identity`](crate::journal::Identity) a run depends on its inputs alone. The
//! first reply may be asked for at once: until the journal is classified the API answers `starting`.

use std::sync::Arc;

use axum::Router;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::conversations::Conversations;
use crate::http::{self, PublicUrl, Site};
use crate::journal::Journal;
use crate::provider::Provider;
use crate::runs::{Phase, Runs, Settings};

/// What a server is made of.
pub struct Parts {
    /// Where asks are kept.
    pub journal: Arc<dyn Journal>,
    /// What answers them.
    pub provider: Arc<dyn Provider>,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// How runs behave.
    pub settings: Settings,
    /// Where people find the server when that is not its own address.
    pub public_url: Option<PublicUrl>,
    /// Sentences about what the operator could name and has not; they may come later.
    pub offers: watch::Receiver<Vec<String>>,
}

impl Parts {
    /// These parts, with defaults for the rest: no public URL, nothing to offer.
    pub fn new(
        journal: Arc<dyn Journal>,
        provider: Arc<dyn Provider>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let offers = watch::channel(Vec::new()).1;
        Self { journal, provider, clock, settings: Settings::default(), public_url: None, offers }
    }
}

/// A running server. It needs [`App::drain`] or [`App::abort`] to end: its runs belong to it and not
/// to whoever holds this value.
pub struct App {
    runs: Runs,
    router: Router,
}

impl App {
    /// Starts to classify what the last stop left, and to answer. Must be called in a runtime.
    pub fn start(parts: Parts) -> Self {
        let Parts { journal, provider, clock, settings, public_url, offers } = parts;
        let runs =
            Runs::new(Arc::clone(&journal), Arc::clone(&provider), Arc::clone(&clock), settings);
        let conversations = Conversations::new(Arc::clone(&journal), runs.clone(), clock);
        let site =
            Site::new(runs.clone(), conversations.clone(), &*journal, provider, public_url, offers);
        runs.start();
        conversations.start();
        Self { runs, router: http::router(site) }
    }

    /// The whole of HTTP: the API and the page.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Resolves when asks are taken.
    pub async fn ready(&self) {
        // The sender is held by the runs, and so by this value.
        let _ = self.runs.phase().wait_for(|phase| *phase >= Phase::Serving).await;
    }

    /// Takes no new asks, lets those that run end until `patience` resolves, interrupts the rest.
    /// Returns how many answers could not be archived.
    pub async fn drain(&self, patience: impl Future<Output = ()>) -> usize {
        self.runs.drain(patience).await
    }

    /// Ends every task, whatever it is doing.
    pub async fn abort(&self) {
        self.runs.abort().await;
    }
}
