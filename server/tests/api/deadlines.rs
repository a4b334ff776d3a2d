//! A provider that hangs is given up: at its first byte, in silence, and after an hour.

use std::time::Duration;

use holdfast::clock::{Clock as _, Uptime};
use holdfast::journal::{Accept, Deadlines, Fingerprint, Journal as _, Key, NewAsk, Start, Terms};
use tokio::time::{Instant, sleep};

use crate::support::{Held, Spawned, ask, spawn};

/// Asks, and waits until the provider is being called.
async fn calling(server: &Spawned) -> Held {
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.provider.held().await
}

async fn is_given_up(server: &Spawned, text: &str, said: &str) {
    let outcome = server.look_up(&ask(1, ""), 5).await.outcome(200, "failed");
    assert_eq!(outcome["error"]["code"], "provider_timeout");
    assert_eq!(outcome["error"]["message"], said);
    assert_eq!(outcome["error"]["retryable"], true);
    assert_eq!(outcome["receipt"]["provider_calls"], 1, "it may have been billed");
    assert_eq!(outcome["answer"]["text"].as_str().unwrap_or_default(), text);
}

/// Within so many seconds, and the second that a sweep may be late.
fn took(since: Instant, seconds: u64) {
    let elapsed = since.elapsed().as_secs_f64();
    let expected = Duration::from_secs(seconds).as_secs_f64();
    assert!((expected..expected + 1.5).contains(&elapsed), "{elapsed} s instead of {seconds}");
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_never_begins_is_given_up() {
    let server = spawn().await;
    let started = Instant::now();
    calling(&server).await.hung_up().await;
    took(started, 300);
    is_given_up(&server, "", "The model server did not begin to answer within 5 min.").await;
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_falls_silent_is_given_up_with_its_text_kept() {
    let server = spawn().await;
    let held = calling(&server).await;
    sleep(Duration::from_secs(250)).await;
    held.say("half");
    let fell_silent = Instant::now();
    held.hung_up().await;
    took(fell_silent, 300);
    is_given_up(&server, "half", "The model server fell silent for 5 min in mid answer.").await;
}

#[tokio::test(start_paused = true)]
async fn signs_of_life_alone_do_not_last_for_ever() {
    let server = spawn().await;
    let held = calling(&server).await;
    let started = Instant::now();
    for _ in 0..15 {
        sleep(Duration::from_secs(239)).await;
        held.live();
    }
    held.hung_up().await;
    took(started, 3600);
    is_given_up(&server, "", "The answer was not complete after 60 min.").await;
}

#[tokio::test(start_paused = true)]
async fn a_deadline_passes_while_the_machine_sleeps() {
    let server = spawn().await;
    let held = calling(&server).await;
    held.say("half");
    sleep(Duration::from_secs(2)).await;
    server.clock.sleep(Duration::from_secs(400));
    let woken = Instant::now();
    held.hung_up().await;
    took(woken, 0);
    is_given_up(&server, "half", "The model server fell silent for 5 min in mid answer.").await;
}

#[tokio::test(start_paused = true)]
async fn the_deadlines_stand_in_the_journal_and_move_on_with_each_sign_of_life() {
    let server = spawn().await;
    let begun = server.clock.uptime();
    let held = calling(&server).await;
    let deadlines = async || server.journal.unsettled().await.unwrap()[0].deadlines.unwrap();
    let after = |since: Uptime, seconds| since.after(Duration::from_secs(seconds));
    assert_eq!(deadlines().await, Deadlines { silent: after(begun, 300), run: after(begun, 3600) });
    // Comments alone: there is no text to be journalled with.
    sleep(Duration::from_secs(200)).await;
    held.live();
    let heard = server.clock.uptime();
    sleep(Duration::from_secs(80)).await;
    assert_eq!(deadlines().await, Deadlines { silent: after(heard, 300), run: after(begun, 3600) });
    held.end();
    server.look_up(&ask(1, ""), 5).await.outcome(200, "failed");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_nobody_has_is_ended_by_the_sweep() {
    let server = spawn().await;
    // As a lost task would leave it.
    let lost = Key::new(
        server.journal.local_principal(),
        "00000000-0000-4000-8000-000000000009".parse().unwrap(),
    );
    let accepted = server
        .journal
        .accept(NewAsk {
            key: lost,
            conversation_id: "00000000-0000-4000-8000-000000000008".parse().unwrap(),
            question: "Lost?".to_owned(),
            terms: Terms::default(),
            retry_of: None,
            system_prompt: String::new(),
            fingerprint: Fingerprint::from_bytes([1; 32]),
            asked_at: server.clock.now(),
            start: Some(Start {
                provider: "lost".to_owned(),
                billable: true,
                deadlines: Deadlines {
                    silent: Uptime::from_millis(1),
                    run: Uptime::from_millis(1),
                },
            }),
        })
        .await
        .unwrap();
    assert!(matches!(accepted, Accept::New(_)));
    let _held = calling(&server).await;
    sleep(Duration::from_secs(40)).await;
    let found = server.journal.find(lost).await.unwrap().unwrap();
    assert_eq!(found.outcome.status.as_str(), "failed");
    assert_eq!(found.outcome.receipt.unwrap().provider_calls, 1, "it may have been billed");
    assert_eq!(server.journal.unsettled().await.unwrap().len(), 1, "the other goes on");
}
