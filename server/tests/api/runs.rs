//! One run an ask, one ask at a time in a conversation, and how runs end.

use std::sync::atomic::Ordering;

use holdfast_protocol::FailureCode;
use serde_json::{Value, json};

use crate::support::{Held, Spawned, ask, ask_in, error, id, spawn};

#[tokio::test(start_paused = true)]
async fn asks_of_a_conversation_run_one_after_another_each_seeing_those_before() {
    let server = spawn().await;
    for number in 1..=3 {
        let outcome = server.ask(&ask(number, &format!("hold {number}")), 0).await;
        let outcome = outcome.outcome(202, "pending");
        assert_eq!(outcome["seq"], json!(number));
        if number > 1 {
            assert_eq!(
                (&outcome["state"], &outcome["queue"]),
                (&json!("accepted"), &json!(number - 1))
            );
        }
    }
    for number in 1..=3_u128 {
        let held = server.provider.held().await;
        assert_eq!(server.provider.calls().len() as u128, number, "the next one waits");
        held.end_with(&format!("answer {number}"));
        server.look_up(&ask(number, ""), 5).await.outcome(200, "completed");
    }
    let outcome = server.look_up(&ask(3, ""), 0).await.outcome(200, "completed");
    let turn = |number| json!({"kind": "turn", "id": id(number)});
    assert_eq!(outcome["context"], json!([turn(1), turn(2)]));
    let call = &server.provider.calls()[2];
    let contents: Vec<_> = call.messages.iter().skip(1).map(|m| m.content.as_str()).collect();
    assert_eq!(contents, ["hold 1", "answer 1", "hold 2", "answer 2", "hold 3"]);
}

#[tokio::test(start_paused = true)]
async fn eight_conversations_run_side_by_side_and_the_ninth_waits_its_turn() {
    for in_process in [false, true] {
        let server = spawn().await;
        if in_process {
            server.provider.be_in_process();
        }
        let mut held = nine_of_which_eight_run(&server).await;
        held.pop().unwrap().end_with("done");
        held.push(server.provider.held().await);
        let ninth = server.look_up(&ask_in(9, 9, ""), 0).await.outcome(202, "pending");
        assert_eq!(ninth["state"], "running");
    }
}

#[tokio::test(start_paused = true)]
async fn the_ninth_does_not_wait_for_the_archive() {
    let server = spawn().await;
    server.provider.be_in_process();
    let mut held = nine_of_which_eight_run(&server).await;
    server.journal.no_writes.store(true, Ordering::Relaxed);
    held.pop().unwrap().end_with("done");
    held.push(server.provider.held().await);
}

#[tokio::test(start_paused = true)]
async fn a_ninth_that_waits_can_be_cancelled() {
    let server = spawn().await;
    server.provider.be_in_process();
    let _held = nine_of_which_eight_run(&server).await;
    server.cancel(&ask_in(9, 9, "")).await.outcome(200, "cancelled");
    assert_eq!(server.provider.calls().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn whatever_is_in_process_runs_after_a_crash_and_the_ninth_waits_again() {
    let server = spawn().await;
    server.provider.be_in_process();
    let held = nine_of_which_eight_run(&server).await;
    let server = server.crash().await;
    drop(held);
    for _ in 0..9 {
        server.provider.held().await.end_with("done");
    }
    for number in 1..=9 {
        server.look_up(&ask_in(number, number, ""), 5).await.outcome(200, "completed");
    }
}

/// Nine asks in as many conversations, and the calls that are under way.
async fn nine_of_which_eight_run(server: &Spawned) -> Vec<Held> {
    for number in 1..=9 {
        server.ask(&ask_in(number, number, "hold"), 0).await.outcome(202, "pending");
    }
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(server.provider.held().await);
    }
    let ninth = server.look_up(&ask_in(9, 9, ""), 5).await.outcome(202, "pending");
    assert_eq!((&ninth["state"], &ninth["queue"]), (&json!("accepted"), &json!(0)));
    held
}

#[tokio::test(start_paused = true)]
async fn a_failure_keeps_the_text_and_says_what_was_spent() {
    let server = spawn().await;
    for (number, code, called, text) in [
        (1, FailureCode::ProviderFailed, true, Some("half")),
        (2, FailureCode::ProviderUnreachable, false, None),
        (3, FailureCode::ProviderRejected, true, None),
    ] {
        let body = ask_in(number, number, "hold");
        server.ask(&body, 0).await.outcome(202, "pending");
        let held = server.provider.held().await;
        if let Some(text) = text {
            held.say(text);
        }
        held.fail(error(code, called));
        let outcome = server.look_up(&body, 5).await.outcome(200, "failed");
        let failure = json!({
            "code": code, "message": "The model server said no.", "retryable": true,
        });
        assert_eq!(outcome["error"], failure);
        assert_eq!(outcome["receipt"]["provider_calls"], u32::from(called));
        assert_eq!(outcome["answer"].get("text").and_then(Value::as_str), text);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_nothing_is_a_failure() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    held.say(" \n");
    held.end();
    let outcome = server.look_up(&ask(1, ""), 5).await.outcome(200, "failed");
    assert_eq!(outcome["error"]["code"], "provider_empty");
    assert_eq!(outcome["receipt"]["output_tokens"], 11, "what was counted is kept");
}

#[tokio::test(start_paused = true)]
async fn an_endless_answer_is_hung_up_on() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    for _ in 0..3 {
        held.say(&"x".repeat(1_000_000));
    }
    held.hung_up().await;
    let outcome = server.look_up(&ask(1, ""), 5).await.outcome(200, "failed");
    assert_eq!(outcome["error"]["code"], "answer_too_large");
    assert_eq!(outcome["answer"]["bytes"], 2_000_000);
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_ours_ends_the_ask_and_not_the_conversation() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask(2, "Next?"), 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    held.say("half");
    held.panic();
    let outcome = server.look_up(&ask(1, ""), 5).await.outcome(200, "failed");
    assert_eq!(outcome["error"]["code"], "internal");
    assert_eq!(outcome["answer"]["text"], "half");
    assert_eq!(outcome["receipt"]["provider_calls"], 1);
    server.look_up(&ask(2, ""), 5).await.outcome(200, "completed");
}

#[tokio::test(start_paused = true)]
async fn an_in_process_provider_is_no_provider_call() {
    let server = spawn().await;
    server.provider.be_in_process();
    let outcome = server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    assert_eq!(outcome["receipt"]["provider_calls"], 0);
    assert_eq!(outcome["receipt"]["provider"], "scripted");
}
