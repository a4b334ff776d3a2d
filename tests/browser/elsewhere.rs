//! What others do on the same archive is seen here by itself: another device, another program.

use holdfast_tests::browser::Role;
use holdfast_tests::client::Request;
use holdfast_tests::mock::Script;
use holdfast_tests::proxy::{Fault, Route, Rule};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::keeping::{asked, listed};
use crate::stage::{Stage, on_stage};

/// Asks as another program does, in a conversation.
async fn ask_from_elsewhere(stage: &Stage, conversation: &str, question: &str) -> String {
    let id = Uuid::now_v7().to_string();
    let ask = json!({
        "request_id": id, "conversation_id": conversation, "question": question,
    });
    let request = Request::new(stage.holdfast.address(), "POST", "/api/v1/ask");
    let reply = request.header("Prefer", "wait=0").json(&ask).send().await.unwrap();
    assert!([200, 202].contains(&reply.status()), "{}", reply.text());
    id
}

/// The mark beside the first conversation of the list.
async fn mark(stage: &Stage) -> Option<String> {
    let mark = "return document.querySelector('.shelf-mark')?.dataset.mark";
    stage.browser.run(mark).await.as_str().map(str::to_owned)
}

async fn marked(stage: &Stage, expected: Option<&str>) {
    let what = format!("the mark {expected:?}");
    let seen = async |_: &_| (mark(stage).await.as_deref() == expected).then_some(());
    stage.browser.wait_for(&what, seen).await;
}

#[tokio::test]
async fn what_another_device_asks_is_seen_here_by_itself() {
    on_stage("another_device", async |stage| {
        let first = asked(stage, "from here").await;
        let conversation = stage.outcome(&first).await["conversation_id"].clone();
        let conversation = conversation.as_str().unwrap();
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = ask_from_elsewhere(stage, conversation, "from there").await;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.mock.open("go");
        stage.browser.turn_with(&id, "completed", "and the last").await;

        // Of a conversation that is not in view the list tells: that it works, and that it is done.
        stage.mock.next(Script::gated("the first words ", "go on", "and the last"));
        ask_from_elsewhere(stage, &Uuid::now_v7().to_string(), "elsewhere").await;
        listed(stage, &["elsewhere", "from here"]).await;
        marked(stage, Some("working")).await;
        // A menu that is open stays open meanwhile.
        let menu = "document.querySelector('.shelf-menu').open = true; return 1";
        stage.browser.run(menu).await;
        stage.mock.open("go on");
        marked(stage, Some("unread")).await;
        let is_open = "return document.querySelector('.shelf-menu').open";
        assert_eq!(stage.browser.run(is_open).await, Value::Bool(true));
        stage.browser.run("document.querySelector('.shelf-link').click()").await;
        marked(stage, None).await;
    })
    .await;
}

#[tokio::test]
async fn a_search_that_fails_shows_no_other_rows_as_its_result() {
    on_stage("a_search_that_fails", async |stage| {
        asked(stage, "apples").await;
        asked(stage, "pears").await;
        listed(stage, &["pears", "apples"]).await;
        stage.line.rule(Rule::on(Route::Conversation, Fault::CutBeforeReply).always());
        let field = stage.browser.control(Role::Searchbox, "Search").await;
        field.send_keys("apples").await.unwrap();
        listed(stage, &[]).await;
        stage.browser.see("Holdfast did not answer. Nothing is lost; try again.").await;
        stage.line.clear_rules();
        listed(stage, &["apples"]).await;
    })
    .await;
}
