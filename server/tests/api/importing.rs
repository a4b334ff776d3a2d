//! Files that are large or arrive slowly, and an archive that takes its time with them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{Reply, Spawned, id, post, spawn};

const LINE: usize = 100_000;

/// An export of so many conversations of one turn each, whose answers have so many bytes.
fn file(conversations: u128, bytes: usize) -> Value {
    let conversation = |number: u128| {
        json!({"id": id(number), "title": "One", "turns": [{
            "request_id": id(number), "conversation_id": id(number), "status": "completed",
            "question": "Why?", "asked_at": "2026-01-01T00:00:00.000Z",
            "settled_at": "2026-01-01T00:00:00.000Z",
            "answer": {"format": "markdown", "text": "a".repeat(bytes), "offset": 0, "bytes": bytes},
            "receipt": {"provider_calls": 0, "submissions": 1},
        }]})
    };
    (1..=conversations).map(conversation).collect()
}

async fn import(server: &Spawned, file: &Value) -> Reply {
    server.post("/api/v1/import", file).await
}

/// Sends a file piece by piece, with a pause before each.
async fn send(server: &Spawned, file: &[u8], pause: Duration, is_whole: bool) -> Reply {
    let pieces: Vec<_> = file.chunks(LINE).map(Bytes::copy_from_slice).collect();
    let pieces = stream::iter(pieces).then(move |piece| async move {
        tokio::time::sleep(pause).await;
        Ok::<_, std::io::Error>(piece)
    });
    let body = if is_whole {
        Body::from_stream(pieces)
    } else {
        Body::from_stream(pieces.chain(stream::pending()))
    };
    server.send(post("/api/v1/import").body(body).unwrap()).await
}

#[tokio::test(start_paused = true)]
async fn a_slow_line_gets_its_time_and_a_line_that_stalls_does_not() {
    let server = spawn().await;
    let text = file(40, 50_000).to_string();
    let started = Instant::now();
    let reply = send(&server, text.as_bytes(), Duration::from_secs(5), true).await;
    assert_eq!((reply.status.as_u16(), &reply.json()["created"]), (200, &json!(40)));
    assert!(started.elapsed().as_secs() >= 100, "{:?}", started.elapsed());
    let started = Instant::now();
    let reply = send(&server, text.as_bytes(), Duration::ZERO, false).await;
    assert_eq!(reply.status, 408);
    assert_eq!(started.elapsed().as_secs(), 20, "however much came before");
    let started = Instant::now();
    let reply = send(&server, text.as_bytes(), Duration::from_secs(9), true).await;
    assert_eq!(reply.status, 408, "a trickle");
    assert!(started.elapsed().as_secs() <= 20, "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn many_small_conversations_are_written_together() {
    let server = spawn().await;
    assert_eq!(import(&server, &file(300, 100)).await.json()["created"], 300);
    assert_eq!(server.journal.imports.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn an_archive_that_gets_on_is_waited_for_and_one_that_hangs_is_not() {
    let server = spawn().await;
    server.journal.slow_imports.store(15_000, Ordering::Relaxed);
    let started = Instant::now();
    let reply = import(&server, &file(4, 400_000)).await;
    assert_eq!((reply.status.as_u16(), &reply.json()["created"]), (200, &json!(4)));
    assert_eq!(started.elapsed().as_secs(), 60, "four parts");
    server.journal.hangs.store(true, Ordering::Relaxed);
    let started = Instant::now();
    import(&server, &file(1, 1)).await.problem(503, "archive_unavailable");
    assert_eq!(started.elapsed().as_secs(), 25);
    // It still has the place of those who import.
    let reply = import(&server, &file(1, 1)).await;
    reply.problem(429, "rate_limited");
    assert!(reply.header("retry-after").is_some());
}

#[tokio::test(start_paused = true)]
async fn two_files_at_once_are_taken_in_one_after_the_other() {
    let server = spawn().await;
    server.journal.slow_imports.store(10_000, Ordering::Relaxed);
    let started = Instant::now();
    let file = file(2, 400_000);
    let (one, other) = tokio::join!(import(&server, &file), import(&server, &file));
    assert_eq!(started.elapsed().as_secs(), 40);
    let (one, other) = (one.json(), other.json());
    assert_eq!((&one["created"], &other["unchanged"]), (&json!(2), &json!(2)));
}

#[tokio::test(start_paused = true)]
async fn what_a_failing_archive_has_not_taken_in_is_taken_in_the_next_time() {
    let server = spawn().await;
    let file = file(4, 400_000);
    server.journal.slow_imports.store(1_000, Ordering::Relaxed);
    let failing = async {
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        server.journal.no_writes.store(true, Ordering::Relaxed);
    };
    let (reply, ()) = tokio::join!(import(&server, &file), failing);
    reply.problem(503, "archive_unavailable");
    server.journal.no_writes.store(false, Ordering::Relaxed);
    let report = import(&server, &file).await.json();
    assert_eq!((&report["created"], &report["unchanged"]), (&json!(1), &json!(3)));
}
