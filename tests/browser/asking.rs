//! All is well: a question is asked and answered. And what must be right before the line fails.

use holdfast_tests::mock::Script;
use holdfast_tests::proxy::{Fault, Route, Rule};
use serde_json::Value;

use crate::stage::{Stage, on_stage};

/// What the outcome says of its failure.
async fn error_of(stage: &Stage, request_id: &str) -> String {
    stage.outcome(request_id).await["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_question_is_asked_and_answered() {
    on_stage("a_question_is_asked_and_answered", async |stage| {
        stage.mock.next(Script::answer("It holds on to the rock."));
        let turn = stage.browser.ask("What does a holdfast do?").await;
        let turn = stage
            .browser
            .turn_with(&turn.request_id, "completed", "It holds on to the rock.")
            .await;
        assert!(!turn.recovered, "nothing had to be recovered");
        assert_eq!(stage.browser.composer().await, "");
        stage.browser.no_pointers().await;
        let conversation = stage.submissions(&turn.request_id)[0].body.clone();
        let conversation: Value = serde_json::from_str(&conversation).unwrap();
        let id = conversation["conversation_id"].as_str().unwrap();
        assert!(stage.browser.address().await.ends_with(&format!("#/c/{id}")));
        assert_eq!(
            (stage.submissions(&turn.request_id).len(), stage.calls(&turn.request_id)),
            (1, 1)
        );

        // A second question in the same conversation, with the first in its context.
        let second = stage.browser.ask("And a second one?").await;
        stage.browser.turn_with(&second.request_id, "completed", "The answer to").await;
        let call = &stage.mock.calls_of(&second.request_id)[0];
        assert!(call.messages().iter().any(|(_, text)| text == "It holds on to the rock."));
        assert_eq!(stage.browser.turns().await.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn an_answer_is_seen_while_it_is_written() {
    on_stage("an_answer_is_seen_while_it_is_written", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let turn = stage.browser.ask("a slow one").await;
        let turn = stage.browser.turn_with(&turn.request_id, "pending", "the first words").await;
        assert!(stage.browser.can_press("Stop").await);
        stage.mock.open("go");
        let whole = "the first words and the last";
        stage.browser.turn_with(&turn.request_id, "completed", whole).await;
    })
    .await;
}

/// The page's own requests, as it makes them, with what its storage holds at that very moment.
const WATCH: &str = "
    window.__seen = [];
    const fetched = window.fetch;
    window.fetch = function (input, init) {
        const url = input instanceof Request ? input.url : String(input);
        const method = input instanceof Request ? input.method : (init?.method ?? 'GET');
        __seen.push({url, method, pending: sessionStorage.getItem('holdfast.pending')});
        return fetched.apply(this, arguments);
    };";

#[tokio::test]
async fn a_pointer_lives_from_before_the_request_until_the_ask_settles_on_screen() {
    on_stage("a_pointer_lives_from_before_the_request", async |stage| {
        stage.browser.before_every_document(WATCH).await;
        stage.browser.reload().await;
        stage.ready().await;
        stage.line.rule(Rule::on(Route::Ask, Fault::HoldRequest("in".into())));
        stage.mock.next(Script::gated("half ", "go", "whole"));
        let turn = stage.browser.ask("the whole life of a pointer").await;
        assert!(["sending", "queued"].contains(&turn.status.as_str()), "{turn:?}");
        let id = turn.request_id;

        // Before the request leaves …
        let watched = "return __seen.find(it => it.method === 'POST' && it.url.endsWith('/ask'))";
        let sent = stage
            .browser
            .wait_for("the ask leaving", async |page| {
                let sent = page.run(watched).await;
                (!sent.is_null()).then_some(sent)
            })
            .await;
        let at_that_moment: Vec<Value> =
            serde_json::from_str(sent["pending"].as_str().unwrap()).unwrap();
        assert_eq!(at_that_moment[0]["request_id"], id.as_str());

        // … with all it takes to look it up, and to submit it again unchanged …
        stage.line.wait("the ask held", |all| all.iter().any(|it| it.fault.is_some())).await;
        let body: Value = serde_json::from_str(&stage.submissions(&id)[0].body).unwrap();
        let pointers = stage.browser.pointers().await;
        let pointer = &pointers[&id];
        assert_eq!(pointers.len(), 1);
        assert_eq!(pointer["ask"], body);
        assert_eq!(pointer["conversation_id"], body["conversation_id"]);
        assert_eq!(pointer["question"], "the whole life of a pointer");
        assert!(pointer["asked_at"].is_string() || pointer["asked_at"].is_number());
        assert!(pointer["owner"].as_str().is_some_and(|owner| owner.contains('.')));
        assert_eq!(stage.mock.calls().len(), 0, "and nobody else has seen it yet");

        // … while it is being answered …
        stage.line.open("in");
        stage.browser.turn_with(&id, "pending", "half").await;
        assert!(stage.browser.pointers().await.contains_key(&id));

        // … and no longer than that.
        stage.mock.open("go");
        stage.browser.turn_with(&id, "completed", "half whole").await;
        stage.browser.no_pointers().await;
    })
    .await;
}

#[tokio::test]
async fn a_double_click_and_enter_held_down_ask_once() {
    on_stage("a_double_click_asks_once", async |stage| {
        stage.browser.write("clicked twice").await;
        stage
            .browser
            .run(
                "const send = [...document.querySelectorAll('button')]
                     .find(b => b.textContent.trim() === 'Send');
                 send.click(); send.click(); send.click();",
            )
            .await;
        let clicked = stage.browser.turn_of("clicked twice").await;
        stage.browser.turn_with(&clicked.request_id, "completed", "The answer to").await;

        stage.browser.write("entered for long").await;
        stage.browser.hold_enter(20).await;
        let entered = stage.browser.turn_of("entered for long").await;
        stage.browser.turn_with(&entered.request_id, "completed", "The answer to").await;
        assert_eq!(stage.browser.turns().await.len(), 2);
        assert_eq!(stage.line.exchanges_on(Route::Ask).len(), 2);
        assert_eq!(stage.mock.calls().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn the_same_text_twice_on_purpose_is_asked_twice() {
    on_stage("the_same_text_twice", async |stage| {
        for count in 1..=2 {
            stage.browser.write("ok").await;
            stage.browser.click("Send").await;
            stage
                .browser
                .wait_for("another completed turn", async |page| {
                    let turns = page.turns().await;
                    let completed = turns.iter().all(|turn| turn.status == "completed");
                    (turns.len() == count && completed).then_some(())
                })
                .await;
        }
        assert_eq!(stage.mock.calls().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn an_empty_question_is_not_sent() {
    on_stage("an_empty_question_is_not_sent", async |stage| {
        stage.browser.write("   ").await;
        stage.browser.click("Send").await;
        stage.browser.write("something").await;
        stage.browser.click("Send").await;
        let turn = stage.browser.turn_of("something").await;
        stage.browser.turn_with(&turn.request_id, "completed", "The answer to").await;
        assert_eq!(stage.browser.turns().await.len(), 1);
        assert_eq!(stage.line.exchanges_on(Route::Ask).len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_failed_answer_keeps_its_text_and_says_why_beside_it() {
    on_stage("a_failed_answer_keeps_its_text", async |stage| {
        let script = Script::new().words("some words before ");
        stage.mock.next(script.then(holdfast_tests::mock::Step::Reset));
        let turn = stage.browser.ask("it will break off").await;
        let turn = stage.browser.turn_with(&turn.request_id, "failed", "some words before").await;
        let why = error_of(stage, &turn.request_id).await;
        assert!(turn.text.contains(&why), "“{why}” stands beside it: {}", turn.text);
        stage.browser.no_pointers().await;
        stage.mock.next(Script::refuse(401, "Incorrect API key"));
        let turn = stage.browser.ask("it will be rejected").await;
        let turn = stage
            .browser
            .turn_when("a failure", &turn.request_id, |turn| turn.status == "failed")
            .await;
        let why = error_of(stage, &turn.request_id).await;
        assert!(turn.text.contains(&why), "“{why}” is said: {}", turn.text);
        let next = stage.browser.ask("and then all is well").await;
        stage.browser.turn_with(&next.request_id, "completed", "The answer to").await;
    })
    .await;
}
