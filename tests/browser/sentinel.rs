//! The page cannot start, or breaks: the sentinel shows what is pending and recovers it.

use holdfast_tests::mock::Script;
use holdfast_tests::proxy::{Fault, Reply, Route, Rule};

use serde_json::json;

use crate::stage::{Setting, Stage, on_stage, on_stage_with};

/// A module that is valid and does nothing but trap when it starts: what a panic before the first
/// line of the page looks like.
const TRAPS: &[u8] = &[
    0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // header
    0x01, 0x04, 0x01, 0x60, 0x00, 0x00, // one type: no parameters, no results
    0x03, 0x02, 0x01, 0x00, // one function of it
    0x08, 0x01, 0x00, // it is the start function
    0x0a, 0x05, 0x01, 0x03, 0x00, 0x00, 0x0b, // its body: unreachable
];

/// What is put in the place of the page's own program, or done to it.
enum Trouble {
    /// This reply comes for every file of that kind.
    Instead(Route, Reply),
    /// This script is run in the page that works.
    Run(&'static str),
}

/// Asks, lets the trouble happen, and sees the answer recovered by lookup alone.
async fn recovers(stage: &mut Stage, trouble: Trouble) {
    stage.page_may_break();
    stage.browser.before_every_document(KEEP_EXPORTS).await;
    stage.browser.reload().await;
    stage.ready().await;
    stage.mock.next(Script::gated("the first words ", "go", "and the last"));
    let id = stage.browser.ask("left to the sentinel").await.request_id;
    stage.browser.turn_with(&id, "pending", "the first words").await;
    match trouble {
        Trouble::Instead(route, reply) => {
            stage.line.rule(Rule::on(route, Fault::Instead(reply)).always());
            // The browser's cache would else bring the program that works.
            stage.browser.cdp("Network.enable", json!({})).await;
            stage.browser.cdp("Network.setCacheDisabled", json!({"cacheDisabled": true})).await;
            stage.browser.reload().await;
            stage.line.struck(route).await;
        }
        Trouble::Run(script) => _ = stage.browser.run(script).await,
    }
    let before = stage.submissions(&id).len();
    let panel = shows(stage, "left to the sentinel").await;
    assert!(panel.contains("The page"), "and says what is wrong: {panel}");
    stage.mock.open("go");
    let panel = shows(stage, "the first words and the last").await;
    shows(stage, "ecovered from the archive").await;
    assert!(panel.contains("left to the sentinel"), "beside its question: {panel}");
    assert_eq!(stage.submissions(&id).len(), before, "it never submits");
    assert_eq!(stage.calls(&id), 1);
}

/// Keeps what the page's program exports, to break it as a fault of its own would.
const KEEP_EXPORTS: &str = "
    for (const name of ['instantiate', 'instantiateStreaming']) {
        const make = WebAssembly[name];
        WebAssembly[name] = async (...given) => {
            const made = await make.apply(WebAssembly, given);
            // The part of the page that is needed to ask: the later one shares its memory.
            window.__exports ??= (made.instance ?? made).exports;
            return made;
        };
    }";

/// Waits until the sentinel's panel contains this text and gives all of it.
async fn shows(stage: &Stage, text: &str) -> String {
    let read = "return document.getElementById('sentinel')?.innerText ?? ''";
    stage
        .browser
        .wait_for(&format!("the sentinel with “{text}”"), async |page| {
            let panel = page.run(read).await.as_str().unwrap_or_default().to_owned();
            panel.contains(text).then_some(panel)
        })
        .await
}

#[tokio::test]
async fn a_missing_program_leaves_the_answer_to_the_sentinel() {
    on_stage("a_missing_program", async |stage| {
        recovers(stage, Trouble::Instead(Route::Wasm, Reply::html(404))).await;
    })
    .await;
}

#[tokio::test]
async fn a_missing_script_leaves_the_answer_to_the_sentinel() {
    on_stage("a_missing_script", async |stage| {
        recovers(stage, Trouble::Instead(Route::Script, Reply::html(404))).await;
    })
    .await;
}

#[tokio::test]
async fn a_program_that_is_garbage_leaves_the_answer_to_the_sentinel() {
    on_stage("a_garbage_program", async |stage| {
        let garbage = Reply::new(200, "application/wasm", b"not a program".to_vec());
        recovers(stage, Trouble::Instead(Route::Wasm, garbage)).await;
    })
    .await;
}

#[tokio::test]
async fn a_program_that_traps_at_its_start_leaves_the_answer_to_the_sentinel() {
    on_stage("a_program_that_traps", async |stage| {
        let traps = Reply::new(200, "application/wasm", TRAPS);
        recovers(stage, Trouble::Instead(Route::Wasm, traps)).await;
    })
    .await;
}

#[tokio::test]
async fn a_page_that_panics_leaves_the_answer_to_the_sentinel() {
    on_stage("a_page_that_panics", async |stage| {
        // What the page's panic hook does.
        recovers(stage, Trouble::Run("dispatchEvent(new Event('holdfast:panic'))")).await;
    })
    .await;
}

#[tokio::test]
async fn a_program_that_traps_while_it_runs_leaves_the_answer_to_the_sentinel() {
    on_stage("a_program_that_traps_late", async |stage| {
        // More memory than there is: the program aborts itself, without a hook.
        let trap = "setTimeout(() => __exports.__wbindgen_malloc(-16, 1))";
        recovers(stage, Trouble::Run(trap)).await;
    })
    .await;
}

#[tokio::test]
async fn the_sentinel_survives_a_bad_line_too() {
    on_stage("the_sentinel_on_a_bad_line", async |stage| {
        let faults = [
            Fault::CutBeforeForward,
            Fault::CutBeforeReply,
            Fault::Instead(Reply::html(502)),
            Fault::Instead(Reply::html(200)),
        ];
        let count = faults.len();
        stage.page_may_break();
        stage.hurry().await;
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("left to the sentinel").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.line.rule(Rule::on(Route::Wasm, Fault::Instead(Reply::html(404))).always());
        for fault in faults {
            stage.line.rule(Rule::on(Route::Lookup, fault));
        }
        stage.browser.cdp("Network.enable", json!({})).await;
        stage.browser.cdp("Network.setCacheDisabled", json!({"cacheDisabled": true})).await;
        stage.browser.reload().await;
        shows(stage, "left to the sentinel").await;
        stage.mock.open("go");
        shows(stage, "the first words and the last").await;
        let struck = stage.lookups(&id).iter().filter(|it| it.fault.is_some()).count();
        assert_eq!(struck, count);
    })
    .await;
}

#[tokio::test]
async fn a_program_that_never_arrives_leaves_the_answer_to_the_sentinel() {
    let setting = || Setting { impatient: true, ..Setting::default() };
    for (name, route) in [("the_program", Route::Wasm), ("the_script", Route::Script)] {
        on_stage_with(&format!("never_arrives_{name}"), setting(), async |stage| {
            stage.hurry().await;
            stage.mock.next(Script::gated("the first words ", "go", "and the last"));
            let id = stage.browser.ask("left to the sentinel").await.request_id;
            stage.browser.turn_with(&id, "pending", "the first words").await;
            stage.line.rule(Rule::on(route, Fault::HoldRequest("late".into())).always());
            stage.browser.cdp("Network.enable", json!({})).await;
            stage.browser.cdp("Network.setCacheDisabled", json!({"cacheDisabled": true})).await;
            stage.browser.reload().await;
            let panel = shows(stage, "left to the sentinel").await;
            assert!(panel.contains("The page could not start."), "{panel}");
            assert!(panel.contains("Reload"), "and there is something to do: {panel}");
            stage.mock.open("go");
            shows(stage, "the first words and the last").await;
            assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));

            // It was slow, not gone: the page takes over.
            stage.line.open("late");
            stage.browser.turn_with(&id, "completed", "the first words and the last").await;
            stage.ready().await;
            let panel = "return document.getElementById('sentinel')";
            assert!(stage.browser.run(panel).await.is_null());
        })
        .await;
    }
}
