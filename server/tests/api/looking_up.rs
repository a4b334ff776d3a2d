//! `GET api/v1/requests/{request_id}`.

use std::sync::atomic::Ordering;

use serde_json::json;

use crate::support::{ask, ask_in, id, spawn};

#[tokio::test(start_paused = true)]
async fn what_was_never_heard_of_is_unknown_at_once() {
    let server = spawn().await;
    let started = tokio::time::Instant::now();
    let outcome = server.look_up(&ask(1, ""), 25).await.outcome(202, "pending");
    assert_eq!(started.elapsed().as_secs(), 0);
    let unknown = json!({
        "request_id": id(1), "conversation_id": id(1 << 64),
        "status": "pending", "state": "unknown",
    });
    assert_eq!(outcome, unknown);
}

#[tokio::test(start_paused = true)]
async fn the_wrong_conversation_is_unknown_live_or_settled() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask_in(2, 2, "Why?"), 20).await.outcome(200, "completed");
    for number in [1, 2] {
        let wrong = server.look_up(&ask_in(9, number, ""), 25).await.outcome(202, "pending");
        assert_eq!(wrong["state"], "unknown");
        assert!(wrong.get("question").is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_poll_ends_with_the_ask() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    let started = tokio::time::Instant::now();
    let (reply, ()) = tokio::join!(server.look_up(&body, 25), async {
        tokio::time::sleep(std::time::Duration::from_secs(9)).await;
        held.say("done");
        held.end();
    });
    reply.outcome(200, "completed");
    assert_eq!(started.elapsed().as_secs(), 9);
    assert_eq!(reply.header("preference-applied"), Some("wait=25"));
    assert_eq!(reply.header("location"), None);
}

#[tokio::test(start_paused = true)]
async fn the_text_so_far_is_there_and_grows() {
    let server = spawn().await;
    let body = ask(1, "hold");
    let first = server.ask(&body, 0).await.outcome(202, "pending");
    assert!(first.get("answer").is_none());
    let held = server.provider.held().await;
    held.think("hm");
    held.say("Grü");
    let text = server.look_up(&body, 1).await.outcome(202, "pending")["answer"].clone();
    let partial = json!({
        "format": "markdown", "text": "Grü", "offset": 0, "bytes": 4, "reasoning": "hm",
    });
    assert_eq!(text, partial);
    held.say("ße");
    held.end();
    let outcome = server.look_up(&body, 5).await.outcome(200, "completed");
    assert_eq!(outcome["answer"]["text"], "Grüße");
    assert_eq!(outcome["answer"]["finish"], "stop");
    assert_eq!(outcome["answer"]["reasoning"], "hm");
    let receipt = &outcome["receipt"];
    assert_eq!(receipt["model"], "scripted-1");
    assert_eq!((&receipt["input_tokens"], &receipt["output_tokens"]), (&json!(7), &json!(11)));
    assert_eq!(receipt["usage_estimated"], false);
    assert!(receipt["first_token_ms"].as_u64().unwrap() <= receipt["run_ms"].as_u64().unwrap());
}

#[tokio::test(start_paused = true)]
async fn an_offset_leaves_what_follows_it() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    let whole = "é".repeat(50_000);
    held.say(&whole);
    held.end();
    server.look_up(&body, 5).await.outcome(200, "completed");
    let mut joined = String::new();
    while joined.len() < whole.len() {
        let query = format!("&after={}", joined.len());
        let outcome = server.look_up_after(&body, 0, &query).await.outcome(200, "completed");
        let answer = &outcome["answer"];
        assert_eq!(answer["offset"], joined.len());
        assert_eq!(answer["bytes"], whole.len());
        let text = answer["text"].as_str().unwrap();
        assert!((1..=65_536).contains(&text.len()));
        joined.push_str(text);
    }
    assert_eq!(joined, whole);
    for beyond in ["&after=1", "&after=100001", "&after=18446744073709551615"] {
        let outcome = server.look_up_after(&body, 0, beyond).await.outcome(200, "completed");
        assert_eq!(outcome["answer"]["offset"], 0, "{beyond}");
    }
    for wrong in ["&after=", "&after=-1", "&after=x", "&after=1&after=1"] {
        let reply = server.look_up_after(&body, 0, wrong).await;
        assert_eq!(reply.status.as_u16(), 400, "{wrong}");
    }
    server.look_up_after(&body, 0, "&after=x").await.problem(400, "invalid_offset");
}

