//! A machine: a simulated disk, and the real server on it without sockets. It can lose power.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use holdfast::app::{App, Parts};
use holdfast::clock::{Clock, Uptime};
use holdfast::journal::sqlite::{self, Drive, OpenError, Options, SqliteJournal};
use holdfast::journal::{Identity, Journal as _};
use holdfast_protocol::Timestamp;
use holdfast_tests::PATIENCE;
use holdfast_tests::disk::{self, Disk, Loss, Survivors};
use serde_json::Value;
use tokio::time::{Instant, timeout};
use tower::ServiceExt as _;

use crate::model::Model;
use crate::talk::{Reply, Talk};

/// Noon on 1 January 2026, in milliseconds since the Unix epoch.
const BEGINNING: u64 = 1_767_268_800_000;

/// Both clocks of the machine, which pass with tokio's paused time.
#[derive(Clone, Copy, Debug)]
struct Passing(Instant);

impl Passing {
    fn passed(self) -> Duration {
        Instant::now().duration_since(self.0)
    }
}

impl Clock for Passing {
    fn now(&self) -> Timestamp {
        let passed = u64::try_from(self.passed().as_millis()).unwrap();
        Timestamp::from_millis(BEGINNING + passed)
    }

    fn uptime(&self) -> Uptime {
        Uptime::default().after(self.passed())
    }
}

pub(crate) struct Machine {
    pub(crate) disk: Disk,
    pub(crate) model: Arc<Model>,
    clock: Passing,
    up: Option<(App, Arc<SqliteJournal>)>,
}

/// Somebody who talks to the server; as many as are wanted.
#[derive(Clone)]
pub(crate) struct Client(Router);

impl Machine {
    /// A machine with an empty disk, off.
    pub(crate) fn new(seed: u64) -> Self {
        let model = Arc::new(Model::new(seed));
        Self { disk: Disk::new(seed), model, clock: Passing(Instant::now()), up: None }
    }

    /// Starts the server, and waits until it takes asks where that comes within a minute.
    pub(crate) async fn start(&mut self) -> Result<bool, OpenError> {
        let journal = open(&Options {
            folder: self.disk.folder().to_owned(),
            drive: Drive::Task,
            identity: Identity { archive: "a1".to_owned(), principal: "p1".to_owned() },
            vfs: Some(disk::vfs()),
        })?;
        let journal = Arc::new(journal);
        let clock = Arc::new(self.clock);
        let app = App::start(Parts::new(journal.clone(), self.model.clone(), clock));
        let is_ready = timeout(Duration::from_mins(1), app.ready()).await.is_ok();
        self.up = Some((app, journal));
        Ok(is_ready)
    }

    pub(crate) fn client(&self) -> Client {
        Client(self.up.as_ref().unwrap().0.router())
    }

    /// Ends the process as `kill -9` does.
    pub(crate) async fn kill(&mut self) {
        self.disk.crash();
        self.end().await;
    }

    /// Takes the power away.
    pub(crate) async fn lose_power(&mut self, loss: Loss) -> Survivors {
        let survivors = self.disk.lose_power(loss);
        self.end().await;
        survivors
    }

    async fn end(&mut self) {
        if let Some((app, journal)) = self.up.take() {
            app.abort().await;
            journal.abandon().await;
        }
    }

    /// Stops the server as SIGTERM does; says how many answers were not archived.
    pub(crate) async fn stop(&mut self, patience: Duration) -> usize {
        let Some((app, journal)) = self.up.take() else { return 0 };
        let unarchived = app.drain(tokio::time::sleep(patience)).await;
        app.abort().await;
        journal.close().await;
        unarchived
    }

    /// What `holdfast check` finds wrong with the archive, on the disk that it is on and in a copy of
    /// it, whose log can be seen past SQLite.
    pub(crate) fn faults(&self) -> Vec<String> {
        let copy = tempfile::tempdir().unwrap();
        self.disk.copy_to(copy.path()).unwrap();
        let here = sqlite::check(self.disk.folder(), Some(disk::vfs())).unwrap();
        let there = sqlite::check(copy.path(), None).unwrap();
        [here.faults, there.faults].concat()
    }
}

/// Opens an archive. Another test of this process may be starting the binary just now: until that has
/// begun, it holds a copy of every file that is open here, and of the lock on the folder.
fn open(options: &Options) -> Result<SqliteJournal, OpenError> {
    let patience = std::time::Instant::now() + PATIENCE;
    loop {
        match SqliteJournal::open(options) {
            Err(OpenError::InUse(_)) if std::time::Instant::now() < patience => {
                std::thread::sleep(Duration::from_millis(1));
            }
            opened => return opened,
        }
    }
}

impl Talk for Client {
    async fn send(&self, method: &str, target: &str, wait: u64, body: &Value) -> Option<Reply> {
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header("host", "localhost:8787")
            .header("content-type", "application/json")
            .header("prefer", format!("wait={wait}"));
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        let response = self.0.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let has_retry_after = response.headers().contains_key("retry-after");
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let json = serde_json::from_slice(&bytes).unwrap_or_default();
        assert_ne!(status, 500, "{json}");
        Some(Reply { status, has_retry_after, json })
    }
}
