//! One ask through everything that can happen to it: each event of a list at each of six points of the
//! ask, generated. Every cell ends with at most one provider call, an honest end on the screen, no
//! text taken away, and no pointer left.
//!
//! A plain run plays one cell in [`SHARE`], so that every event and every point is met;
//! `HOLDFAST_LONG` plays them all. `HOLDFAST_CELL=cut@mid-text` plays one.

use std::env;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use holdfast_tests::browser::SEEN_WITHIN;
use holdfast_tests::mock::Script;
use holdfast_tests::proxy::{Fault, Line, Reply, Route, Rule};
use serde_json::json;
use tokio::time::sleep;

use crate::stage::{Stage, on_stage};

/// A plain run plays every cell whose number is divisible by this.
const SHARE: usize = 4;
const BEGINNING: &str = "the first words ";
const WHOLE: &str = "the first words and the last";
/// Long enough for the page to notice, too short to wear anybody out.
const A_WHILE: Duration = Duration::from_millis(1_200);

/// Where the ask is when it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    /// The question is written, and not sent.
    BeforeSend,
    /// It is on its way to the server, which has not got it.
    BeforeAccept,
    /// The server has it; its reply is on the way back.
    AfterAccept,
    /// The page knows that it is accepted, and no text has come.
    BeforeFirstByte,
    /// The first words are on the screen.
    MidText,
    /// The provider has said all of it.
    Settling,
}

const POINTS: [(Point, &str); 6] = [
    (Point::BeforeSend, "before-send"),
    (Point::BeforeAccept, "before-accept"),
    (Point::AfterAccept, "after-accept"),
    (Point::BeforeFirstByte, "before-first-byte"),
    (Point::MidText, "mid-text"),
    (Point::Settling, "settling"),
];

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happening {
    /// Every connection is cut, and none can be made for a while.
    Cut,
    /// The line is silent for a while, and then cut.
    Silence,
    /// A gateway's page comes instead of every reply for a while.
    Gateway(u16),
    /// A page with a good status comes instead of every reply, as in a hotel.
    Hotel,
    /// The server says that it is starting.
    Starting,
    /// The browser says that it is offline, for a while.
    Offline,
    /// On and off, twenty times.
    Flapping,
    /// The page is loaded anew.
    Reload,
    /// The person goes back, and comes forward again.
    BackAndForward,
    /// The tab is closed, and the conversation opened in another.
    AnotherTab,
    /// The page is frozen and thawed.
    Frozen,
    /// The person presses Stop.
    Stop,
    /// The server is killed and started again.
    Killed,
    /// The server is stopped in order, and started again.
    Stopped,
    /// Every reply comes in one piece when it is complete.
    Buffered,
}

const HAPPENINGS: [(Happening, &str); 18] = [
    (Happening::Cut, "cut"),
    (Happening::Silence, "silence"),
    (Happening::Gateway(500), "500"),
    (Happening::Gateway(502), "502"),
    (Happening::Gateway(504), "504"),
    (Happening::Gateway(524), "524"),
    (Happening::Hotel, "hotel"),
    (Happening::Starting, "starting"),
    (Happening::Offline, "offline"),
    (Happening::Flapping, "flapping"),
    (Happening::Reload, "reload"),
    (Happening::BackAndForward, "back-and-forward"),
    (Happening::AnotherTab, "another-tab"),
    (Happening::Frozen, "frozen"),
    (Happening::Stop, "stop"),
    (Happening::Killed, "killed"),
    (Happening::Stopped, "stopped"),
    (Happening::Buffered, "buffered"),
];

