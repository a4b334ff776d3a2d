//! The mock provider must misbehave exactly as told, or the tests built on it prove nothing.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::client::{Answer, Request};

fn request(mock: &MockProvider, key: &str, question: &str) -> Request {
    Request::new(mock.address(), "POST", "/v1/chat/completions")
        .header("Idempotency-Key", key)
        .json(&json!({"model": "mock", "stream": true, "messages": [
            {"role": "system", "content": "s"}, {"role": "user", "content": question},
        ]}))
}

async fn ask(mock: &MockProvider, key: &str, question: &str) -> Answer {
    request(mock, key, question).send().await.unwrap()
}

/// The text of a reply's deltas.
fn text(answer: &Answer) -> String {
    let body = answer.text();
    let events = body.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
    events
        .filter_map(|data| serde_json::from_str::<serde_json::Value>(data).ok())
        .filter_map(|data| data.pointer("/choices/0/delta/content")?.as_str().map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn scripts_are_chosen_by_marker_then_queue_then_default() {
    let mock = MockProvider::start().await.unwrap();
    mock.on("marked", Script::answer("by marker"));
    mock.next(Script::answer("by queue"));
    mock.otherwise(Script::answer("by default"));
    assert_eq!(text(&ask(&mock, "1", "a marked one").await), "by marker");
    assert_eq!(text(&ask(&mock, "2", "another").await), "by queue");
    assert_eq!(text(&ask(&mock, "3", "another").await), "by default");
    let answer = ask(&mock, "3", "another").await;
    assert!(answer.text().ends_with("data: [DONE]\n\n"));
    assert!(answer.text().contains(r#""finish_reason":"stop""#));
    assert_eq!(mock.calls().len(), 4);
    let third = mock.calls_of("3");
    assert_eq!(third.len(), 2);
    assert_eq!(third[0].question, "another");
    assert_eq!(third[0].messages()[0], ("system".to_owned(), "s".to_owned()));
    assert_eq!(third[0].ended, Some(Ended::Played));
}

#[tokio::test]
async fn a_hang_ends_when_the_client_leaves_and_that_is_logged() {
    let mock = MockProvider::start().await.unwrap();
    mock.next(Script::hang());
    mock.next(Script::new().delta("begun").then(Step::Hang));
    for key in ["silent", "begun"] {
        let request = request(&mock, key, "q");
        let mut connection = request.open().await.unwrap();
        connection.send(&request.bytes()).await.unwrap();
        if key == "begun" {
            connection.reply_head().await.unwrap();
        }
        mock.wait("the call", |calls| calls.iter().any(|call| call.key.as_deref() == Some(key)))
            .await;
        assert_eq!(mock.calls_of(key)[0].ended, None);
        drop(connection);
        mock.wait("the hang-up", |calls| calls.last().unwrap().client_closed()).await;
    }
    assert_eq!(mock.calls_of("silent")[0].written, 0);
    assert!(mock.calls_of("begun")[0].written > 0);
}

#[tokio::test]
async fn a_gate_holds_the_answer_until_it_is_opened() {
    let mock = MockProvider::start().await.unwrap();
    mock.next(Script::gated("one two ", "go", "three"));
    let request = request(&mock, "k", "q");
    let reply = tokio::spawn(async move { request.send().await });
    mock.wait("two words", |calls| calls.first().is_some_and(|call| call.written > 300)).await;
    assert!(!reply.is_finished());
    mock.open("go");
    assert_eq!(text(&reply.await.unwrap().unwrap()), "one two three");
}

#[tokio::test]
async fn refusals_resets_and_strange_bodies_come_as_told() {
    let mock = MockProvider::start().await.unwrap();
    mock.next(Script::reply(429, &[("Retry-After", "7")], b"slow down".to_vec()));
    let refused = ask(&mock, "1", "q").await;
    assert_eq!((refused.status(), refused.header("retry-after")), (429, Some("7")));
    assert_eq!(refused.text(), "slow down");

    mock.next(Script::new().delta("half").then(Step::Reset));
    let cut = request(&mock, "2", "q").send().await;
    assert!(cut.is_err(), "a reset is no end");
    assert_eq!(mock.calls_of("2")[0].ended, Some(Ended::Reset));

    mock.next(Script::dripped("é😀", 1, Duration::ZERO));
    assert_eq!(text(&ask(&mock, "3", "q").await), "é😀");

    mock.next(Script::flood(1_000_000));
    assert!(text(&ask(&mock, "4", "q").await).len() >= 1_000_000);

    let stray = Request::new(mock.address(), "GET", "/elsewhere").send().await.unwrap();
    assert_eq!(stray.status(), 404);
    assert_eq!(mock.calls().last().unwrap().path, "/elsewhere");
}
