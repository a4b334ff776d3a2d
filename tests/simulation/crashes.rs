//! One story, told again and again, with the crash at another point each time: at every await of the
//! server, and at every change of the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use holdfast::app::{App, Parts};
use holdfast::journal::sqlite::{self, SqliteJournal};
use holdfast_protocol::{AskBody, ConversationId, Outcome, RequestId, Status};
use holdfast_tests::disk::{self, Disk, Loss};
use uuid::Uuid;

use crate::clock::Clock;
use crate::http::{request, send};
use crate::server::open;
use crate::steps::{PIECES, Stepping, SteppingModel, Steps};

/// Where the story breaks off.
#[derive(Clone, Copy, Debug)]
enum At {
    /// This await of the server never ends.
    Await(u64),
    /// The machine goes down in this change of its disk.
    Change(u64),
}

/// How.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Killed,
    PowerLost(Loss),
}

type Calls = Arc<Mutex<BTreeMap<String, u64>>>;

struct Machine {
    app: App,
    journal: Arc<SqliteJournal>,
}

/// Opens the folder; nothing if the disk goes down meanwhile.
fn start(disk: &Disk, calls: &Calls, steps: &Arc<Steps>) -> Option<Machine> {
    let journal = match open(disk) {
        Ok(journal) => Arc::new(journal),
        Err(error) => {
            assert!(disk.is_down(), "the journal opens after any crash: {error}");
            return None;
        }
    };
    let stepping = Stepping { inner: Arc::clone(&journal), steps: Arc::clone(steps) };
    let model = SteppingModel { calls: Arc::clone(calls), steps: Arc::clone(steps) };
    let clock = Arc::new(Clock::start());
    let app = App::start(Parts::new(Arc::new(stepping), Arc::new(model), clock));
    Some(Machine { app, journal })
}

fn ask(id: u128, conversation: u128, retry_of: Option<u128>) -> AskBody {
    let id_of = |id: u128| RequestId::new(Uuid::from_u128(id));
    AskBody {
        request_id: id_of(id),
        conversation_id: ConversationId::new(Uuid::from_u128(conversation << 64)),
        question: format!("Question {id}?"),
        current: None,
        remember: None,
        language: None,
        model: None,
        retry_of: retry_of.map(id_of),
        system_prompt: None,
    }
}

/// One exchange. Nothing: there was no reply, or it said neither accepted nor settled.
async fn exchange(router: &Router, path: &str, body: Option<String>, wait: u32) -> Option<Outcome> {
    let reply = send(router.clone(), request(path, body, wait)).await;
    let (status, _, body) = reply.expect("the router replies");
    matches!(status, 200 | 202).then(|| serde_json::from_slice(&body).unwrap())
}

async fn submit(router: &Router, ask: &AskBody, wait: u32) -> Option<Outcome> {
    exchange(router, "/api/v1/ask", Some(serde_json::to_string(ask).unwrap()), wait).await
}

async fn look_up(router: &Router, ask: &AskBody, wait: u32) -> Option<Outcome> {
    let (id, conversation) = (ask.request_id, ask.conversation_id);
    let path = format!("/api/v1/requests/{id}?conversation_id={conversation}");
    exchange(router, &path, None, wait).await
}

async fn cancel(router: &Router, ask: &AskBody) -> Option<Outcome> {
    let path = format!("/api/v1/requests/{}/cancel", ask.request_id);
    let body = serde_json::json!({"conversation_id": ask.conversation_id, "ask": ask});
    exchange(router, &path, Some(body.to_string()), 20).await
}

/// What the world outside was told.
#[derive(Debug, Default)]
struct Told {
    accepted: BTreeSet<RequestId>,
    settled: BTreeMap<RequestId, Outcome>,
}

impl Told {
    fn hear(&mut self, outcome: Option<Outcome>) {
        let Some(outcome) = outcome.filter(|outcome| !outcome.is_unknown()) else { return };
        self.accepted.insert(outcome.request_id);
        if outcome.status.is_settled() {
            self.settled.insert(outcome.request_id, outcome);
        }
    }
}

/// Everybody in the story.
fn cast() -> [AskBody; 5] {
    [ask(1, 1, None), ask(2, 1, None), ask(3, 2, None), ask(4, 3, None), ask(5, 1, Some(1))]
}

/// Two asks wait for each other, one is cancelled under way, one before it arrives, one asks again.
async fn story(router: Router, told: Arc<Mutex<Told>>) {
    let hear = |outcome| told.lock().unwrap().hear(outcome);
    let [first, second, cancelled, unheard, again] = cast();
    hear(submit(&router, &first, 0).await);
    hear(submit(&router, &second, 0).await);
    hear(submit(&router, &cancelled, 0).await);
    hear(cancel(&router, &unheard).await);
    hear(submit(&router, &unheard, 0).await);
    tokio::time::sleep(Duration::from_millis(700)).await;
    hear(cancel(&router, &cancelled).await);
    hear(look_up(&router, &first, 20).await);
    hear(submit(&router, &again, 0).await);
    hear(look_up(&router, &second, 20).await);
    hear(look_up(&router, &again, 20).await);
}

