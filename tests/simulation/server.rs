//! The real server without sockets: the router, the runs, and a journal: most on a simulated disk,
//! some in memory, as one that another machine keeps would be.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use holdfast::app::{App, Parts};
use holdfast::journal::in_memory::{InMemory, Store};
use holdfast::journal::sqlite::{self, Drive, OpenError, Options, SqliteJournal};
use holdfast::journal::{Identity, Journal};
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

/// One world in so many has its journal in memory.
const IN_MEMORY: u64 = 5;

/// A journal that is open.
enum Opened {
    OnDisk(Arc<SqliteJournal>),
    InMemory(Arc<InMemory>),
}

impl Opened {
    fn journal(&self) -> Arc<dyn Journal> {
        match self {
            Self::OnDisk(journal) => Arc::clone(journal) as _,
            Self::InMemory(journal) => Arc::clone(journal) as _,
        }
    }

    async fn abandon(&self) {
        match self {
            Self::OnDisk(journal) => journal.abandon().await,
            Self::InMemory(journal) => journal.abandon().await,
        }
    }
}

pub(crate) struct Server {
    pub(crate) disk: Disk,
    /// In whose place this one keeps the journal.
    memory: Option<Store>,
    model: Arc<Model>,
    clock: Clock,
    up: Option<(App, Opened)>,
}

impl Server {
    pub(crate) async fn start(seed: u64, model: Arc<Model>, clock: Clock) -> Self {
        let memory = seed.is_multiple_of(IN_MEMORY).then(|| Store::new(&identity()).unwrap());
        let mut server = Self { disk: Disk::new(seed), memory, model, clock, up: None };
        server.come_up().expect("a fresh folder opens");
        server.ready().await;
        server
    }

    /// Opens the same folder once more.
    pub(crate) fn come_up(&mut self) -> Result<(), OpenError> {
        let opened = if let Some(store) = &self.memory {
            Opened::InMemory(Arc::new(store.open()))
        } else {
            Opened::OnDisk(Arc::new(open(&self.disk)?))
        };
        let clock = Arc::new(self.clock.clone());
        let mut parts = Parts::new(opened.journal(), self.model.clone(), clock);
        parts.settings = Settings { limits: LIMITS, ..Settings::default() };
        self.up = Some((App::start(parts), opened));
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
        self.up.as_ref().map(|(_, opened)| opened.journal())
    }

    /// Whether there is no disk that could fail.
    pub(crate) const fn is_in_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// What `holdfast check` finds wrong with the archive.
    pub(crate) fn faults(&self) -> Vec<String> {
        if self.memory.is_some() {
            return Vec::new();
        }
        sqlite::check(self.disk.folder(), Some(disk::vfs())).expect("it can be checked").faults
    }

    /// Ends it. Unless it is stopped, it ends where it is: what was not committed is gone.
    pub(crate) async fn go_down(&mut self, how: Down) {
        let Some((app, opened)) = self.up.take() else { return };
        match how {
            Down::Killed => self.disk.crash(),
            Down::PowerLoss => drop(self.disk.lose_power(Loss::Chance)),
            Down::Stopped(patience) => drop(app.drain(tokio::time::sleep(patience)).await),
        }
        app.abort().await;
        if let Down::Stopped(_) = how {
            opened.journal().close().await;
        } else {
            opened.abandon().await;
        }
    }
}

/// Opens the archive on a disk.
pub(crate) fn open(disk: &Disk) -> Result<SqliteJournal, OpenError> {
    SqliteJournal::open(&Options {
        folder: disk.folder().to_owned(),
        drive: Drive::Task,
        identity: identity(),
        vfs: Some(disk::vfs()),
    })
}

fn identity() -> Identity {
    Identity { archive: "a1".to_owned(), principal: "p1".to_owned() }
}
