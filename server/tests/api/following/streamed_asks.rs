//! The stream as the reply to an ask.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use serde_json::json;
use tokio::time::timeout;

use crate::support::{ask, ask_in, id, post, spawn};

#[tokio::test(start_paused = true)]
async fn an_ask_can_be_answered_by_its_stream() {
    let server = spawn().await;
    let body = ask(1, "hold");
    let mut stream = server.ask_and_follow(&body).await.unwrap();
    assert_eq!(stream.headers["cache-control"], "no-store, no-transform");
    assert_eq!(stream.headers["x-accel-buffering"], "no");
    assert_eq!(stream.state().await.0, "running");
    server.provider.held().await.end_with("done");
    let told = stream.rest().await;
    assert_eq!(told.ended("completed", "done").receipt.as_ref().unwrap().submissions, 1);
}

#[tokio::test(start_paused = true)]
async fn a_known_id_attaches_and_nothing_is_repeated() {
    let server = spawn().await;
    let body = ask(1, "hold");
    let first = server.ask_and_follow(&body).await.unwrap();
    let held = server.provider.held().await;
    held.say("one ");
    let second = server.ask_and_follow(&body).await.unwrap();
    // Where somebody left off counts here too.
    let request = post("/api/v1/ask").header("accept", "text/event-stream");
    let request = request.header("last-event-id", "4").body(Body::from(body.to_string())).unwrap();
    let mut third = server.stream(request).await.unwrap();
    third.text = "one ".to_owned();
    held.end_with("run");
    for stream in [first, second, third] {
        let told = stream.rest().await;
        assert_eq!(told.ended("completed", "one run").receipt.as_ref().unwrap().submissions, 3);
    }
    let settled = server.ask_and_follow(&body).await.unwrap().rest().await;
    settled.ended("completed", "one run");
    assert_eq!(server.provider.calls_of(&id(1)), 1);
}

#[tokio::test(start_paused = true)]
async fn the_head_comes_after_the_ask_is_durable() {
    let server = spawn().await;
    server.journal.hangs.store(true, Ordering::Relaxed);
    let body = ask(1, "Why?");
    let early = timeout(Duration::from_secs(24), server.ask_and_follow(&body)).await;
    assert!(early.is_err(), "a head before the journal has replied");
    let late = server.ask_and_follow(&ask(2, "Why?")).await.err().unwrap();
    late.problem(503, "archive_unavailable");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_a_problem_with_its_status() {
    let server = spawn().await;
    let refused = async |body| server.ask_and_follow(&body).await.err().unwrap();
    refused(ask(1, "")).await.problem(400, "invalid_field");
    refused(json!({"request_id": "x"})).await.problem(400, "invalid_request_id");
    server.journal.no_writes.store(true, Ordering::Relaxed);
    refused(ask(1, "Why?")).await.problem(503, "archive_unavailable");
    server.journal.no_writes.store(false, Ordering::Relaxed);
    let told = server.ask_and_follow(&ask(1, "Why?")).await.unwrap().rest().await;
    told.ended("completed", "Answer to Why?");
    refused(ask(1, "Why not?")).await.problem(422, "request_mismatch");
    refused(ask_in(2, 1, "Why?")).await.problem(422, "request_mismatch");
    let mut again = ask(3, "Why?");
    again["retry_of"] = json!(id(9));
    refused(again).await.problem(400, "invalid_retry_of");
    let request = post("/api/v1/ask").header("accept", "text/event-stream");
    let request = request.header("last-event-id", "x");
    let request = request.body(Body::from(ask(4, "Why?").to_string())).unwrap();
    server.stream(request).await.err().unwrap().problem(400, "invalid_offset");
    let unknown = server.look_up(&ask(4, ""), 0).await.outcome(202, "pending");
    assert_eq!(unknown["state"], "unknown", "nothing of a refused ask is kept");
}

#[tokio::test(start_paused = true)]
async fn who_prefers_json_gets_json() {
    let server = spawn().await;
    for (number, accept, is_stream) in [
        (1, "application/json", false),
        (2, "*/*", false),
        (3, "application/json, text/event-stream;q=0.9", false),
        (4, "text/event-stream, application/json;q=0.9", true),
        (5, "text/event-stream, */*", true),
    ] {
        let request = post("/api/v1/ask").header("accept", accept);
        let request = request.body(Body::from(ask(number, "Why?").to_string())).unwrap();
        match server.stream(request).await {
            Ok(stream) => {
                assert!(is_stream, "{accept}");
                stream.rest().await.ended("completed", "Answer to Why?");
            }
            Err(reply) => {
                assert!(!is_stream, "{accept}");
                reply.outcome(200, "completed");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn to_leave_changes_nothing_about_the_run() {
    let server = spawn().await;
    let body = ask(1, "hold");
    let mut stream = server.ask_and_follow(&body).await.unwrap();
    let held = server.provider.held().await;
    held.say("half ");
    stream.state().await;
    stream.until_text("half ").await;
    drop(stream);
    held.end_with("and half");
    let told = server.follow_after(&body, "half ").await.rest().await;
    told.ended("completed", "half and half");
    assert_eq!(server.provider.calls_of(&id(1)), 1);
}
