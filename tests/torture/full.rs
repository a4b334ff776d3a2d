//! The real binary on a disk without room. The room is taken and given back by a limit on the size of
//! its files, which needs no rights: a write beyond it fails, as it does where no block is free.

use std::time::Duration;

use holdfast::journal::sqlite;
use holdfast_tests::mock::{MockProvider, Script, counted_words};
use holdfast_tests::server::{Holdfast, Start};
use rusqlite::{Connection, OpenFlags};
use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use crate::ask::{Ask, id};
use crate::kills::{Socket, assert_sound};
use crate::talk::{Reply, Talk as _};

/// How long anything may take that is bound to come.
const SOON: Duration = Duration::from_secs(20);
/// The gate before the second half of an answer.
const GATE: &str = "second half";

/// A server in the midst of an answer, with another ask behind it, and one settled before.
struct Stage {
    mock: MockProvider,
    holdfast: Holdfast,
    server: Socket,
    settled: Ask,
    outcome: Value,
    running: Ask,
    waiting: Ask,
}

impl Stage {
    async fn set() -> Self {
        Self::set_with(|start| start).await
    }

    async fn set_with(how: impl Fn(Start) -> Start) -> Self {
        let mock = MockProvider::start().await.unwrap();
        let words = counted_words(40);
        let (first, second) = words.split_at(100);
        mock.on("halves", Script::gated(first, GATE, second));
        let holdfast = how(Start::with_mock(&mock)).start().await;
        let server = Socket(holdfast.address());
        let mut chance = fastrand::Rng::with_seed(1);
        let conversation = id(&mut chance);
        let mut ask = |question| Ask::new(&mut chance, &conversation, question);
        let [settled, running, waiting] = ["first", "in halves", "next"].map(&mut ask);
        let outcome = server.ask(&settled, 20).await.unwrap().json;
        assert_eq!(outcome["status"], "completed");
        for ask in [&running, &waiting] {
            assert_eq!(server.ask(ask, 0).await.unwrap().status, 202);
        }
        let stage = Self { mock, holdfast, server, settled, outcome, running, waiting };
        stage.until(&stage.running, |outcome| outcome["answer"]["text"] == first).await;
        stage
    }

