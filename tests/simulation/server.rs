//! The real server without sockets: the router, the runs and a `SQLite` journal in a folder of its own.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use holdfast::app::{App, Parts};
use holdfast::clock::Uptime;
use holdfast::journal::sqlite::{Drive, Identity, Options, SqliteJournal};
use holdfast_protocol::Timestamp;

use crate::model::Model;
use crate::world::{BEGINNING, Clock};

impl holdfast::clock::Clock for Clock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(Clock::now(*self))
    }

    fn uptime(&self) -> Uptime {
        Uptime::from_millis(Clock::now(*self) - BEGINNING)
    }
}

pub(crate) struct Server {
    folder: tempfile::TempDir,
    up: Option<(App, Arc<SqliteJournal>)>,
}

impl Server {
    pub(crate) async fn start(model: Arc<Model>, clock: Clock) -> Self {
        // In memory where there is such a folder: a crash here keeps what was written, synced or not.
        let memory = std::path::Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = tempfile::Builder::new().prefix("holdfast-").tempdir_in(place).unwrap();
        let mut server = Self { folder, up: None };
        server.restart(model, clock).await;
        server
    }

    /// Opens the same folder once more.
    pub(crate) async fn restart(&mut self, model: Arc<Model>, clock: Clock) {
        let journal = SqliteJournal::open(&Options {
            folder: self.folder.path().to_owned(),
            drive: Drive::Task,
            identity: Identity { archive: "a1".to_owned(), principal: "p1".to_owned() },
            vfs: None,
        });
        let journal = Arc::new(journal.expect("the journal opens after any crash"));
        let app = App::start(Parts::new(journal.clone(), model, Arc::new(clock)));
        tokio::time::timeout(Duration::from_mins(1), app.ready()).await.expect("it gets ready");
        self.up = Some((app, journal));
    }

    pub(crate) fn router(&self) -> Router {
        self.up.as_ref().expect("the server is up").0.router()
    }

    /// Ends everything where it is: what was not committed is gone.
    pub(crate) async fn crash(&mut self) {
        if let Some((app, journal)) = self.up.take() {
            app.abort().await;
            journal.abandon().await;
        }
    }
}
