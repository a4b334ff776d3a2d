//! § 12, SIGTERM: no new asks; lookups and cancels go on; what runs gets its time.

use holdfast_tests::mock::Script;

use crate::support::{Api, Ask, assert_problem, outcome};

#[tokio::test]
async fn a_stopping_server_takes_no_new_asks_and_finishes_those_it_has() {
    let mut api = Api::start().await;
    api.mock.on("running", Script::gated("half ", "go", "whole"));
    let running = Ask::new("running");
    let queued = running.then("queued");
    let hanging = Ask::new("hanging");
    api.mock.on("hanging", Script::hang());
    for ask in [&running, &queued, &hanging] {
        api.ask(ask).await;
    }
    api.called(&running).await;
    api.called(&hanging).await;
    api.holdfast.terminate();

    let late = Ask::new("too late");
    let refused = loop {
        // Until the signal has arrived it is accepted like any other; then never again.
        let answer = api.ask(&Ask::new("is it going down?")).await;
        if answer.status() == 503 {
            break api.ask(&late).await;
        }
    };
    assert_problem(&refused, 503, "shutting_down");
    outcome(&api.ask(&running).await, 202, &running);
    assert_eq!(outcome(&api.look_up(&queued).await, 202, &queued)["state"], "accepted");
    assert_eq!(outcome(&api.cancel(&hanging).await, 200, &hanging)["status"], "cancelled");
    let waiting = api.looking_up(&running).header("Prefer", "wait=20");
    let waiting = tokio::spawn(async move { waiting.send().await });
    api.mock.open("go");
    let settled = outcome(&waiting.await.unwrap().unwrap(), 200, &running);
    assert_eq!(settled["answer"]["text"], "half whole");
    assert_eq!(api.holdfast.ended().await.code(), Some(0));

    api.holdfast.restart().await;
    assert_eq!(outcome(&api.look_up(&running).await, 200, &running), settled);
    assert_eq!(api.look_up(&late).await.json()["state"], "unknown");
    assert_eq!(api.settled(&queued).await["status"], "completed", "a queued one stays accepted");
    for ask in [&running, &queued, &hanging] {
        assert_eq!(api.calls(ask), 1);
    }
    assert_eq!(api.calls(&late), 0);
}

#[tokio::test]
async fn what_runs_longer_than_the_drain_is_interrupted() {
    let mut api = Api::start_with(|start| start.argument("--drain", "1")).await;
    api.mock.on("hanging", Script::new().delta("half").then(holdfast_tests::mock::Step::Hang));
    let ask = Ask::new("hanging");
    api.ask(&ask).await;
    api.outcome_when(&ask, "begun", |outcome| outcome["answer"]["text"] == "half").await;
    api.holdfast.terminate();
    assert_eq!(api.holdfast.ended().await.code(), Some(0));
    api.holdfast.restart().await;
    let interrupted = outcome(&api.look_up(&ask).await, 200, &ask);
    assert_eq!(interrupted["status"], "interrupted");
    assert_eq!(interrupted["answer"]["text"], "half");
    assert_eq!(api.calls(&ask), 1);
}
