//! Going down.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use crate::support::{ask, ask_in, id, spawn};

#[tokio::test(start_paused = true)]
async fn running_answers_may_end_while_new_questions_are_refused() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    let started = tokio::time::Instant::now();
    let (unarchived, ()) = tokio::join!(server.app.drain(sleep(Duration::from_secs(30))), async {
        tokio::task::yield_now().await;
        let refused = server.ask(&ask_in(2, 2, "New?"), 0).await;
        refused.problem(503, "shutting_down");
        server.ask(&body, 0).await.outcome(202, "pending");
        server.look_up(&body, 1).await.outcome(202, "pending");
        held.end_with("whole");
    });
    assert_eq!((unarchived, started.elapsed().as_secs()), (0, 1));
    server.look_up(&body, 0).await.outcome(200, "completed");
    let unknown = server.look_up(&ask_in(2, 2, ""), 0).await.outcome(202, "pending");
    assert_eq!(unknown["state"], "unknown");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_is_interrupted_and_what_waits_stays_accepted() {
    let server = spawn().await;
    let next = ask(2, "Next?");
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.ask(&next, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    held.say("half");
    let started = tokio::time::Instant::now();
    let (unarchived, waiting) =
        tokio::join!(server.app.drain(sleep(Duration::from_secs(3))), server.look_up(&next, 25));
    held.hung_up().await;
    assert_eq!((unarchived, started.elapsed().as_secs()), (0, 3));
    let outcome = server.look_up(&ask(1, ""), 0).await.outcome(200, "interrupted");
    assert_eq!(outcome["answer"]["text"], "half");
    assert_eq!(outcome["error"]["code"], "server_restarted");
    assert_eq!(outcome["receipt"]["provider_calls"], 1);
    assert_eq!(waiting.outcome(202, "pending")["state"], "accepted", "nobody is kept waiting");
    assert_eq!(server.provider.calls_of(&id(2)), 0);

    let server = server.crash().await;
    server.look_up(&ask(2, ""), 20).await.outcome(200, "completed");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_is_heard_until_the_end() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask(2, "Next?"), 0).await.outcome(202, "pending");
    server.provider.held().await;
    let (_, (running, waiting)) =
        tokio::join!(server.app.drain(sleep(Duration::from_secs(30))), async {
            tokio::task::yield_now().await;
            let waiting = server.cancel(&ask(2, "")).await;
            (server.cancel(&ask(1, "")).await, waiting)
        });
    running.outcome(200, "cancelled");
    let waiting = waiting.outcome(200, "cancelled");
    assert_eq!(waiting["receipt"]["provider_calls"], json!(0));
}

#[tokio::test(start_paused = true)]
async fn answers_that_could_not_be_archived_are_counted() {
    use std::sync::atomic::Ordering;
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    server.journal.no_writes.store(true, Ordering::Relaxed);
    held.end_with("whole");
    let unarchived = server.app.drain(sleep(Duration::from_secs(3))).await;
    assert_eq!(unarchived, 1);
}
