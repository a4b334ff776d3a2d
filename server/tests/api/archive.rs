//! An archive that fails.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::support::{ask, ask_in, id, spawn};

#[tokio::test(start_paused = true)]
async fn nothing_is_promised_that_cannot_be_kept() {
    let server = spawn().await;
    let body = ask(1, "Why?");
    server.journal.no_writes.store(true, Ordering::Relaxed);
    let problem = server.ask(&body, 20).await.problem(503, "archive_unavailable");
    assert!(!problem.to_string().contains("secret"), "causes stay here: {problem}");
    assert!(server.provider.calls().is_empty());
    server.cancel(&ask_in(2, 2, "")).await.problem(503, "archive_unavailable");
    let unknown = server.look_up(&body, 0).await.outcome(202, "pending");
    assert_eq!(unknown["state"], "unknown");
    server.journal.no_writes.store(false, Ordering::Relaxed);
    server.ask(&body, 20).await.outcome(200, "completed");
    assert_eq!(server.provider.calls_of(&id(1)), 1);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_not_guessed() {
    let server = spawn().await;
    let body = ask(1, "Why?");
    server.ask(&body, 20).await.outcome(200, "completed");
    server.journal.no_reads.store(true, Ordering::Relaxed);
    server.look_up(&body, 0).await.problem(503, "archive_unavailable");
    server.ask(&body, 0).await.problem(503, "archive_unavailable");
    server.ask(&ask(2, "New?"), 0).await.problem(503, "archive_unavailable");
    assert_eq!(server.provider.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_known_ask_attaches_whatever_the_weather() {
    let server = spawn().await;
    let (settled, live) = (ask(1, "Why?"), ask_in(2, 2, "hold"));
    server.ask(&settled, 20).await.outcome(200, "completed");
    server.ask(&live, 0).await.outcome(202, "pending");
    server.journal.no_writes.store(true, Ordering::Relaxed);
    server.ask(&settled, 0).await.outcome(200, "completed");
    server.ask(&live, 0).await.outcome(202, "pending");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_archived_is_shown_whole_and_settles_when_it_can() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    server.ask(&ask(2, "Next?"), 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    server.journal.no_writes.store(true, Ordering::Relaxed);
    held.end_with("whole");
    let outcome = server.look_up(&body, 25).await.outcome(202, "pending");
    assert_eq!(outcome["state"], "archiving");
    assert_eq!(outcome["answer"]["text"], "whole");
    assert!(outcome.get("settled_at").is_none() && outcome.get("receipt").is_none());
    let next = server.look_up(&ask(2, ""), 0).await.outcome(202, "pending");
    assert_eq!(next["state"], "accepted", "it is to see the first one settled");
    server.journal.no_writes.store(false, Ordering::Relaxed);
    let outcome = server.look_up(&body, 25).await.outcome(200, "completed");
    assert_eq!(outcome["answer"]["text"], "whole");
    server.look_up(&ask(2, ""), 25).await.outcome(200, "completed");
    assert_eq!(server.provider.calls_of(&id(1)), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_never_archived_comes_back_as_interrupted() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    held.say("half");
    server.look_up(&body, 1).await.outcome(202, "pending");
    server.journal.no_writes.store(true, Ordering::Relaxed);
    held.end_with(" and half");
    server.look_up(&body, 1).await.outcome(202, "pending");
    let server = server.crash().await;
    let outcome = server.look_up(&body, 0).await.outcome(200, "interrupted");
    assert_eq!(outcome["answer"]["text"], "half", "shorter than what was shown, and honest");
}

#[tokio::test(start_paused = true)]
async fn a_settlement_that_succeeded_unseen_is_the_one_that_counts() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    server.journal.lies_about_settling.store(true, Ordering::Relaxed);
    held.end_with("whole");
    let outcome = server.look_up(&body, 25).await.outcome(200, "completed");
    let server = server.crash().await;
    assert_eq!(server.look_up(&body, 0).await.outcome(200, "completed"), outcome);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_cannot_be_archived_is_answered_all_the_same() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    server.journal.no_writes.store(true, Ordering::Relaxed);
    let (reply, ()) = tokio::join!(server.cancel(&body), held.hung_up());
    assert_eq!(reply.outcome(202, "pending")["state"], "archiving");
    server.journal.no_writes.store(false, Ordering::Relaxed);
    server.look_up(&body, 25).await.outcome(200, "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_hangs_is_no_exchange_without_an_end() {
    let server = spawn().await;
    server.journal.hangs.store(true, Ordering::Relaxed);
    let most = Duration::from_secs(25);
    let started = tokio::time::Instant::now();
    // The second waits behind the first, and claims the id anew when that is refused.
    let body = ask(1, "Why?");
    let (first, second) = tokio::join!(server.ask(&body, 25), async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        let started = tokio::time::Instant::now();
        server.ask(&body, 25).await.problem(503, "archive_unavailable");
        started.elapsed()
    });
    first.problem(503, "archive_unavailable");
    assert!(second <= most, "{second:?}");
    assert!(started.elapsed() <= most + Duration::from_secs(3));
    let started = tokio::time::Instant::now();
    server.look_up(&ask_in(2, 2, ""), 25).await.problem(503, "archive_unavailable");
    assert!(started.elapsed() <= most);
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_an_id_is_admitted_does_not_keep_the_id() {
    let server = spawn().await;
    server.journal.panics.store(true, Ordering::Relaxed);
    server.ask(&ask(1, "Why?"), 20).await.problem(500, "internal");
    server.cancel(&ask_in(2, 2, "")).await.problem(500, "internal");
    server.journal.panics.store(false, Ordering::Relaxed);
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    server.cancel(&ask_in(2, 2, "")).await.outcome(200, "cancelled");
}
