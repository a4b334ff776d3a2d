//! § 2, `retry_of`: asking again on purpose, once.

use holdfast_tests::mock::Script;

use crate::support::{Api, Ask, assert_problem, new_id, outcome};

#[tokio::test]
async fn a_settled_ask_is_repeated_on_purpose_and_only_once() {
    let api = Api::start().await;
    api.mock.next(Script::refuse(500, "no"));
    let first = Ask::new("the question");
    assert_eq!(api.ask_and_settle(&first).await["status"], "failed");
    let again = first.then("the question").with("retry_of", first.id());
    let settled = api.ask_and_settle(&again).await;
    assert_eq!(
        (&settled["status"], settled["retry_of"].as_str()),
        (&"completed".into(), Some(first.id()))
    );
    let before = outcome(&api.look_up(&first).await, 200, &first);
    assert_eq!(before["retried_by"], again.id());
    assert_eq!(before["status"], "failed");

    let third = first.then("the question").with("retry_of", first.id());
    let refused = api.ask(&third).await;
    assert_problem(&refused, 409, "already_retried");
    assert_eq!(refused.json()["request_id"], again.id());
    assert_eq!(api.look_up(&third).await.json()["state"], "unknown");
    outcome(&api.ask(&again).await, 200, &again);
    assert_eq!((api.calls(&first), api.calls(&again), api.calls(&third)), (1, 1, 0));
}

#[tokio::test]
async fn only_an_own_settled_ask_of_the_conversation_can_be_repeated() {
    let api = Api::start().await;
    api.mock.on("running", Script::gated("half ", "go", "whole"));
    let running = Ask::new("running");
    api.ask(&running).await;
    api.called(&running).await;
    let elsewhere = Ask::new("elsewhere");
    api.ask_and_settle(&elsewhere).await;
    let myself = running.then("myself");
    for ask in [
        running.then("of one that runs").with("retry_of", running.id()),
        running.then("of another conversation").with("retry_of", elsewhere.id()),
        running.then("of nothing").with("retry_of", new_id()),
        myself.clone().with("retry_of", myself.id()),
    ] {
        assert_problem(&api.ask(&ask).await, 400, "invalid_retry_of");
        assert_eq!(api.look_up(&ask).await.json()["state"], "unknown");
    }
    api.mock.open("go");
    api.settled(&running).await;
    assert_eq!(api.mock.calls().len(), 2);
}
