//! `POST api/v1/requests/{request_id}/cancel`.

use serde_json::json;

use crate::support::{ask, ask_in, id, spawn};

#[tokio::test(start_paused = true)]
async fn a_running_ask_is_hung_up_on_and_keeps_its_text() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    held.say("half an ans");
    server.look_up(&body, 1).await.outcome(202, "pending");
    let (waiting, cancelled, ()) =
        tokio::join!(server.look_up(&body, 25), server.cancel(&body), held.hung_up());
    let outcome = cancelled.outcome(200, "cancelled");
    assert_eq!(cancelled.header("preference-applied"), None);
    assert_eq!(outcome["answer"]["text"], "half an ans");
    assert_eq!(outcome["receipt"]["provider_calls"], 1);
    assert!(outcome.get("error").is_none());
    assert_eq!(waiting.outcome(200, "cancelled"), outcome, "whoever watched is told");
    assert_eq!(server.ask(&body, 0).await.outcome(200, "cancelled"), outcome);
    assert_eq!(server.cancel(&body).await.outcome(200, "cancelled"), outcome);
    assert_eq!(server.provider.calls_of(&id(1)), 1);
}

#[tokio::test(start_paused = true)]
async fn a_settled_ask_stays_as_it_is() {
    let server = spawn().await;
    let body = ask(1, "Why?");
    let outcome = server.ask(&body, 20).await.outcome(200, "completed");
    assert_eq!(server.cancel(&body).await.outcome(200, "completed"), outcome);
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_waits_never_runs() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    let waiting = server.ask(&ask(2, "Why?"), 0).await.outcome(202, "pending");
    assert_eq!((&waiting["state"], &waiting["queue"]), (&json!("accepted"), &json!(1)));
    let outcome = server.cancel(&ask(2, "Why?")).await.outcome(200, "cancelled");
    assert_eq!(outcome["receipt"]["provider_calls"], 0);
    assert!(outcome.get("answer").is_none());
    assert_eq!(server.provider.calls_of(&id(2)), 0);
}

#[tokio::test(start_paused = true)]
async fn what_was_never_heard_of_is_cancelled_before_it_arrives() {
    let server = spawn().await;
    let body = ask(1, "Why?");
    let outcome = server.cancel(&body).await.outcome(200, "cancelled");
    assert!(outcome.get("question").is_none() && outcome.get("seq").is_none());
    assert_eq!(outcome["receipt"]["provider_calls"], 0);
    assert_eq!(server.look_up(&body, 0).await.outcome(200, "cancelled"), outcome);
    assert_eq!(server.cancel(&body).await.outcome(200, "cancelled"), outcome);

    let server = server.crash().await;
    assert_eq!(server.look_up(&body, 0).await.outcome(200, "cancelled"), outcome, "durable");
    server.ask(&ask_in(2, 1, "Why?"), 0).await.problem(422, "request_mismatch");
    let arrived = server.ask(&body, 20).await.outcome(200, "cancelled");
    assert_eq!((&arrived["question"], &arrived["seq"]), (&json!("Why?"), &json!(1)));
    assert_eq!(arrived["receipt"], outcome["receipt"]);
    assert_eq!(server.ask(&body, 0).await.outcome(200, "cancelled"), arrived);
    server.ask(&ask(1, "Why not?"), 0).await.problem(422, "request_mismatch");
    assert!(server.provider.calls().is_empty());
    assert_eq!(server.conversation(&body).await["turns"], json!([arrived]));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_may_bring_its_question_along() {
    let server = spawn().await;
    let body = ask(1, "Why?");
    let cancel = json!({"conversation_id": body["conversation_id"], "ask": body});
    let path = format!("/api/v1/requests/{}/cancel", id(1));
    let outcome = server.post(&path, &cancel).await.outcome(200, "cancelled");
    assert_eq!((&outcome["question"], &outcome["seq"]), (&json!("Why?"), &json!(1)));
    assert_eq!(server.ask(&body, 0).await.outcome(200, "cancelled"), outcome);
    assert!(server.provider.calls().is_empty());
    let other = ask(2, "Why?");
    let cancel = json!({"conversation_id": other["conversation_id"], "ask": other});
    server.post(&path, &cancel).await.problem(400, "invalid_field");
}

#[tokio::test(start_paused = true)]
async fn another_conversation_cannot_cancel_it() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask_in(2, 2, "Why?"), 20).await.outcome(200, "completed");
    server.cancel(&ask_in(9, 1, "")).await.problem(422, "request_mismatch");
    server.cancel(&ask_in(9, 2, "")).await.problem(422, "request_mismatch");
    let running = server.look_up(&ask(1, ""), 0).await.outcome(202, "pending");
    assert_eq!(running["state"], "running");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_and_its_ask_at_the_same_moment_agree() {
    // Whoever comes first, there is one outcome, and what was cancelled first never runs.
    for cancel_first in [true, false] {
        let server = spawn().await;
        let body = ask(1, "hold");
        let (asked, cancelled) = if cancel_first {
            let (cancelled, asked) = tokio::join!(server.cancel(&body), server.ask(&body, 20));
            (asked, cancelled)
        } else {
            tokio::join!(server.ask(&body, 20), server.cancel(&body))
        };
        let outcome = cancelled.outcome(200, "cancelled");
        assert_eq!(asked.outcome(200, "cancelled")["settled_at"], outcome["settled_at"]);
        assert!(server.provider.calls_of(&id(1)) <= usize::from(!cancel_first));
        let settled = server.look_up(&body, 0).await.outcome(200, "cancelled");
        assert_eq!(settled["question"], "hold", "it arrived, be it at the same moment");
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_ask_sees_the_text_of_the_cancelled_one() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    held.say("half");
    server.look_up(&ask(1, ""), 1).await.outcome(202, "pending");
    let (first, second) = (ask(1, ""), ask(2, "Next?"));
    let (_, next) = tokio::join!(server.cancel(&first), server.ask(&second, 20));
    let next = next.outcome(200, "completed");
    assert_eq!(next["context"], json!([{"kind": "turn", "id": id(1)}]));
    let messages = &server.provider.calls()[1].messages;
    assert!(messages.iter().any(|message| message.content.starts_with("half\n")));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_is_checked_like_an_ask() {
    let server = spawn().await;
    let path = "/api/v1/requests/X/cancel";
    let body = json!({"conversation_id": id(1)});
    server.post(path, &body).await.problem(400, "invalid_request_id");
    let path = format!("/api/v1/requests/{}/cancel", id(1));
    server.post(&path, &json!({})).await.problem(400, "invalid_conversation_id");
    server.post(&path, &json!([])).await.problem(400, "invalid_json");
}
