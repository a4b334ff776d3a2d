//! The page cannot start, or breaks: the sentinel shows what is pending and recovers it.

use holdfast_tests::mock::Script;
use holdfast_tests::proxy::{Fault, Reply, Route, Rule};

use crate::stage::{Stage, on_stage};

/// A module that is valid and does nothing but trap when it starts: what a panic before the first
/// line of the page looks like.
const TRAPS: &[u8] = &[
    0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // header
    0x01, 0x04, 0x01, 0x60, 0x00, 0x00, // one type: no parameters, no results
    0x03, 0x02, 0x01, 0x00, // one function of it
    0x08, 0x01, 0x00, // it is the start function
    0x0a, 0x05, 0x01, 0x03, 0x00, 0x00, 0x0b, // its body: unreachable
];

/// Asks, has the page reload with this in place of its program, and sees the answer recovered by
/// lookup alone.
async fn recovers_with(stage: &mut Stage, route: Route, program: Option<Reply>) {
    stage.page_may_break();
    stage.mock.next(Script::gated("the first words ", "go", "and the last"));
    let id = stage.browser.ask("left to the sentinel").await.request_id;
    stage.browser.turn_with(&id, "pending", "the first words").await;
    if let Some(program) = program {
        stage.line.rule(Rule::on(route, Fault::Instead(program)).always());
        // The browser's cache would else bring the program that works.
        stage
            .browser
            .cdp("Network.setCacheDisabled", serde_json::json!({"cacheDisabled": true}))
            .await;
        stage.browser.open_without_waiting(&stage.browser.address().await).await;
        stage.browser.reload().await;
        stage.line.struck(route).await;
    } else {
        // What the page's panic hook does.
        stage.browser.run("dispatchEvent(new Event('holdfast:panic'))").await;
    }
    let before = stage.submissions(&id).len();
    stage.browser.see("left to the sentinel").await;
    stage.mock.open("go");
    stage.browser.see("the first words and the last").await;
    assert_eq!(stage.submissions(&id).len(), before, "it never submits");
    assert_eq!(stage.calls(&id), 1);
    assert!(!stage.lookups(&id).is_empty());
}

#[tokio::test]
async fn a_missing_program_leaves_the_answer_to_the_sentinel() {
    on_stage("a_missing_program", async |stage| {
        recovers_with(stage, Route::Wasm, Some(Reply::html(404))).await;
    })
    .await;
}

#[tokio::test]
async fn a_missing_script_leaves_the_answer_to_the_sentinel() {
    on_stage("a_missing_script", async |stage| {
        recovers_with(stage, Route::Script, Some(Reply::html(404))).await;
    })
    .await;
}

#[tokio::test]
async fn a_program_that_is_garbage_leaves_the_answer_to_the_sentinel() {
    on_stage("a_garbage_program", async |stage| {
        let garbage = Reply::new(200, "application/wasm", b"not a program".to_vec());
        recovers_with(stage, Route::Wasm, Some(garbage)).await;
    })
    .await;
}

#[tokio::test]
async fn a_program_that_traps_at_its_start_leaves_the_answer_to_the_sentinel() {
    on_stage("a_program_that_traps", async |stage| {
        let traps = Reply::new(200, "application/wasm", TRAPS);
        recovers_with(stage, Route::Wasm, Some(traps)).await;
    })
    .await;
}

#[tokio::test]
async fn a_page_that_panics_leaves_the_answer_to_the_sentinel() {
    on_stage("a_page_that_panics", async |stage| {
        recovers_with(stage, Route::Wasm, None).await;
    })
    .await;
}

#[tokio::test]
async fn the_sentinel_survives_a_bad_line_too() {
    on_stage("the_sentinel_on_a_bad_line", async |stage| {
        stage.page_may_break();
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("left to the sentinel").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.line.rule(Rule::on(Route::Lookup, Fault::CutBeforeForward).times(2));
        stage.line.rule(Rule::on(Route::Lookup, Fault::Instead(Reply::html(502))).times(2));
        stage.browser.run("dispatchEvent(new Event('holdfast:panic'))").await;
        stage.mock.open("go");
        stage.browser.see("the first words and the last").await;
        let struck = stage.lookups(&id).iter().filter(|it| it.fault.is_some()).count();
        assert!(struck >= 3, "{struck} lookups failed");
    })
    .await;
}
