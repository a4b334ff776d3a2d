//! A server on a fresh data folder, and how to talk to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use axum::http::request::Builder;
use holdfast::app::{App, Parts};
use holdfast::clock::{Clock, Uptime};
use holdfast::journal::Identity;
use holdfast::journal::sqlite::{Drive, Options, SqliteJournal};
use holdfast_protocol::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;
use tower::ServiceExt as _;
use uuid::Uuid;

use super::{Faulty, Reply, Scripted};

/// A wall clock that moves only when told to, and a machine that sleeps when told to.
pub(crate) struct SetClock {
    wall: AtomicU64,
    started: Instant,
    slept: AtomicU64,
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.wall.load(Ordering::Relaxed))
    }

    fn uptime(&self) -> Uptime {
        let slept = Duration::from_millis(self.slept.load(Ordering::Relaxed));
        Uptime::default().after(self.started.elapsed() + slept)
    }
}

impl SetClock {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            wall: AtomicU64::new(1_769_850_000_000),
            started: Instant::now(),
            slept: AtomicU64::new(0),
        })
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.wall.fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
    }

    /// Sleeps for so long: timers stand still meanwhile.
    pub(crate) fn sleep(&self, by: Duration) {
        self.slept.fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
    }
}

pub(crate) struct Spawned {
    pub(crate) app: App,
    pub(crate) provider: Arc<Scripted>,
    pub(crate) journal: Arc<Faulty>,
    pub(crate) clock: Arc<SetClock>,
    sqlite: Arc<SqliteJournal>,
    public_url: Option<&'static str>,
    folder: TempDir,
}

/// A canonical id.
pub(crate) fn id(id: u128) -> String {
    Uuid::from_u128(id).to_string()
}

/// The body of an ask in conversation 1.
pub(crate) fn ask(request: u128, question: &str) -> Value {
    ask_in(1, request, question)
}

pub(crate) fn ask_in(conversation: u128, request: u128, question: &str) -> Value {
    json!({
        "request_id": id(request),
        "conversation_id": id(conversation << 64),
        "question": question,
    })
}

/// A server that is ready.
pub(crate) async fn spawn() -> Spawned {
    spawn_with(None).await
}

pub(crate) async fn spawn_with(public_url: Option<&'static str>) -> Spawned {
    let folder = tempfile::tempdir().unwrap();
    let clock = SetClock::new();
    let spawned = start(folder, Drive::Task, clock, Arc::new(Scripted::new()), public_url);
    spawned.app.ready().await;
    spawned
}

/// A server whose journal has a thread of its own, as in production.
pub(crate) async fn spawn_threaded() -> Spawned {
    let folder = tempfile::tempdir().unwrap();
    let clock = SetClock::new();
    let spawned = start(folder, Drive::Thread, clock, Arc::new(Scripted::new()), None);
    spawned.app.ready().await;
    spawned
}

fn start(
    folder: TempDir,
    drive: Drive,
    clock: Arc<SetClock>,
    provider: Arc<Scripted>,
    public_url: Option<&'static str>,
) -> Spawned {
    let sqlite = SqliteJournal::open(&Options {
        folder: folder.path().to_owned(),
        drive,
        identity: Identity { archive: "a1".to_owned(), principal: "p1".to_owned() },
        vfs: None,
    });
    let sqlite = Arc::new(sqlite.unwrap());
    let journal = Arc::new(Faulty::new(Arc::clone(&sqlite) as _));
    let mut parts =
        Parts::new(Arc::clone(&journal) as _, Arc::clone(&provider) as _, Arc::clone(&clock) as _);
    parts.public_url = public_url.map(|url| url.parse().unwrap());
    let app = App::start(parts);
    Spawned { app, provider, journal, clock, sqlite, public_url, folder }
}

impl Spawned {
    /// Drops everything where it is and opens the same folder again, with a provider that knows
    /// nothing of the calls before.
    pub(crate) async fn crash(self) -> Self {
        let next = self.crash_unready().await;
        next.app.ready().await;
        next
    }

    /// The same, before what was left is classified.
    pub(crate) async fn crash_unready(self) -> Self {
        let in_process = holdfast::provider::Provider::is_in_process(&*self.provider);
        self.app.abort().await;
        self.sqlite.abandon().await;
        let provider = Arc::new(Scripted::new());
        if in_process {
            provider.be_in_process();
        }
        start(self.folder, Drive::Task, self.clock, provider, self.public_url)
    }

    /// The archive's own file.
    pub(crate) fn file(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.folder.path().join(holdfast::journal::sqlite::FILE))
            .unwrap()
    }

    /// Sends a request as it is.
    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        Reply::of(self.app.router().oneshot(request).await.unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(get(path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(post(path).body(Body::from(body.to_string())).unwrap()).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Reply {
        let request = Request::patch(path)
            .header("host", "localhost:8787")
            .header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        let request = Request::delete(path).header("host", "localhost:8787");
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Everything in the data folder.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    }

    /// Asks, ready to wait for so many seconds.
    pub(crate) async fn ask(&self, body: &Value, wait: u32) -> Reply {
        let request = post("/api/v1/ask").header("prefer", format!("wait={wait}"));
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// Looks up what became of an ask, ready to wait for so many seconds.
    pub(crate) async fn look_up(&self, ask: &Value, wait: u32) -> Reply {
        self.look_up_after(ask, wait, "").await
    }

    pub(crate) async fn look_up_after(&self, ask: &Value, wait: u32, query: &str) -> Reply {
        let (request, conversation) = (text(ask, "request_id"), text(ask, "conversation_id"));
        let path = format!("/api/v1/requests/{request}?conversation_id={conversation}{query}");
        let request = get(&path).header("prefer", format!("wait={wait}"));
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Cancels an ask, without bringing it along.
    pub(crate) async fn cancel(&self, ask: &Value) -> Reply {
        let path = format!("/api/v1/requests/{}/cancel", text(ask, "request_id"));
        let body = json!({"conversation_id": ask["conversation_id"]}).to_string();
        let request = post(&path).header("prefer", "wait=0");
        self.send(request.body(Body::from(body)).unwrap()).await
    }

    pub(crate) async fn conversation(&self, ask: &Value) -> Value {
        let path = format!("/api/v1/conversations/{}", text(ask, "conversation_id"));
        self.get(&path).await.json()
    }
}

pub(crate) fn get(path: &str) -> Builder {
    Request::get(path).header("host", "localhost:8787")
}

pub(crate) fn post(path: &str) -> Builder {
    Request::post(path).header("host", "localhost:8787").header("content-type", "application/json")
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}
