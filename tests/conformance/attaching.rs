//! § 2, known ids: the same ask again is the same run, another payload is a mismatch.

use holdfast_tests::mock::Script;
use serde_json::json;

use crate::support::{Api, Ask, assert_problem, new_id, outcome};

#[tokio::test]
async fn the_same_ask_again_attaches_to_its_run_and_then_to_its_outcome() {
    let api = Api::start().await;
    api.mock.otherwise(Script::gated("half ", "go", "whole"));
    let ask = Ask::new("submitted three times");
    outcome(&api.ask(&ask).await, 202, &ask);
    api.called(&ask).await;
    outcome(&api.ask(&ask).await, 202, &ask);
    let waiting = api.asking(&ask).header("Prefer", "wait=20");
    let waiting = tokio::spawn(async move { waiting.send().await });
    api.outcome_when(&ask, "submitted three times", |outcome| {
        outcome["receipt"].is_null() || outcome["receipt"]["submissions"] == 3
    })
    .await;
    api.mock.open("go");
    let attached = outcome(&waiting.await.unwrap().unwrap(), 200, &ask);
    assert_eq!(attached["answer"]["text"], "half whole");
    assert_eq!(outcome(&api.ask(&ask).await, 200, &ask), attached);
    assert_eq!(api.calls(&ask), 1);
}

#[tokio::test]
async fn many_submissions_at_once_are_one_run() {
    let api = Api::start().await;
    let ask = Ask::new("twenty at once");
    let submissions: Vec<_> = (0..20)
        .map(|_| {
            let request = api.asking(&ask).header("Prefer", "wait=20");
            tokio::spawn(async move { request.send().await })
        })
        .collect();
    for submission in submissions {
        let answer = submission.await.unwrap().unwrap();
        assert_eq!(outcome(&answer, 200, &ask)["status"], "completed");
    }
    assert_eq!(api.calls(&ask), 1);
    let turns = api.conversation(ask.conversation()).await.json()["turns"].clone();
    assert_eq!(turns.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn each_field_of_the_fingerprint_makes_a_mismatch_and_the_language_does_not() {
    let api = Api::start().await;
    let first = Ask::new("first");
    api.ask_and_settle(&first).await;
    let ask = first.then("the question").with("current", false).with("language", "en");
    let settled = api.ask_and_settle(&ask).await;
    for changed in [
        ask.clone().with("question", "the Question"),
        ask.clone().with("conversation_id", new_id()),
        ask.clone().with("current", true),
        // “As sent and before defaults”: leaving a default out is another payload.
        ask.clone().without("current"),
        ask.clone().with("remember", false),
        ask.clone().with("remember", true),
        ask.clone().with("model", "mock"),
        ask.clone().with("retry_of", first.id()),
    ] {
        assert_problem(&api.ask(&changed).await, 422, "request_mismatch");
    }
    for same in [
        ask.clone(),
        ask.clone().with("language", "de"),
        ask.clone().without("language"),
        ask.clone().with("unknown", json!(1)),
    ] {
        assert_eq!(outcome(&api.ask(&same).await, 200, &ask), settled);
    }
    assert_eq!(api.calls(&ask), 1);
    let unchanged = api.look_up(&ask).await;
    assert_eq!(outcome(&unchanged, 200, &ask), settled);
}

#[tokio::test]
async fn the_same_text_under_another_id_is_another_ask() {
    let api = Api::start().await;
    let ask = Ask::new("ok");
    let again = ask.then("ok");
    api.ask_and_settle(&ask).await;
    assert_eq!(api.ask_and_settle(&again).await["seq"], 2);
    assert_eq!((api.calls(&ask), api.calls(&again)), (1, 1));
}
