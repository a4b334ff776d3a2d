//! Many who watch, slow ones, late ones, and what ends their streams.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use holdfast_protocol::following::Followed;
use tokio::time::{Instant, sleep};

use crate::support::{Stream, Told, ask, ask_in, events, id, spawn};

/// 2 MB of everything that must not be cut.
fn large() -> String {
    "All work, kein Spaß, 世界 🌍\n".repeat(2_000_000 / 36)
}

#[tokio::test(start_paused = true)]
async fn a_hundred_watch_one_run_and_hear_the_same() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    let mut watchers = Vec::new();
    let mut whole = String::new();
    for number in 0..100 {
        // Some have heard a part of it already.
        let has = if number % 3 == 0 { whole.as_str() } else { "" };
        watchers.push(server.follow_after(&body, has).await);
        let word = format!("wörd{number} ");
        held.say(&word);
        whole.push_str(&word);
        if number % 7 == 0 {
            sleep(Duration::from_millis(30)).await;
        }
    }
    let leaver = watchers.remove(50);
    held.end();
    drop(leaver);
    let told: Vec<Told> = join_all(watchers.into_iter().map(Stream::rest)).await;
    for told in &told {
        told.ended("completed", &whole);
    }
    assert_eq!(told.len(), 99);
    assert_eq!(server.provider.calls_of(&id(1)), 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_at_any_moment_hears_all_of_it() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    server.journal.no_writes.store(true, Ordering::Relaxed);
    let mut watchers = Vec::new();
    for step in ["", "a", "é", "世"] {
        if !step.is_empty() {
            held.say(step);
        }
        for _ in 0..3 {
            watchers.push(server.follow(&body).await);
            tokio::task::yield_now().await;
        }
    }
    held.end();
    // Between the end of the run and its place in the archive, and across it, turn by turn.
    for turn in 0..400 {
        if turn == 100 {
            server.journal.no_writes.store(false, Ordering::Relaxed);
        }
        watchers.push(server.follow(&body).await);
        sleep(Duration::from_millis(1)).await;
    }
    server.look_up(&body, 20).await.outcome(200, "completed");
    watchers.push(server.follow(&body).await);
    for stream in watchers {
        stream.rest().await.ended("completed", "aé世");
    }
}

#[tokio::test(start_paused = true)]
async fn who_does_not_read_keeps_nobody_waiting() {
    let server = spawn().await;
    let body = ask(1, "hold");
    let (held, mut slow) = server.follow_held(&body).await;
    slow.state().await;
    let mut unread = server.follow(&body).await;
    let quick = server.follow(&body).await;
    let whole = large();
    let started = Instant::now();
    let (told, settled) = tokio::join!(quick.rest(), async {
        for piece in whole.split_inclusive('\n') {
            held.say(piece);
        }
        held.end();
        server.look_up(&body, 20).await
    });
    let settled = settled.outcome(200, "completed");
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert!(settled["answer"]["text"] == whole.as_str());
    told.ended("completed", &whole);
    // One that had begun, and one that takes its first look only now.
    let first = slow.next().await;
    assert!(matches!(first, Some(Followed::Delta { offset: 0, .. })), "{first:?}");
    sleep(Duration::from_hours(1)).await;
    slow.rest().await.ended("completed", &whole);
    assert!(unread.next().await.is_some());
    unread.rest().await.ended("completed", &whole);
    // From the archive, from the middle, and once more through an archive that fails meanwhile.
    let middle = whole.floor_char_boundary(whole.len() / 2);
    server.follow_after(&body, &whole[..middle]).await.rest().await.ended("completed", &whole);
    let mut failing = server.follow(&body).await;
    failing.next().await;
    server.journal.no_reads.store(true, Ordering::Relaxed);
    let had = failing.rest().await;
    assert!(had.outcome.is_none(), "the stream just ends");
    assert!(had.text.len() < 1_000_000, "{} bytes were held", had.text.len());
    server.journal.no_reads.store(false, Ordering::Relaxed);
    server.follow_after(&body, &had.text).await.rest().await.ended("completed", &whole);
}

#[tokio::test(start_paused = true)]
async fn a_stop_is_seen_by_all_who_watch_and_nothing_grows_back() {
    let server = spawn().await;
    let body = ask(1, "hold");
    let first = server.ask_and_follow(&body).await.unwrap();
    let held = server.provider.held().await;
    held.say("half");
    let mut second = server.follow(&body).await;
    second.state().await;
    second.until_text("half").await;
    let waiting = ask(2, "Next?");
    let third = server.ask_and_follow(&waiting).await.unwrap();
    let cancelled = server.cancel(&waiting).await.outcome(200, "cancelled");
    third.rest().await.ended("cancelled", "");
    assert_eq!(cancelled["receipt"]["provider_calls"], 0);
    server.cancel(&body).await.outcome(200, "cancelled");
    held.hung_up().await;
    for stream in [first, second, server.follow(&body).await] {
        stream.rest().await.ended("cancelled", "half");
    }
}

