//! `GET api/v1/requests/{request_id}/events`, and the stream of an ask.

mod joining;
mod streamed_asks;
mod watching;

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use holdfast_protocol::following::{COMMENT, Followed};
use holdfast_protocol::{FailureCode, State};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{ask, ask_in, error, events, get, spawn};

#[tokio::test(start_paused = true)]
async fn an_ask_is_told_from_its_acceptance_to_its_outcome() {
    let server = spawn().await;
    let body = ask(1, "hold");
    let accepted = server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    let mut stream = server.follow(&body).await;
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-store, no-transform"),
        ("x-accel-buffering", "no"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(stream.headers[name], value, "{name}");
    }
    let event = stream.event().await.unwrap();
    assert_eq!((event.name.as_str(), event.id.as_str()), ("state", ""));
    let mut pending = accepted.clone();
    pending.as_object_mut().unwrap().remove("question");
    pending["state"] = json!("running");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&event.data).unwrap(), pending);

    held.think("hm");
    let event = stream.event().await.unwrap();
    assert_eq!((event.name.as_str(), event.data.as_str()), ("reasoning", r#"{"text":"hm"}"#));
    held.say("Grü");
    let event = stream.event().await.unwrap();
    let wanted = ("delta", "4", r#"{"offset":0,"text":"Grü"}"#);
    assert_eq!((event.name.as_str(), event.id.as_str(), event.data.as_str()), wanted);
    held.say("ße\n");
    let event = stream.event().await.unwrap();
    let wanted = ("delta", "8", r#"{"offset":4,"text":"ße\n"}"#);
    assert_eq!((event.name.as_str(), event.id.as_str(), event.data.as_str()), wanted);
    held.end();
    let event = stream.event().await.unwrap();
    // The final write takes a moment, in which the answer is whole and not archived.
    let event = if event.name == "state" { stream.event().await.unwrap() } else { event };
    assert_eq!((event.name.as_str(), event.id.as_str()), ("outcome", "8"));
    let mut outcome = server.look_up(&body, 0).await.outcome(200, "completed");
    assert_eq!(outcome["answer"].as_object_mut().unwrap().remove("text"), Some(json!("Grüße\n")));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&event.data).unwrap(), outcome);
    assert_eq!(stream.event().await, None, "the outcome is the end");
}

#[tokio::test(start_paused = true)]
async fn what_has_settled_is_told_from_the_archive() {
    let server = spawn().await;
    let body = ask(1, "Why?");
    server.ask(&body, 20).await.outcome(200, "completed");
    let told = server.follow(&body).await.rest().await;
    told.ended("completed", "Answer to Why?");
    assert_eq!(told.states, [""; 0], "nothing is pending");
    let told = server.follow_after(&body, "Answer").await.rest().await;
    told.ended("completed", "Answer to Why?");
    let told = server.follow_after(&body, "Answer to Why?").await.rest().await;
    told.ended("completed", "Answer to Why?");
    server.cancel(&ask(2, "")).await.outcome(200, "cancelled");
    server.follow(&ask(2, "")).await.rest().await.ended("cancelled", "");
}

#[tokio::test(start_paused = true)]
async fn what_failed_or_was_cut_off_is_told_with_the_text_there_was() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    let stream = server.follow(&ask(1, "")).await;
    held.say("half");
    held.fail(error(FailureCode::ProviderFailed, true));
    for stream in [stream, server.follow(&ask(1, "")).await] {
        let told = stream.rest().await;
        let outcome = told.ended("failed", "half");
        assert_eq!(outcome.error.as_ref().unwrap().code, FailureCode::ProviderFailed);
    }

    server.ask(&ask(2, "hold"), 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    held.say("cut ");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let server = server.crash().await;
    let told = server.follow(&ask(2, "")).await.rest().await;
    let outcome = told.ended("interrupted", "cut ");
    assert_eq!(outcome.error.as_ref().unwrap().code, FailureCode::ServerRestarted);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_run_is_told_as_its_outcome() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    held.say("half");
    let stream = server.follow(&ask(1, "")).await;
    held.panic();
    let told = stream.rest().await;
    assert_eq!(told.ended("failed", "half").error.as_ref().unwrap().code, FailureCode::Internal);
}

#[tokio::test(start_paused = true)]
async fn who_waits_in_line_is_told_how_it_moves() {
    let server = spawn().await;
    for number in 1..=3 {
        server.ask(&ask(number, "hold"), 0).await.outcome(202, "pending");
    }
    let mut third = server.follow(&ask(3, "")).await;
    assert_eq!(third.state().await, ("accepted".to_owned(), Some(2)));
    let started = Instant::now();
    server.provider.held().await.end_with("one");
    assert_eq!(third.state().await, ("accepted".to_owned(), Some(1)));
    let second = server.provider.held().await;
    server.cancel(&ask(2, "")).await.outcome(200, "cancelled");
    second.hung_up().await;
    let mut state = third.state().await;
    if state.0 == "accepted" {
        assert_eq!(state.1, Some(0));
        state = third.state().await;
    }
    assert_eq!(state, ("running".to_owned(), None));
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}: not at once", started.elapsed());
    server.provider.held().await.end_with("three");
    third.rest().await.ended("completed", "three");
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_who_waits_is_told_how_it_goes_on() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask(2, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask(3, "hold"), 0).await.outcome(202, "pending");
    server.provider.held().await;
    let server = server.crash().await;
    let mut third = server.follow(&ask(3, "")).await;
    assert_eq!(third.state().await, ("accepted".to_owned(), Some(1)));
    server.provider.held().await.end_with("two");
    let held = server.provider.held().await;
    let mut state = third.state().await;
    if state.0 == "accepted" {
        assert_eq!(state.1, Some(0));
        state = third.state().await;
    }
    assert_eq!(state, ("running".to_owned(), None));
    held.end_with("three");
    third.rest().await.ended("completed", "three");
}

