//! § 2: the asks of a conversation run one after another, conversations side by side.

use holdfast_tests::mock::Script;

use crate::support::{Api, Ask, outcome};

#[tokio::test]
async fn asks_of_one_conversation_run_in_order_and_see_those_before_them() {
    let api = Api::start().await;
    api.mock.on("first question", Script::gated("first ", "go", "answer"));
    api.mock.on("second question", Script::answer("second answer"));
    let first = Ask::new("first question");
    let second = first.then("second question");
    let third = first.then("third question");
    outcome(&api.ask(&first).await, 202, &first);
    api.called(&first).await;
    let queued = outcome(&api.ask(&second).await, 202, &second);
    assert_eq!((&queued["state"], &queued["queue"]), (&"accepted".into(), &1.into()));
    assert_eq!(queued["seq"], 2);
    let queued = outcome(&api.ask(&third).await, 202, &third);
    assert_eq!((&queued["state"], &queued["queue"]), (&"accepted".into(), &2.into()));
    assert_eq!((api.calls(&second), api.calls(&third)), (0, 0));

    api.mock.open("go");
    assert_eq!(api.settled(&third).await["status"], "completed");
    let calls = api.mock.calls();
    let order: Vec<_> = calls.iter().map(|call| call.question.as_str()).collect();
    assert_eq!(order, ["first question", "second question", "third question"]);
    let spoken: Vec<_> = calls[2]
        .messages()
        .into_iter()
        .filter(|(role, _)| role != "system")
        .map(|(role, text)| format!("{role}: {text}"))
        .collect();
    assert_eq!(
        spoken,
        [
            "user: first question",
            "assistant: first answer",
            "user: second question",
            "assistant: second answer",
            "user: third question",
        ]
    );
    for ask in [&first, &second, &third] {
        assert_eq!(api.calls(ask), 1);
    }
}

#[tokio::test]
async fn conversations_run_side_by_side() {
    let api = Api::start().await;
    api.mock.on("held", Script::gated("half ", "go", "whole"));
    let held = Ask::new("a held one");
    api.ask(&held).await;
    api.called(&held).await;
    let other = Ask::new("another conversation");
    assert_eq!(api.ask_and_settle(&other).await["status"], "completed");
    assert_eq!(api.look_up(&held).await.json()["status"], "pending");
    let call = &api.mock.calls_of(other.id())[0];
    assert!(call.messages().iter().all(|(_, text)| !text.contains("held")), "nothing leaks");
    api.mock.open("go");
    assert_eq!(api.settled(&held).await["answer"]["text"], "half whole");
}

#[tokio::test]
async fn an_ask_after_one_that_failed_or_was_cancelled_still_runs() {
    let api = Api::start().await;
    api.mock.on("will fail", Script::refuse(500, "no"));
    api.mock.on("will hang", Script::hang());
    let failing = Ask::new("this will fail");
    let hanging = failing.then("this will hang");
    let last = failing.then("and this one?");
    for ask in [&failing, &hanging, &last] {
        api.ask(ask).await;
    }
    assert_eq!(api.settled(&failing).await["status"], "failed");
    api.called(&hanging).await;
    api.cancel(&hanging).await;
    assert_eq!(api.settled(&last).await["status"], "completed");
    let turns = api.conversation(failing.conversation()).await.json();
    let statuses: Vec<_> = turns["turns"].as_array().unwrap().iter().collect();
    let statuses: Vec<_> = statuses.iter().map(|turn| turn["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["failed", "cancelled", "completed"]);
}