#[tokio::test(start_paused = true)]
async fn an_id_is_never_normalised_into_a_hit() {
    let server = spawn().await;
    let request = "abcdef01-7c11-7cc3-9d5a-0123456789ab";
    let body = json!({
        "request_id": request, "conversation_id": id(1 << 64), "question": "Why?",
    });
    server.ask(&body, 20).await.outcome(200, "completed");
    let conversation = id(1 << 64);
    for other in [
        request.to_uppercase(),
        request.replace('a', "%61"),
        request.replace('-', "%2d"),
        request.replace('-', ""),
        format!("%7B{request}%7D"),
        format!("{request}%20"),
        request.replace('0', "%EF%BC%90"),
        "x".to_owned(),
    ] {
        let path = format!("/api/v1/requests/{other}?conversation_id={conversation}");
        server.get(&path).await.problem(400, "invalid_request_id");
    }
    for query in [
        String::new(),
        "?conversation_id=".to_owned(),
        format!("?conversation_id={}", conversation.replace('0', "%30")),
        format!("?conversation_id={{{conversation}}}"),
        format!("?Conversation_Id={conversation}"),
    ] {
        let path = format!("/api/v1/requests/{request}{query}");
        let reply = server.get(&path).await;
        reply.problem(400, "invalid_conversation_id");
    }
    let twice = format!(
        "/api/v1/requests/{request}?conversation_id={conversation}&conversation_id={conversation}"
    );
    server.get(&twice).await.problem(400, "invalid_field");
}

#[tokio::test(start_paused = true)]
async fn a_lookup_changes_nothing() {
    let server = spawn().await;
    let body = ask(1, "Why?");
    for _ in 0..3 {
        server.look_up(&body, 0).await.outcome(202, "pending");
    }
    let first = server.ask(&body, 20).await.outcome(200, "completed");
    assert_eq!(first["receipt"]["submissions"], 1);
    server.look_up(&body, 0).await.outcome(200, "completed");
    assert_eq!(server.look_up(&body, 0).await.outcome(200, "completed"), first);
    assert_eq!(server.provider.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_settled_outcome_gets_its_successor_however_often_it_was_looked_up() {
    let server = spawn().await;
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    for _ in 0..2 {
        let outcome = server.look_up(&ask(1, ""), 0).await.outcome(200, "completed");
        assert_eq!(outcome.get("retried_by"), None);
    }
    let mut again = ask(2, "Why?");
    again["retry_of"] = json!(id(1));
    server.ask(&again, 20).await.outcome(200, "completed");
    let outcome = server.look_up(&ask(1, ""), 0).await.outcome(200, "completed");
    assert_eq!(outcome["retried_by"], json!(id(2)));
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_was_cancelled_first_gets_its_question_however_often_it_was_looked_up() {
    let server = spawn().await;
    server.cancel(&ask(1, "")).await.outcome(200, "cancelled");
    for _ in 0..2 {
        let outcome = server.look_up(&ask(1, ""), 0).await.outcome(200, "cancelled");
        assert_eq!(outcome.get("question"), None);
    }
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "cancelled");
    let outcome = server.look_up(&ask(1, ""), 0).await.outcome(200, "cancelled");
    assert_eq!(outcome["question"], "Why?");
}

#[tokio::test(start_paused = true)]
async fn what_was_looked_up_lately_needs_no_archive() {
    let server = spawn().await;
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    let outcome = server.look_up(&ask(1, ""), 0).await.outcome(200, "completed");
    server.journal.no_reads.store(true, Ordering::Relaxed);
    assert_eq!(server.look_up(&ask(1, ""), 0).await.outcome(200, "completed"), outcome);
    server.look_up_after(&ask(1, ""), 0, "&after=0").await.problem(503, "archive_unavailable");
}
