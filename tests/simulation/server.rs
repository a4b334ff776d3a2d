//! The real server without sockets: the router, the runs, and a journal on a simulated disk.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use holdfast::app::{App, Parts};
use holdfast::journal::Journal;
use holdfast::journal::sqlite::{Drive, Identity, OpenError, Options, SqliteJournal};
use holdfast::runs::{Limits, Settings};
use holdfast_tests::disk::{self, Disk, Loss};

use crate::clock::Clock;
use crate::model::Model;

/// How long the model may take in a simulation: long enough for most of its answers.
const LIMITS: Limits = Limits {
    first_byte: Duration::from_secs(30),
    silence: Duration::from_secs(20),
    run: Duration::from_mins(2),
};

/// How a server goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Down {
    /// As `kill -9` does it: what was written stays.
    Killed,
    /// With the whole machine: what was not synced is anybody's guess.
    PowerLoss,
    /// Told to, with so much patience for what runs.
    Stopped(Duration),
}

pub(crate) struct Server {
    pub(crate) disk: Disk,
    model: Arc<Model>,
    clock: Clock,
    up: Option<(App, Arc<SqliteJournal>)>,
}

impl Server {
    pub(crate) async fn start(seed: u64, model: Arc<Model>, clock: Clock) -> Self {
        let mut server = Self { disk: Disk::new(seed), model, clock, up: None };
        server.come_up().expect("a fresh folder opens");
        server.ready().await;
        server
    }

    /// Opens the same folder once more.
    pub(crate) fn come_up(&mut self) -> Result<(), OpenError> {
        let journal = SqliteJournal::open(&Options {
            folder: self.disk.folder().to_owned(),
            drive: Drive::Task,
            identity: Identity { archive: "a1".to_owned(), principal: "p1".to_owned() },
            vfs: Some(disk::vfs()),
        })?;
        let journal = Arc::new(journal);
        let mut parts =
            Parts::new(journal.clone(), self.model.clone(), Arc::new(self.clock.clone()));
        parts.settings = Settings { limits: LIMITS, ..Settings::default() };
        self.up = Some((App::start(parts), journal));
        Ok(())
    }

    /// Waits until asks are taken.
    pub(crate) async fn ready(&self) {
        let Some((app, _)) = &self.up else { return };
        tokio::time::timeout(Duration::from_mins(1), app.ready()).await.expect("it gets ready");
    }

    pub(crate) fn router(&self) -> Router {
        self.up.as_ref().expect("the server is up").0.router()
    }

    /// The journal, past everything that may stand between.
    pub(crate) fn journal(&self) -> Option<Arc<dyn Journal>> {
        self.up.as_ref().map(|(_, journal)| Arc::clone(journal) as _)
    }

    /// Ends it. Unless it is stopped, it ends where it is: what was not committed is gone.
    pub(crate) async fn go_down(&mut self, how: Down) {
        let Some((app, journal)) = self.up.take() else { return };
        match how {
            Down::Killed => self.disk.crash(),
            Down::PowerLoss => drop(self.disk.lose_power(Loss::Chance)),
            Down::Stopped(patience) => drop(app.drain(tokio::time::sleep(patience)).await),
        }
        app.abort().await;
        if let Down::Stopped(_) = how {
            journal.close().await;
        } else {
            journal.abandon().await;
        }
    }
}