#[tokio::test(start_paused = true)]
async fn what_was_never_heard_of_is_unknown_and_no_stream() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask_in(2, 2, "Why?"), 20).await.outcome(200, "completed");
    let started = Instant::now();
    for (conversation, number) in [(1, 9), (9, 1), (9, 2)] {
        let body = ask_in(conversation, number, "");
        let outcome = server.get(&events(&body, "")).await.outcome(202, "pending");
        assert_eq!(outcome, server.look_up(&body, 0).await.outcome(202, "pending"));
        assert_eq!(outcome["state"], "unknown");
    }
    assert_eq!(started.elapsed(), Duration::ZERO);
    server.get("/api/v1/requests/x/events").await.problem(400, "invalid_request_id");
    let path = format!("/api/v1/requests/{}/events", crate::support::id(1));
    server.get(&path).await.problem(400, "invalid_conversation_id");
    let elsewhere = Request::get(events(&ask(1, ""), "")).header("host", "evil.test");
    let reply = server.send(elsewhere.body(Body::empty()).unwrap()).await;
    reply.problem(421, "host_rejected");
    server.post(&events(&ask(1, ""), ""), &json!({})).await.problem(405, "method_not_allowed");
}

#[tokio::test(start_paused = true)]
async fn a_head_says_what_a_stream_would() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    let head = Request::head(events(&ask(1, ""), "")).header("host", "localhost");
    let reply = server.send(head.body(Body::empty()).unwrap()).await;
    assert_eq!(reply.status.as_u16(), 200);
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    assert_eq!(reply.bytes, b"");
}

