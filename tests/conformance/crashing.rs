//! Invariants 3 and 5: what was accepted outlives a crash, and ends honestly.

use std::time::Duration;

use holdfast_tests::mock::{Script, Step};

use crate::support::{Api, Ask, outcome};

#[tokio::test]
async fn an_ask_in_mid_answer_is_interrupted_by_a_crash_and_keeps_its_partial_text() {
    let mut api = Api::start().await;
    api.mock.on("will be cut", Script::new().words("the first words ").then(Step::Hang));
    let ask = Ask::new("this will be cut");
    api.ask(&ask).await;
    api.outcome_when(&ask, "begun", |outcome| outcome["answer"]["text"] == "the first words ")
        .await;
    // What a watcher sees is journalled a moment later; nothing outside shows when.
    tokio::time::sleep(Duration::from_secs(1)).await;
    api.holdfast.kill().await;
    api.holdfast.restart().await;

    let interrupted = outcome(&api.look_up(&ask).await, 200, &ask);
    assert_eq!(interrupted["status"], "interrupted", "at once, not after a time-out");
    assert_eq!(interrupted["answer"]["text"], "the first words ");
    assert_eq!(interrupted["error"]["code"], "server_restarted");
    assert!(interrupted["error"]["message"].as_str().is_some_and(|text| !text.is_empty()));
    assert!(interrupted["settled_at"].is_string());
    assert_eq!(interrupted["receipt"]["provider_calls"], 1, "it may have been billed");
    assert_eq!(outcome(&api.ask(&ask).await, 200, &ask), interrupted, "never silently repeated");
    assert_eq!(api.calls(&ask), 1);

    // What is asked next goes on from there.
    let next = ask.then("and on");
    api.ask_and_settle(&next).await;
    let told = api.mock.calls_of(next.id())[0].messages();
    let told: Vec<_> = told.iter().map(|(_, text)| text.as_str()).collect();
    let at = told.iter().position(|text| *text == "this will be cut");
    let answer = at.and_then(|at| told.get(at + 1));
    assert!(answer.is_some_and(|text| text.starts_with("the first words ")), "{told:?}");
}

#[tokio::test]
async fn an_ask_that_waits_for_its_first_word_is_interrupted_too() {
    let mut api = Api::start().await;
    api.mock.on("silent", Script::hang());
    let ask = Ask::new("a silent one");
    api.ask(&ask).await;
    api.called(&ask).await;
    api.holdfast.kill().await;
    api.holdfast.restart().await;
    let interrupted = outcome(&api.look_up(&ask).await, 200, &ask);
    assert_eq!(interrupted["status"], "interrupted");
    assert_eq!(interrupted["answer"]["text"].as_str().unwrap_or_default(), "");
    assert_eq!(api.calls(&ask), 1);
}

#[tokio::test]
async fn queued_asks_run_after_a_crash_and_nothing_is_called_twice() {
    let mut api = Api::start().await;
    api.mock.on("will hang", Script::hang());
    let hanging = Ask::new("this will hang");
    let second = hanging.then("second");
    let third = hanging.then("third");
    let settled = Ask::new("settled before");
    let before = api.ask_and_settle(&settled).await;
    for ask in [&hanging, &second, &third] {
        api.ask(ask).await;
    }
    api.called(&hanging).await;
    api.holdfast.kill().await;
    assert_eq!((api.calls(&second), api.calls(&third)), (0, 0));
    api.holdfast.restart().await;

    assert_eq!(api.settled(&third).await["status"], "completed");
    let turns = api.conversation(hanging.conversation()).await.json()["turns"].clone();
    let turns: Vec<_> = turns
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| (turn["seq"].as_u64().unwrap(), turn["status"].as_str().unwrap().to_owned()))
        .collect();
    let expected = [(1, "interrupted"), (2, "completed"), (3, "completed")];
    assert_eq!(turns, expected.map(|(seq, status)| (seq, status.to_owned())));
    assert_eq!(outcome(&api.look_up(&settled).await, 200, &settled), before);
    for ask in [&hanging, &second, &third, &settled] {
        assert_eq!(api.calls(ask), 1);
    }
}

#[tokio::test]
async fn whatever_was_accepted_is_known_after_a_crash_at_any_instant() {
    let mut api = Api::start().await;
    api.mock.otherwise(Script::counted(5, Duration::from_millis(2)));
    let mut accepted = Vec::new();
    for round in 0..8 {
        let asks: Vec<Ask> = (0..6).map(|_| Ask::new("one of many")).collect();
        let replies: Vec<_> = asks
            .iter()
            .map(|ask| {
                let request = api.asking(ask);
                tokio::spawn(async move { request.send().await })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(round * 4)).await;
        api.holdfast.kill().await;
        for (ask, reply) in asks.into_iter().zip(replies) {
            let said = reply.await.unwrap().is_ok_and(|answer| answer.status() < 300);
            accepted.push((ask, said));
        }
        api.holdfast.restart().await;
    }
    let mut said = 0;
    for (ask, was_said) in &accepted {
        let answer = api.look_up(ask).await;
        let known = answer.json()["state"] != "unknown";
        assert!(known || !was_said, "accepted and then not known: {}", answer.text());
        if known {
            let settled = api.settled(ask).await;
            let status = settled["status"].as_str().unwrap();
            assert!(["completed", "interrupted"].contains(&status), "{settled}");
        } else {
            assert_eq!(api.calls(ask), 0, "called without having been journalled");
        }
        assert!(api.calls(ask) <= 1, "called twice");
        said += usize::from(*was_said);
    }
    assert!(said > 0 && said < accepted.len(), "the crashes fell between: {said}");
}
