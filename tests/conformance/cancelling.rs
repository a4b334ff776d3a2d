//! § 6: cancel is valid in every state, is durable, and reaches the provider.

use holdfast_tests::mock::Script;
use serde_json::json;

use crate::support::{Api, Ask, assert_problem, new_id, outcome};

#[tokio::test]
async fn a_running_ask_is_cancelled_and_the_provider_hung_up_on() {
    let api = Api::start().await;
    for (script, text) in [
        (Script::hang(), ""),
        (Script::new().delta("half").then(holdfast_tests::mock::Step::Hang), "half"),
    ] {
        api.mock.next(script);
        let ask = Ask::new("to be cancelled");
        api.ask(&ask).await;
        api.called(&ask).await;
        api.outcome_when(&ask, "begun", |outcome| {
            outcome["answer"]["text"].as_str().unwrap_or_default() == text
        })
        .await;
        let cancelled = outcome(&api.cancel(&ask).await, 200, &ask);
        assert_eq!(cancelled["status"], "cancelled");
        assert_eq!(cancelled["answer"]["text"].as_str().unwrap_or_default(), text);
        let id = ask.id().to_owned();
        api.mock
            .wait("the hang-up", |calls| {
                calls.iter().any(|call| call.key.as_deref() == Some(&id) && call.client_closed())
            })
            .await;
        assert_eq!(outcome(&api.look_up(&ask).await, 200, &ask), cancelled);
        assert_eq!(outcome(&api.ask(&ask).await, 200, &ask), cancelled, "it never runs again");
        assert_eq!(api.calls(&ask), 1);
    }
}

#[tokio::test]
async fn a_queued_ask_is_cancelled_without_a_call() {
    let api = Api::start().await;
    api.mock.on("first", Script::gated("half ", "go", "whole"));
    let first = Ask::new("first");
    let queued = first.then("queued");
    api.ask(&first).await;
    api.called(&first).await;
    api.ask(&queued).await;
    let cancelled = outcome(&api.cancel(&queued).await, 200, &queued);
    assert_eq!(cancelled["status"], "cancelled");
    api.mock.open("go");
    assert_eq!(api.settled(&first).await["status"], "completed");
    assert_eq!(api.calls(&queued), 0);
}

#[tokio::test]
async fn a_settled_ask_stays_as_it_was() {
    let api = Api::start().await;
    let ask = Ask::new("settled");
    let settled = api.ask_and_settle(&ask).await;
    assert_eq!(outcome(&api.cancel(&ask).await, 200, &ask), settled);
    let cancelled = Ask::new("cancelled twice");
    let once = outcome(&api.cancel(&cancelled).await, 200, &cancelled);
    assert_eq!(outcome(&api.cancel(&cancelled).await, 200, &cancelled), once);
}

#[tokio::test]
async fn an_ask_that_was_cancelled_before_it_arrived_never_runs() {
    let mut api = Api::start().await;
    let bare = Ask::new("cancelled before it arrived");
    let with_question = Ask::new("its question came with the cancel");
    let cancelled = outcome(&api.cancel(&bare).await, 200, &bare);
    assert_eq!((&cancelled["status"], cancelled["question"].as_str()), (&"cancelled".into(), None));
    let request = api.cancelling(&with_question).json(&json!({
        "conversation_id": with_question.conversation(), "ask": with_question.body(),
    }));
    let cancelled = outcome(&request.send().await.unwrap(), 200, &with_question);
    assert_eq!(cancelled["question"], "its question came with the cancel");

    // Durable before the reply.
    api.holdfast.kill().await;
    api.holdfast.restart().await;
    for ask in [&bare, &with_question] {
        let late = outcome(&api.ask(ask).await, 200, ask);
        assert_eq!(late["status"], "cancelled");
        assert_eq!(late["question"], ask.body()["question"]);
        assert_eq!(outcome(&api.look_up(ask).await, 200, ask), late);
    }
    assert!(api.mock.calls().is_empty());
}

#[tokio::test]
async fn a_wrong_cancel_is_refused_and_cancels_nothing() {
    let api = Api::start().await;
    api.mock.otherwise(Script::gated("half ", "go", "whole"));
    let ask = Ask::new("not cancelled");
    api.ask(&ask).await;
    api.called(&ask).await;
    let target = format!("/api/v1/requests/{}/cancel", ask.id());
    let other = json!({"conversation_id": new_id()});
    let answer = api.request("POST", &target).json(&other).send().await.unwrap();
    assert_problem(&answer, 422, "request_mismatch");
    for body in [json!({}), json!({"conversation_id": "x"})] {
        let answer = api.request("POST", &target).json(&body).send().await.unwrap();
        assert_problem(&answer, 400, "invalid_conversation_id");
    }
    let answer = api.request("POST", &target).json(&json!([])).send().await.unwrap();
    assert_problem(&answer, 400, "invalid_json");
    let answer = api.request("POST", &target).header("Content-Type", "text/plain").body("{}");
    assert_problem(&answer.send().await.unwrap(), 415, "unsupported_media_type");
    let upper = format!("/api/v1/requests/{}/cancel", ask.id().to_uppercase());
    let body = json!({"conversation_id": ask.conversation()});
    let answer = api.request("POST", &upper).json(&body).send().await.unwrap();
    assert_problem(&answer, 400, "invalid_request_id");
    api.mock.open("go");
    assert_eq!(api.settled(&ask).await["status"], "completed");
}