#[tokio::test(start_paused = true)]
async fn an_offset_is_where_it_goes_on_or_it_begins_anew() {
    let server = spawn().await;
    for settled in [false, true] {
        let body = ask(u128::from(settled) + 1, "hold");
        server.ask(&body, 0).await.outcome(202, "pending");
        let held = server.provider.held().await;
        held.say("aé世");
        if settled {
            held.end();
            server.look_up(&body, 5).await.outcome(200, "completed");
        } else {
            server.follow(&body).await.state().await;
        }
        for (query, id, offset, text) in [
            ("", None, 0, "aé世"),
            ("&after=0", None, 0, "aé世"),
            ("&after=1", None, 1, "é世"),
            ("&after=3", None, 3, "世"),
            ("&after=2", None, 0, "aé世"),
            ("&after=5", None, 0, "aé世"),
            ("&after=7", None, 0, "aé世"),
            ("&after=18446744073709551615", None, 0, "aé世"),
            ("", Some("1"), 1, "é世"),
            ("", Some("2"), 0, "aé世"),
            ("", Some(""), 0, "aé世"),
            ("&after=3", Some("1"), 3, "世"),
            ("&after=1", Some("nonsense"), 1, "é世"),
        ] {
            let mut request = get(&events(&body, query));
            if let Some(id) = id {
                request = request.header("last-event-id", id);
            }
            let mut stream = server.stream(request.body(Body::empty()).unwrap()).await.unwrap();
            let mut event = stream.event().await.unwrap();
            if event.name == "state" {
                event = stream.event().await.unwrap();
            }
            let wanted = Followed::Delta { offset, text: text.to_owned() };
            assert_eq!(Followed::from_event(&event), Some(wanted), "{query} {id:?}");
            assert_eq!(event.id, "6");
        }
        for (query, id) in [
            ("&after=", None),
            ("&after=-1", None),
            ("&after=x", None),
            ("&after=1.5", None),
            ("&after=x", Some("1")),
            ("", Some("x")),
            ("", Some("-1")),
            ("", Some("+1")),
            ("", Some("1 ")),
            ("", Some("99999999999999999999")),
            ("", Some("\u{e9}")),
        ] {
            let mut request = get(&events(&body, query));
            if let Some(id) = id {
                request = request.header("last-event-id", id.as_bytes());
            }
            let reply = server.send(request.body(Body::empty()).unwrap()).await;
            let reply = (reply.status.as_u16(), reply.json()["code"].clone());
            let is_trimmed = id == Some("1 ");
            assert!(is_trimmed || reply == (400, json!("invalid_offset")), "{query} {id:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_gives_a_sign_of_life_every_three_seconds() {
    let server = spawn().await;
    let body = ask(1, "hold");
    let (held, mut stream) = server.follow_held(&body).await;
    stream.state().await;
    let started = Instant::now();
    for number in 1..=10 {
        assert_eq!(stream.read().await.unwrap(), COMMENT.as_bytes());
        assert_eq!(started.elapsed().as_secs(), 3 * number);
    }
    held.end_with("at last");
    stream.rest().await.ended("completed", "at last");
}

#[tokio::test(start_paused = true)]
async fn a_busy_stream_gives_a_sign_of_life_every_three_seconds_too() {
    let server = spawn().await;
    let body = ask(1, "hold");
    let (held, mut stream) = server.follow_held(&body).await;
    stream.state().await;
    let mut comments = 0;
    for _ in 0..100 {
        held.say("x");
        tokio::time::sleep(Duration::from_millis(100)).await;
        comments += u32::from(stream.read().await.unwrap() == COMMENT.as_bytes());
    }
    assert!((2..=4).contains(&comments), "{comments} comments in ten seconds");
}

#[tokio::test(start_paused = true)]
async fn a_lone_token_is_told_at_once_and_a_burst_as_one() {
    let server = spawn().await;
    let body = ask(1, "hold");
    let (held, mut stream) = server.follow_held(&body).await;
    stream.state().await;
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let said = Instant::now();
        held.say("x");
        let told = stream.next().await;
        assert!(matches!(told, Some(Followed::Delta { text, .. }) if text == "x"));
        assert_eq!(said.elapsed(), Duration::ZERO);
    }
    for _ in 0..1000 {
        held.say("y");
    }
    let mut pieces = 0;
    let began = Instant::now();
    while stream.text.len() < 1003 {
        stream.next().await;
        pieces += 1;
    }
    assert!(pieces <= 3, "{pieces} pieces");
    assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_reasoning_is_told_whole_by_every_stream() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    let long = "mañana ".repeat(20_000);
    held.think(&long);
    held.say("so");
    let mut streams = vec![server.follow(&body).await];
    streams[0].state().await;
    streams[0].next().await;
    streams.push(server.follow_after(&body, "so").await);
    held.think("!");
    held.end();
    server.look_up(&body, 5).await.outcome(200, "completed");
    streams.push(server.follow_after(&body, "so").await);
    for stream in streams {
        let told = stream.rest().await;
        let outcome = told.ended("completed", "so");
        assert!(told.reasoning == format!("{long}!"), "{} bytes", told.reasoning.len());
        assert_eq!(outcome.answer.as_ref().unwrap().reasoning.as_ref(), Some(&told.reasoning));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_archived_is_told_whole_and_not_as_settled() {
    let server = spawn().await;
    let body = ask(1, "hold");
    let (held, mut early) = server.follow_held(&body).await;
    assert_eq!(early.state().await.0, "running");
    server.journal.no_writes.store(true, Ordering::Relaxed);
    held.end_with("whole");
    early.until_text("whole").await;
    assert_eq!(early.state().await.0, "archiving");
    let mut late = server.follow(&body).await;
    assert_eq!(late.state().await.0, "archiving");
    late.until_text("whole").await;
    assert_eq!(late.read().await.unwrap(), COMMENT.as_bytes(), "there is no outcome yet");
    server.journal.lies_about_settling.store(true, Ordering::Relaxed);
    server.journal.no_writes.store(false, Ordering::Relaxed);
    for stream in [early, late] {
        let told = stream.rest().await;
        let outcome = told.ended("completed", "whole");
        assert_eq!(outcome.state, None::<State>);
    }
}