#[tokio::test]
async fn every_cell_ends_with_one_call_at_most_and_an_honest_end() {
    let only = env::var("HOLDFAST_CELL").ok();
    let is_long = env::var_os("HOLDFAST_LONG").is_some_and(|long| long != "0");
    let (mut played, mut failed) = (0, Vec::new());
    for (number, (happening, point, name)) in cells().into_iter().enumerate() {
        let wanted = match &only {
            Some(only) => *only == name,
            None => is_long || number % SHARE == 0,
        };
        if wanted {
            eprintln!("cell {name}");
            let stage = format!("cell_{name}");
            let cell = on_stage(&stage, async |stage| play(stage, happening, point).await);
            // One that fails says nothing of those after it.
            if AssertUnwindSafe(cell).catch_unwind().await.is_err() {
                failed.push(name);
            }
            played += 1;
        }
    }
    assert!(played > 0, "there is no such cell");
    eprintln!("{played} cells of {}", cells().len());
    assert!(failed.is_empty(), "{failed:?} failed; each alone: HOLDFAST_CELL={}", failed[0]);
}

/// Every cell there can be, in an order in which every fourth meets all rows and columns.
fn cells() -> Vec<(Happening, Point, String)> {
    let mut cells = Vec::new();
    for (row, (happening, says)) in HAPPENINGS.into_iter().enumerate() {
        for column in 0..POINTS.len() {
            let (point, at) = POINTS[(column + row) % POINTS.len()];
            // Nothing can be stopped before it is sent, and nothing is left to go back from.
            let is_void = happening == Happening::Stop && point == Point::BeforeSend;
            if !is_void {
                cells.push((happening, point, format!("{says}@{at}")));
            }
        }
    }
    cells
}

async fn play(stage: &mut Stage, happening: Happening, point: Point) {
    stage.page_may_break();
    stage.mock.next(
        Script::new().gate("first").words(BEGINNING).gate("rest").delta("and the last").end(),
    );
    let question = "through thick and thin";
    stage.browser.write(question).await;
    if point == Point::BeforeSend {
        happens(stage, happening).await;
        if stage.browser.composer().await.is_empty() {
            // Drafts live as long as the tab does.
            stage.browser.write(question).await;
        }
    }
    match point {
        Point::BeforeAccept => {
            stage.line.rule(Rule::on(Route::Ask, Fault::HoldRequest("held".into())));
        }
        Point::AfterAccept => {
            stage.line.rule(Rule::on(Route::Ask, Fault::HoldReply("held".into())));
        }
        _ => {}
    }
    stage.browser.click("Send").await;
    let id = stage.browser.turn_of(question).await.request_id;
    match point {
        Point::BeforeSend => {}
        Point::BeforeAccept | Point::AfterAccept => {
            stage
                .line
                .wait("the question", |all| all.iter().any(|it| it.route == Route::Ask))
                .await;
        }
        Point::BeforeFirstByte => stage.called(&id).await,
        Point::MidText | Point::Settling => {
            stage.mock.open("first");
            stage.browser.turn_with(&id, "pending", BEGINNING.trim()).await;
        }
    }
    if point == Point::Settling {
        if happening == Happening::Stop {
            // Once the page has heard of the end, there is nothing left to press.
            stage.line.line(Line::Silent);
        }
        stage.mock.open("rest");
    }
    if point != Point::BeforeSend {
        happens(stage, happening).await;
    }
    stage.line.open("held");
    if (happening, point) == (Happening::AnotherTab, Point::BeforeAccept) {
        // Nobody knows that it was sent: it is offered, and not sent unasked.
        stage.browser.see("Written in another tab and never sent").await;
        assert_eq!((stage.browser.turns().await.len(), stage.calls(&id)), (0, 0));
        return;
    }
    stage.mock.open("first");
    stage.mock.open("rest");
    let end = stage
        .browser
        .wait_for_within(2 * SEEN_WITHIN, "an honest end", async |page| {
            let turns = page.turns().await;
            let turn = turns.into_iter().find(|turn| turn.text.contains(question))?;
            let ends = ["completed", "failed", "cancelled", "interrupted"];
            ends.contains(&turn.status.as_str()).then_some(turn)
        })
        .await;
    if happening == Happening::Stop {
        assert!(!stage.line.exchanges_on(Route::Cancel).is_empty(), "it was to be stopped");
    }
    let honest: &[&str] = match happening {
        Happening::Stop => &["cancelled", "completed"],
        Happening::Killed | Happening::Stopped => &["completed", "interrupted"],
        _ => &["completed"],
    };
    assert!(honest.contains(&end.status.as_str()), "{end:?}");
    assert!(end.text.matches(BEGINNING.trim()).count() <= 1, "nothing twice: {end:?}");
    if end.status == "completed" {
        assert!(end.text.contains(WHOLE), "{end:?}");
    } else if matches!(point, Point::MidText | Point::Settling) {
        assert!(end.text.contains(BEGINNING.trim()), "no text is taken away: {end:?}");
    }
    let calls = stage.calls(&end.request_id);
    let is_called = end.status == "completed";
    assert!(calls <= 1 && (calls == 1 || !is_called), "{calls} calls: {end:?}");
    assert_eq!(stage.browser.turns().await.len(), 1, "one turn");
    stage.browser.no_pointers().await;
}