/// Tells the story up to the crash, and goes on after it. Returns whether there was one.
async fn play(at: At, how: How) -> bool {
    let disk = Disk::new(1);
    let calls = Calls::default();
    let steps = Steps::until(match at {
        At::Await(step) => step,
        At::Change(_) => 0,
    });
    if let At::Change(change) = at {
        disk.go_down_after(change - 1);
    }
    let told = Arc::new(Mutex::new(Told::default()));
    let mut crashed = true;
    if let Some(Machine { app, journal }) = start(&disk, &calls, &steps) {
        let whole = async {
            app.ready().await;
            story(app.router(), Arc::clone(&told)).await;
        };
        let goes_down = async {
            while !disk.is_down() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! {
            biased;
            () = steps.reached() => {}
            () = goes_down => {}
            () = whole => crashed = false,
        }
        match how {
            How::Killed => disk.crash(),
            How::PowerLost(loss) => drop(disk.lose_power(loss)),
        }
        app.abort().await;
        journal.abandon().await;
    } else {
        disk.lose_power(Loss::Chance);
    }

    let told = std::mem::take(&mut *told.lock().unwrap());
    let context = || format!("{at:?} {how:?}: {told:?}");
    let Machine { app, journal } = start(&disk, &calls, &Steps::until(0)).unwrap();
    app.ready().await;
    let checked = sqlite::check(disk.folder(), Some(disk::vfs())).unwrap();
    assert_eq!(checked.faults, Vec::<String>::new(), "{}", context());
    let router = app.router();
    for ask in cast() {
        let id = ask.request_id;
        let found = look_up(&router, &ask, 20).await.unwrap();
        if found.is_unknown() {
            assert!(!told.accepted.contains(&id), "{id} is lost: {}", context());
            assert_eq!(SteppingModel::calls(&calls, id), 0, "{id} was paid for: {}", context());
        } else {
            assert!(found.status.is_settled(), "{found:?}: {}", context());
        }
        if let Some(settled) = told.settled.get(&id) {
            let found = Outcome { retried_by: settled.retried_by, ..found.clone() };
            assert_eq!(*settled, found, "what has settled never changes: {}", context());
        }
        // As the page does it; what was settled stays as it is.
        let outcome = submit(&router, &ask, 20).await.unwrap();
        if !found.is_unknown() {
            let found = Outcome { retried_by: outcome.retried_by, ..found };
            assert_eq!(outcome, found, "{}", context());
        }
        let called = SteppingModel::calls(&calls, id);
        assert!(called <= 1, "{id} was paid for {called} times: {}", context());
        let said = outcome.receipt.as_ref().map_or(0, |receipt| u64::from(receipt.provider_calls));
        match outcome.status {
            Status::Completed => {
                assert_eq!(outcome.text(), PIECES.concat(), "{}", context());
                assert_eq!((called, said), (1, 1), "{outcome:?}: {}", context());
            }
            Status::Interrupted => {
                assert!(PIECES.concat().starts_with(outcome.text()), "{}", context());
                assert!(said >= called, "{called} calls, and {outcome:?}: {}", context());
                // A disk that fails in the moment of the confirmation may leave it open.
                let may_be_open = matches!(at, At::Change(_)) || !told.accepted.contains(&id);
                assert!(said == 1 || may_be_open, "accepted, and never run: {}", context());
            }
            Status::Cancelled => {
                assert!(matches!(id.uuid().as_u128(), 3 | 4), "{outcome:?}: {}", context());
                assert_eq!(called, said, "{outcome:?}: {}", context());
            }
            status => panic!("{status:?}: {}", context()),
        }
    }
    app.abort().await;
    journal.abandon().await;
    crashed
}

/// Tells the story with the crash at the first point, the second, and so on, until it ends before
/// the crash; returns how many points there were.
fn at_every(at: impl Fn(u64) -> At, how: How) -> u64 {
    for point in 1.. {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        if !runtime.block_on(play(at(point), how)) {
            return point - 1;
        }
    }
    unreachable!("a story has an end")
}

#[test]
fn a_crash_at_any_await_of_the_server_loses_nothing_and_pays_for_nothing_twice() {
    for how in [How::Killed, How::PowerLost(Loss::Everything), How::PowerLost(Loss::Chance)] {
        let points = at_every(At::Await, how);
        assert!(points > 60, "{points} awaits are not a story");
        println!("{how:?} at each of {points} awaits");
    }
}

#[test]
fn a_crash_in_any_change_of_the_disk_loses_nothing_and_pays_for_nothing_twice() {
    for how in [How::Killed, How::PowerLost(Loss::Everything), How::PowerLost(Loss::Chance)] {
        let points = at_every(At::Change, how);
        assert!(points > 60, "{points} changes are not a story");
        println!("{how:?} in each of {points} changes");
    }
}
