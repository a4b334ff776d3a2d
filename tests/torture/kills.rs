//! The real binary, killed with -9 at random instants under load from many clients, and started again
//! on the same data: whatever was said is true, and every end is the one that the journal's marks at
//! that instant call for.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use holdfast::journal::sqlite;
use holdfast_tests::client::Request;
use holdfast_tests::mock::{MockProvider, Script, counted_words};
use holdfast_tests::server::{Holdfast, Start, binary};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::sleep;
use uuid::Uuid;

use crate::ask::id;
use crate::ledger::Ledger;
use crate::load::{Clients, Load, WORDS};
use crate::settings;
use crate::talk::{Reply, Talk};

/// Kills in a test run.
const KILLS: u64 = 50;
/// As many befall one archive; then there is a new one.
const EACH: u64 = 50;
const CLIENTS: usize = 32;
const CONVERSATIONS: usize = 24;

/// A connection for each request, to whoever listens there.
#[derive(Clone)]
pub(crate) struct Socket(pub(crate) SocketAddr);

impl Talk for Socket {
    async fn send(&self, method: &str, target: &str, wait: u64, body: &Value) -> Option<Reply> {
        let request = Request::new(self.0, method, target);
        let request = request.header("Prefer", &format!("wait={wait}"));
        let request = if body.is_null() { request } else { request.json(body) };
        let answer = request.send().await.ok()?;
        let json = answer.json();
        // A reply that a kill cut off is none.
        (!json.is_null()).then(|| Reply {
            status: answer.status(),
            has_retry_after: answer.header("retry-after").is_some(),
            json,
        })
    }
}

/// What the journal said of the asks without an end when the process died.
#[derive(Debug, Default)]
struct Left {
    /// Marked as calling, each with the text that had been kept.
    calling: BTreeMap<String, String>,
    accepted: usize,
    unconfirmed: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct Tally {
    kills: u64,
    asks: u64,
    accepted: u64,
    unknown: u64,
    calls: u64,
    calling: usize,
    with_text: usize,
    in_line: usize,
    unconfirmed: usize,
    ends: BTreeMap<String, u64>,
}

#[test]
fn what_was_said_before_a_kill_is_true_after_it() {
    let kills = settings::number("HOLDFAST_KILLS", KILLS);
    let first = settings::seed();
    let mut tally = Tally::default();
    let mut seed = first;
    while tally.kills < kills {
        let left = (kills - tally.kills).min(EACH);
        settings::with_seed(seed, "kills::", &format!("HOLDFAST_KILLS={left}"), || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(live(seed, left, &mut tally));
        });
        seed += 1;
    }
    println!("{} archives from seed {first}: {tally:#?}", seed - first);
    if kills >= KILLS {
        let ends = ["completed", "interrupted", "cancelled", "failed"];
        let ends = ends.map(|end| tally.ends.get(end).copied().unwrap_or(0));
        assert!(ends.iter().all(|count| *count >= 10), "it proves nothing");
        assert!(tally.with_text >= 10 && tally.in_line >= 10, "it proves nothing");
    }
}

/// One archive with its kills, to its end in peace. The instants are as random as the machine is.
async fn live(seed: u64, kills: u64, tally: &mut Tally) {
    let mut chance = Rng::with_seed(seed);
    let mock = provider().await;
    let mut holdfast = Start::with_mock(&mock).start().await;
    let server = Socket(holdfast.address());
    let ledger = Arc::new(Ledger::default());
    let conversations = (0..CONVERSATIONS).map(|_| id(&mut chance)).collect();
    let load = Load { conversations, pause: Duration::from_millis(200) };
    let mut clients = Clients::start(&load, CLIENTS, &server, &ledger, &mut chance);
    let (mut calling, mut unconfirmed) = (BTreeMap::new(), BTreeSet::new());
    for _ in 0..kills {
        sleep(Duration::from_micros(chance.u64(0..400_000))).await;
        holdfast.kill().await;
        tally.kills += 1;
        let copy = copy(&holdfast.data());
        let checked = sqlite::check(copy.path(), None).unwrap();
        assert_eq!(checked.faults, [""; 0], "as the kill left it");
        let left = left(copy.path());
        for id in &left.unconfirmed {
            assert!(ledger.get(id).accepted.is_none(), "{id} was told before it was confirmed");
        }
        holdfast.restart().await;
        for (id, text) in &left.calling {
            let entry = ledger.get(id);
            let reply = server.look_up(&entry.ask, 0).await.expect("it is up");
            ledger.told(&entry.ask, reply.status, &reply.json);
            assert_eq!(reply.json["status"], "interrupted", "it was called: {}", reply.json);
            assert_eq!(reply.json["error"]["code"], "server_restarted");
            assert_eq!(reply.json["receipt"]["provider_calls"], 1, "it may have been billed");
            let kept = reply.json["answer"]["text"].as_str().unwrap_or_default();
            assert_eq!(kept, text, "what was kept of it");
        }
        tally.calling += left.calling.len();
        tally.with_text += left.calling.values().filter(|text| !text.is_empty()).count();
        tally.in_line += left.accepted;
        tally.unconfirmed += left.unconfirmed.len();
        calling.extend(left.calling);
        unconfirmed.extend(left.unconfirmed);
        clients.complain();
    }
    clients.stop().await;
    reconcile(&server, &ledger, &mock, &calling, &unconfirmed, tally).await;
    holdfast.terminate();
    assert_eq!(holdfast.ended().await.code(), Some(0), "everything is archived");
    assert_sound(&holdfast);
}