async fn happens(stage: &mut Stage, happening: Happening) {
    match happening {
        Happening::Cut => for_a_while(stage, None).await,
        Happening::Silence => for_a_while(stage, Some(Fault::SilenceAfterForward(A_WHILE))).await,
        Happening::Gateway(status) => {
            for_a_while(stage, Some(Fault::Replace(Reply::html(status)))).await;
        }
        Happening::Hotel => for_a_while(stage, Some(Fault::Instead(Reply::html(200)))).await,
        Happening::Starting => {
            let reply = Reply::problem(503, "starting", "Starting.").header("Retry-After", "1");
            for_a_while(stage, Some(Fault::Instead(reply))).await;
        }
        Happening::Buffered => {
            for_a_while(stage, Some(Fault::Blob)).await;
        }
        Happening::Offline => {
            stage.browser.offline(true).await;
            sleep(A_WHILE).await;
            stage.browser.offline(false).await;
        }
        Happening::Flapping => {
            for _ in 0..20 {
                stage.browser.offline(true).await;
                stage.browser.offline(false).await;
            }
        }
        Happening::Reload => stage.browser.reload().await,
        Happening::BackAndForward => {
            stage.browser.run("location.hash = '#/'").await;
            stage.browser.back().await;
        }
        Happening::AnotherTab => {
            let address = stage.browser.address().await;
            stage.leave_for_a_new_tab().await;
            stage.browser.open(&address).await;
            stage.ready().await;
        }
        Happening::Frozen => {
            stage.browser.cdp("Page.setWebLifecycleState", json!({"state": "frozen"})).await;
            sleep(A_WHILE).await;
            stage.browser.cdp("Page.setWebLifecycleState", json!({"state": "active"})).await;
            // Chromium's emulation leaves it awake in the background.
            stage.look_as_if(true).await;
        }
        Happening::Stop => {
            stage.browser.click("Stop").await;
            stage.line.line(Line::Up);
        }
        Happening::Killed => {
            stage.holdfast.kill().await;
            stage.holdfast.restart().await;
        }
        Happening::Stopped => {
            stage.holdfast.terminate();
            // The run that waits gets as long as the drain lets it, or ends with the gates.
            stage.mock.open("first");
            stage.mock.open("rest");
            stage.holdfast.ended().await;
            stage.holdfast.restart().await;
        }
    }
}

/// What is under way is cut, and a fault falls on all that follows for a while; without one, nothing
/// gets through.
async fn for_a_while(stage: &Stage, fault: Option<Fault>) {
    match fault {
        None => stage.line.line(Line::Cut),
        Some(fault) => {
            for route in [Route::Ask, Route::Lookup, Route::Events, Route::Session] {
                stage.line.rule(Rule::on(route, fault.clone()).always());
            }
            stage.cut_streams().await;
        }
    }
    sleep(A_WHILE).await;
    stage.line.clear_rules();
    stage.line.line(Line::Up);
}