#[tokio::test(start_paused = true)]
async fn a_drain_ends_every_stream_and_says_what_it_knows() {
    let server = spawn().await;
    let (ends, runs, waits) = (ask(1, "hold"), ask_in(2, 2, "hold"), ask_in(2, 3, "Next?"));
    let mut streams = Vec::new();
    for body in [&ends, &runs, &waits] {
        streams.push(server.ask_and_follow(body).await.unwrap());
    }
    let held = [server.provider.held().await, server.provider.held().await];
    held[1].say("half");
    let told = async {
        sleep(Duration::from_secs(1)).await;
        held[0].end_with("whole");
        // Whoever comes now is told too.
        let late = server.follow(&runs).await;
        streams.push(late);
        join_all(streams.into_iter().map(Stream::rest)).await
    };
    let (unarchived, told) = tokio::join!(server.app.drain(sleep(Duration::from_secs(3))), told);
    assert_eq!(unarchived, 0);
    told[0].ended("completed", "whole");
    told[1].ended("interrupted", "half");
    told[3].ended("interrupted", "half");
    assert_eq!(told[2].outcome, None, "what waits stays accepted");
    assert!(told[2].states.iter().all(|state| state == "accepted"), "{:?}", told[2].states);
    let after = server.follow(&waits).await.rest().await;
    assert_eq!((after.outcome, after.states), (None, vec!["accepted".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_archived_keeps_no_stream_open_at_the_end() {
    let server = spawn().await;
    let stream = server.ask_and_follow(&ask(1, "hold")).await.unwrap();
    server.journal.no_writes.store(true, Ordering::Relaxed);
    server.provider.held().await.end_with("whole");
    let (unarchived, told) =
        tokio::join!(server.app.drain(sleep(Duration::from_secs(3))), stream.rest());
    assert_eq!(unarchived, 1);
    assert_eq!((told.outcome, told.text.as_str()), (None, "whole"));
    assert_eq!(told.states, ["running", "archiving"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_deleted_is_told_to_nobody_any_more() {
    let server = spawn().await;
    let (settled, running, waiting) = (ask(1, "hold"), ask(2, "hold"), ask(3, "Next?"));
    server.ask(&settled, 0).await.outcome(202, "pending");
    let whole = large();
    let held = server.provider.held().await;
    held.end_with(&whole);
    server.look_up(&settled, 20).await.outcome(200, "completed");
    let mut streams = vec![server.follow(&settled).await];
    assert!(streams[0].next().await.is_some());
    for body in [&running, &waiting] {
        streams.push(server.ask_and_follow(body).await.unwrap());
    }
    let held = server.provider.held().await;
    held.say("half");
    streams[1].state().await;
    streams[1].until_text("half").await;
    let path = format!("/api/v1/conversations/{}", id(1 << 64));
    assert_eq!(server.delete(&path).await.status, 204);
    held.hung_up().await;
    for stream in streams {
        let had = stream.text.clone();
        let told = stream.rest().await;
        assert_eq!(told.outcome, None);
        assert!(told.text == had, "not a word more");
    }
    for body in [&settled, &running, &waiting] {
        server.get(&events(body, "")).await.problem(410, "request_deleted");
        let again = server.ask_and_follow(body).await.err().unwrap();
        again.problem(409, "conversation_deleted");
    }
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_is_slow_to_read_is_waited_for_between_signs_of_life() {
    let server = spawn().await;
    let text = "slowly ".repeat(100_000);
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.provider.held().await.end_with(&text);
    server.look_up(&ask(1, ""), 20).await.outcome(200, "completed");
    // Longer than a sign of life is waited for, and shorter than patience lasts.
    server.journal.slow_reads.store(7_000, Ordering::Relaxed);
    let told = server.follow(&ask(1, "")).await.rest().await;
    told.ended("completed", &text);
    // One that hangs is given up.
    server.journal.slow_reads.store(0, Ordering::Relaxed);
    let mut hanging = server.follow(&ask(1, "")).await;
    hanging.next().await;
    server.journal.hangs.store(true, Ordering::Relaxed);
    let started = Instant::now();
    let told = hanging.rest().await;
    assert!(told.outcome.is_none(), "the stream just ends");
    assert_eq!(started.elapsed().as_secs(), 25);
}