    /// Looks up until the outcome is so.
    async fn until(&self, ask: &Ask, is_so: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + SOON;
        loop {
            let outcome = self.server.look_up(ask, 0).await.unwrap().json;
            if is_so(&outcome) {
                return outcome;
            }
            assert!(Instant::now() < deadline, "it never is: {outcome}");
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until the journal has the first half of the answer.
    async fn first_half_is_archived(&self) {
        let file = self.holdfast.data().join(sqlite::FILE);
        let archive = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let sql = "SELECT ifnull(sum(length(text)), 0) FROM pieces";
        let deadline = Instant::now() + SOON;
        while archive.query_row(sql, (), |row| row.get::<_, u64>(0)).unwrap() < 100 {
            assert!(Instant::now() < deadline, "the first half is never journalled");
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// The most that a file of the server may hold from now on.
    fn limit(&self, bytes: Option<u64>) {
        let maximum = getrlimit(Resource::Fsize).maximum;
        let limit = Rlimit { current: bytes.or(maximum), maximum };
        prlimit(Some(self.holdfast.pid()), Resource::Fsize, limit).unwrap();
    }

    fn calls(&self, ask: &Ask) -> usize {
        self.mock.calls_of(ask.id()).len()
    }
}

#[track_caller]
fn assert_turned_away(reply: &Reply) {
    assert_eq!((reply.status, &reply.json["code"]), (503, &"archive_unavailable".into()));
    assert!(reply.has_retry_after);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_loses_nothing_and_takes_nothing_new() {
    full_and_with_room_again(Stage::set().await).await;
}

/// As where the log lies on the same disk: what cannot be said must not take down what it is about.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_does_it_where_the_log_cannot_be_written() {
    full_and_with_room_again(Stage::set_with(Start::unheard).await).await;
}

async fn full_and_with_room_again(stage: Stage) {
    let Stage { server, settled, running, waiting, .. } = &stage;
    let whole = counted_words(40);
    stage.limit(Some(0));

    let mut chance = fastrand::Rng::with_seed(2);
    let late = Ask::new(&mut chance, settled.conversation(), "too late");
    for _ in 0..3 {
        assert_turned_away(&server.ask(&late, 0).await.unwrap());
        assert_eq!(server.look_up(&late, 0).await.unwrap().json["state"], "unknown");
    }
    assert_turned_away(
        &server.cancel(&Ask::new(&mut chance, late.conversation(), "?"), true).await.unwrap(),
    );
    assert_eq!(server.ask(settled, 0).await.unwrap().json, stage.outcome, "known ids attach");
    assert_eq!(server.ask(running, 0).await.unwrap().json["state"], "running");
    assert_eq!(server.ask(waiting, 0).await.unwrap().json["state"], "accepted");

    stage.mock.open(GATE);
    let archiving = stage.until(running, |outcome| outcome["state"] == "archiving").await;
    assert_eq!(
        (&archiving["status"], &archiving["answer"]["text"]),
        (&"pending".into(), &whole.clone().into())
    );
    assert_eq!(server.ask(running, 1).await.unwrap().json["state"], "archiving", "it stays so");
    assert_turned_away(&server.ask(&late, 0).await.unwrap());
    assert_eq!(stage.calls(waiting), 0, "what is behind it waits");

    stage.limit(None);
    for ask in [running, waiting] {
        let outcome = stage.until(ask, |outcome| outcome["status"] != "pending").await;
        assert_eq!(outcome["status"], "completed", "{outcome}");
    }
    let outcome = server.look_up(running, 0).await.unwrap().json;
    assert_eq!(outcome["answer"]["text"], whole);
    assert_eq!(server.ask(&late, 20).await.unwrap().json["status"], "completed", "the same id");
    let calls = [settled, running, waiting, &late].map(|ask| stage.calls(ask));
    assert_eq!(calls, [1; 4]);

    let mut stage = stage;
    stage.holdfast.restart().await;
    assert_eq!(stage.server.look_up(&stage.running, 0).await.unwrap().json, outcome);
    assert_sound(&stage.holdfast);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_without_room_says_that_an_answer_was_not_archived() {
    let mut stage = Stage::set().await;
    stage.first_half_is_archived().await;
    stage.limit(Some(0));
    stage.mock.open(GATE);
    stage.until(&stage.running, |outcome| outcome["state"] == "archiving").await;
    stage.holdfast.terminate();
    // A second one ends its patience, once the first was heard.
    let mut chance = fastrand::Rng::with_seed(3);
    let late = Ask::new(&mut chance, stage.settled.conversation(), "too late");
    while stage.server.ask(&late, 0).await.unwrap().json["code"] != "shutting_down" {
        sleep(Duration::from_millis(20)).await;
    }
    stage.holdfast.terminate();
    let ended = timeout(SOON, stage.holdfast.ended()).await.unwrap();
    assert_eq!(ended.code(), Some(1), "{}", stage.holdfast.stderr());
    assert_sound(&stage.holdfast);

    stage.holdfast.restart().await;
    let outcome = stage.until(&stage.running, |outcome| outcome["status"] != "pending").await;
    assert_eq!(outcome["status"], "interrupted", "it was called, and its end is not on record");
    let text = outcome["answer"]["text"].as_str().unwrap();
    assert!(text.len() >= 100 && counted_words(40).starts_with(text), "{text}");
    let next = stage.until(&stage.waiting, |outcome| outcome["status"] != "pending").await;
    assert_eq!(next["status"], "completed", "{next}");
    let settled = stage.server.look_up(&stage.settled, 0).await.unwrap().json;
    assert_eq!(settled, stage.outcome);
    let calls = [&stage.settled, &stage.running, &stage.waiting].map(|ask| stage.calls(ask));
    assert_eq!(calls, [1; 3]);
}