/// A model server whose answers are as long as a question wants.
async fn provider() -> MockProvider {
    let mock = MockProvider::start().await.unwrap();
    for words in WORDS {
        let pause = if words > 100 { Duration::from_millis(3) } else { Duration::from_millis(1) };
        mock.on(&format!("In {words} words."), Script::counted(words, pause));
    }
    // One question in some, by a digit of its number.
    mock.on("7 — ß?", Script::refuse(500, "The model is out of order."));
    mock
}

/// The archive's files, copied: nobody writes them now, and to open them here must change nothing.
fn copy(data: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for suffix in ["", "-wal"] {
        let name = format!("{}{suffix}", sqlite::FILE);
        if data.join(&name).is_file() {
            std::fs::copy(data.join(&name), copy.path().join(&name)).unwrap();
        }
    }
    copy
}

fn left(folder: &Path) -> Left {
    let file = folder.join(sqlite::FILE);
    let archive = Connection::open_with_flags(file, OpenFlags::default()).unwrap();
    let mut statement = archive
        .prepare(
            "SELECT request_id, state, born > (SELECT confirmed FROM archive),
                 (SELECT coalesce(group_concat(text, '' ORDER BY text_offset), '') FROM pieces
                  WHERE ask = asks.id AND kind = 'answer')
             FROM asks WHERE state <> 'settled'",
        )
        .unwrap();
    let mut rows = statement.query(()).unwrap();
    let mut left = Left::default();
    while let Some(row) = rows.next().unwrap() {
        let id = Uuid::from_bytes(row.get(0).unwrap()).to_string();
        let state: String = row.get(1).unwrap();
        if state == "calling" {
            left.calling.insert(id, row.get(3).unwrap());
        } else if row.get(2).unwrap() {
            left.unconfirmed.insert(id);
        } else {
            left.accepted += 1;
        }
    }
    left
}

/// In peace everything has come to its end, the one that was called for, and was paid for once.
async fn reconcile(
    server: &Socket,
    ledger: &Ledger,
    mock: &MockProvider,
    calling: &BTreeMap<String, String>,
    unconfirmed: &BTreeSet<String>,
    tally: &mut Tally,
) {
    let mut calls = BTreeMap::<String, u64>::new();
    for entry in ledger.all() {
        let id = entry.ask.id();
        let reply = server.look_up_at_last(&entry.ask).await;
        ledger.told(&entry.ask, reply.status, &reply.json);
        tally.asks += 1;
        tally.accepted += u64::from(entry.accepted.is_some());
        if reply.json["state"] == "unknown" {
            tally.unknown += 1;
            continue;
        }
        let status = reply.json["status"].as_str().unwrap();
        *tally.ends.entry(status.to_owned()).or_default() += 1;
        let billed = reply.json["receipt"]["provider_calls"] == 1;
        let was_cut_off = status == "interrupted" && billed;
        assert_eq!(was_cut_off, calling.contains_key(id), "{}", reply.json);
        let may_end_so = status != "interrupted" || billed || unconfirmed.contains(id);
        assert!(may_end_so, "it waited, and was not run: {}", reply.json);
        let words = WORDS.into_iter().find(|n| entry.ask.question().contains(&format!("In {n} ")));
        let whole = counted_words(words.unwrap());
        let text = reply.json["answer"]["text"].as_str().unwrap_or_default();
        assert!(whole.starts_with(text), "{text:?} is not from {whole:?}");
        if status == "completed" {
            assert_eq!(text, whole);
        }
        calls.insert(id.to_owned(), u64::from(billed));
    }
    let mut made = BTreeMap::<String, u64>::new();
    for call in mock.calls() {
        *made.entry(call.key.unwrap()).or_default() += 1;
        tally.calls += 1;
    }
    for (id, count) in made {
        assert_eq!(count, 1, "{id} was paid for {count} times");
        // A call that was cancelled before it was made is on a receipt and not in the log; none is in
        // the log and not on a receipt.
        assert_eq!(calls.get(&id), Some(&1), "{id} was paid for, and its receipt does not say so");
    }
}

/// As `holdfast check` sees it.
pub(crate) fn assert_sound(holdfast: &Holdfast) {
    let mut command = std::process::Command::new(binary());
    let output = command.arg("check").arg("--data").arg(holdfast.data()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
}
