//! What a crash leaves, and what the next start makes of it.

use std::time::Duration;

use serde_json::json;

use crate::support::{ask, ask_in, id, spawn};

#[tokio::test(start_paused = true)]
async fn an_ask_that_was_being_called_is_interrupted_with_its_text_and_never_repeated() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    held.say("half an ");
    // Longer than partial text may go without being journalled.
    server.look_up(&body, 1).await.outcome(202, "pending");
    held.say("answer");
    server.look_up(&body, 1).await.outcome(202, "pending");

    let server = server.crash().await;
    let outcome = server.look_up(&body, 0).await.outcome(200, "interrupted");
    assert_eq!(outcome["answer"]["text"], "half an answer");
    assert_eq!(outcome["error"]["code"], "server_restarted");
    assert_eq!(outcome["error"]["retryable"], true);
    let receipt = &outcome["receipt"];
    assert_eq!((&receipt["provider_calls"], &receipt["provider"]), (&json!(1), &json!("scripted")));
    assert_eq!(receipt["submissions"], 2);
    assert_eq!(server.ask(&body, 20).await.outcome(200, "interrupted"), outcome);
    assert!(server.provider.calls().is_empty());
    let server = server.crash().await;
    assert_eq!(server.look_up(&body, 0).await.outcome(200, "interrupted"), outcome);
}

#[tokio::test(start_paused = true)]
async fn asks_that_waited_run_after_the_restart_in_their_order() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask(2, "Second?"), 0).await.outcome(202, "pending");
    server.ask(&ask(3, "Third?"), 0).await.outcome(202, "pending");
    server.provider.held().await;

    let server = server.crash().await;
    server.look_up(&ask(1, ""), 0).await.outcome(200, "interrupted");
    server.look_up(&ask(3, ""), 20).await.outcome(200, "completed");
    let asked: Vec<_> =
        server.provider.calls().iter().map(|call| call.question().to_owned()).collect();
    assert_eq!(asked, ["Second?", "Third?"]);
}

#[tokio::test(start_paused = true)]
async fn an_ask_whose_commit_was_said_to_have_failed_attaches_and_is_not_sent_unasked() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask(2, "Told?"), 0).await.outcome(202, "pending");
    server.ask(&ask(3, "Untold?"), 0).await.outcome(202, "pending");
    server.provider.held().await;
    // As the disk may have it when the process dies between a commit and its confirmation.
    server.file().execute("UPDATE archive SET confirmed = confirmed - 1", ()).unwrap();

    let server = server.crash().await;
    server.look_up(&ask(2, ""), 20).await.outcome(200, "completed");
    let outcome = server.look_up(&ask(3, ""), 20).await.outcome(200, "interrupted");
    assert_eq!(outcome["error"]["code"], "server_restarted");
    assert_eq!(outcome["receipt"]["provider_calls"], 0);
    assert_eq!(server.ask(&ask(3, "Untold?"), 20).await.outcome(200, "interrupted"), outcome);
    assert_eq!(server.provider.calls().len(), 1);
    // A person who was told so may ask it again.
    let mut again = ask(4, "Untold?");
    again["retry_of"] = json!(id(3));
    server.ask(&again, 20).await.outcome(200, "completed");
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_waited_for_more_than_an_hour_is_not_sent() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask(2, "Old?"), 0).await.outcome(202, "pending");
    server.clock.advance(Duration::from_secs(3601));
    server.ask(&ask(3, "New?"), 0).await.outcome(202, "pending");

    let server = server.crash().await;
    let old = server.look_up(&ask(2, ""), 0).await.outcome(200, "interrupted");
    assert_eq!(old["error"]["code"], "server_restarted");
    assert_eq!(old["receipt"]["provider_calls"], 0);
    server.look_up(&ask(3, ""), 20).await.outcome(200, "completed");
    assert_eq!(server.provider.calls_of(&id(2)), 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_cannot_be_billed_runs_again_but_not_for_ever() {
    let server = spawn().await;
    server.provider.be_in_process();
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    server.provider.held().await.say("half");
    server.look_up(&body, 1).await.outcome(202, "pending");
    let mut server = server;
    for _ in 0..2 {
        server = server.crash().await;
        let held = server.provider.held().await;
        let outcome = server.look_up(&body, 0).await.outcome(202, "pending");
        assert!(outcome.get("answer").is_none(), "it begins anew");
        drop(held);
    }
    server = server.crash().await;
    let outcome = server.look_up(&body, 0).await.outcome(200, "failed");
    assert_eq!(outcome["error"]["code"], "internal");
    assert!(server.provider.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_cut_off_once_may_complete_the_next_time() {
    let server = spawn().await;
    server.provider.be_in_process();
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    server.provider.held().await.say("half");
    server.look_up(&body, 1).await.outcome(202, "pending");
    let server = server.crash().await;
    let held = server.provider.held().await;
    held.end_with("whole");
    let outcome = server.look_up(&body, 20).await.outcome(200, "completed");
    assert_eq!(outcome["answer"]["text"], "whole");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_said_before_the_journal_is_classified() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    server.provider.held().await;
    let server = server.crash_unready().await;
    // Its tasks have not been polled yet.
    server.get("/readyz").await.problem(503, "starting");
    let health = server.get("/healthz").await;
    assert_eq!(health.status.as_u16(), 200);
    server.app.ready().await;
    assert_eq!(server.get("/readyz").await.status.as_u16(), 200);
    server.look_up(&body, 0).await.outcome(200, "interrupted");
}

#[tokio::test(start_paused = true)]
async fn an_archive_that_cannot_be_read_yet_is_read_later() {
    use std::sync::atomic::Ordering;
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    server.provider.held().await;
    let server = server.crash_unready().await;
    server.journal.no_writes.store(true, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let starting = server.look_up(&body, 0).await;
    starting.problem(503, "starting");
    assert_eq!(starting.header("retry-after"), Some("1"));
    server.journal.no_writes.store(false, Ordering::Relaxed);
    server.app.ready().await;
    server.look_up(&body, 0).await.outcome(200, "interrupted");
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_a_crash_is_a_new_ask() {
    let server = spawn().await;
    server.ask(&ask_in(1, 1, "hold"), 0).await.outcome(202, "pending");
    server.provider.held().await;
    let server = server.crash().await;
    let mut retry = ask(2, "Why?");
    retry["retry_of"] = json!(id(1));
    let outcome = server.ask(&retry, 20).await.outcome(200, "completed");
    assert_eq!(outcome["retry_of"], id(1));
    assert!(outcome.get("context").is_none(), "what it repeats is not its context");
}
