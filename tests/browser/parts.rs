//! The part of the page that draws conversations comes late, or does not come.

use holdfast_tests::proxy::{Fault, Reply, Route, Rule};
use serde_json::json;

use crate::stage::{Stage, on_stage};

/// Reloads the page behind a line that withholds its later part.
async fn without_the_rest(stage: &mut Stage, withheld: Rule) {
    stage.page_may_break();
    stage.line.rule(withheld);
    stage.browser.cdp("Network.enable", json!({})).await;
    stage.browser.cdp("Network.setCacheDisabled", json!({"cacheDisabled": true})).await;
    stage.browser.reload().await;
    stage.ready().await;
}

/// How often the later part was asked for and withheld.
fn withheld(stage: &Stage) -> usize {
    let exchanges = stage.line.exchanges_on(Route::LaterPart);
    exchanges.iter().filter(|exchange| exchange.fault.is_some()).count()
}

#[tokio::test]
async fn a_question_goes_out_and_is_shown_once_the_rest_is_here() {
    on_stage("the_rest_comes_late", async |stage| {
        let gone = Rule::on(Route::LaterPart, Fault::Instead(Reply::html(503))).times(2);
        without_the_rest(stage, gone).await;
        stage.browser.write("before anything is drawn").await;
        stage.browser.click("Send").await;
        stage
            .line
            .wait("the question", |exchanges| {
                exchanges.iter().any(|it| it.route == Route::Ask && it.status == Some(202))
            })
            .await;
        let turn = stage.browser.turn_of("before anything is drawn").await;
        stage.browser.turn_with(&turn.request_id, "completed", "The answer to").await;
        assert_eq!((withheld(stage), stage.submissions(&turn.request_id).len()), (2, 1));
    })
    .await;
}

#[tokio::test]
async fn a_rest_that_never_comes_ends_in_a_sentence_and_a_button() {
    on_stage("the_rest_never_comes", async |stage| {
        stage.hurry().await;
        let gone = Rule::on(Route::LaterPart, Fault::CutBeforeReply).always();
        without_the_rest(stage, gone).await;
        stage.browser.see("Part of the page is missing. Trying again").await;
        stage.browser.see("Part of the page could not be loaded").await;
        assert!(withheld(stage) > 2, "it was tried again");
        stage.line.clear_rules();
        stage.browser.click("Reload").await;
        stage.browser.see("Ask, and the answer stays yours.").await;
    })
    .await;
}
