//! `POST api/v1/ask`.

use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{Spawned, ask, ask_in, id, post, spawn};

#[tokio::test(start_paused = true)]
async fn an_answer_within_the_wait_is_a_settled_outcome() {
    let server = spawn().await;
    let reply = server.ask(&ask(1, " Why?\n"), 20).await;
    let outcome = reply.outcome(200, "completed");
    assert_eq!(outcome["request_id"], id(1));
    assert_eq!((&outcome["seq"], &outcome["question"]), (&json!(1), &json!("Why?")));
    let answer = json!({"format": "markdown", "text": "Answer to Why?", "offset": 0, "bytes": 14});
    assert_eq!(outcome["answer"], answer);
    assert_eq!(outcome["route"], "provider");
    assert_eq!(outcome["asked_at"], "2026-01-31T09:00:00.000Z");
    assert_eq!(outcome["settled_at"], "2026-01-31T09:00:00.000Z");
    assert_eq!(outcome["capture"], json!({"stored": false, "reason": "memory-off"}));
    let receipt = &outcome["receipt"];
    assert_eq!((&receipt["provider_calls"], &receipt["submissions"]), (&json!(1), &json!(1)));
    assert!(outcome.get("state").is_none() && outcome.get("error").is_none());
    assert_eq!(reply.header("preference-applied"), Some("wait=20"));
    assert_eq!(reply.header("location"), None);
}

#[tokio::test(start_paused = true)]
async fn an_answer_beyond_the_wait_is_looked_up_where_the_reply_says() {
    let server = spawn().await;
    let reply = server.ask(&ask(1, "hold"), 2).await;
    let outcome = reply.outcome(202, "pending");
    assert_eq!(outcome["state"], "running");
    let location = reply.header("location").unwrap();
    assert_eq!(location, format!("requests/{}?conversation_id={}", id(1), id(1 << 64)));
    server.provider.held().await.end_with("done");
    let looked_up = server.get(&format!("/api/v1/{location}")).await;
    assert_eq!(looked_up.status.as_u16() / 100, 2);
    assert_eq!(
        server.look_up(&ask(1, ""), 5).await.outcome(200, "completed")["answer"]["text"],
        "done"
    );
}

#[tokio::test(start_paused = true)]
async fn the_wait_is_20_s_unless_the_client_says_otherwise() {
    let server = spawn().await;
    for (number, prefer, seconds, applied) in [
        (1, None, 20, None),
        (2, Some("wait=0"), 0, Some("wait=0")),
        (3, Some("wait=7"), 7, Some("wait=7")),
        (4, Some("wait=999"), 25, Some("wait=25")),
        (5, Some("wait=soon"), 20, None),
        (6, Some("respond-async, wait=3"), 3, Some("wait=3")),
    ] {
        let mut request = post("/api/v1/ask");
        if let Some(prefer) = prefer {
            request = request.header("prefer", prefer);
        }
        let started = tokio::time::Instant::now();
        let body = ask_in(number, number, "hold").to_string();
        let reply = server.send(request.body(Body::from(body)).unwrap()).await;
        reply.outcome(202, "pending");
        assert_eq!(started.elapsed().as_secs(), seconds, "{prefer:?}");
        assert_eq!(reply.header("preference-applied"), applied, "{prefer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_ask_again_attaches_and_is_paid_for_once() {
    let server = spawn().await;
    let body = ask(1, "hold");
    server.ask(&body, 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    let (one, two, ()) = tokio::join!(server.ask(&body, 20), server.ask(&body, 20), async {
        held.say("done");
        held.end();
    });
    let outcome = one.outcome(200, "completed");
    assert_eq!(two.outcome(200, "completed"), outcome);
    assert_eq!(outcome["receipt"]["submissions"], 3);
    assert_eq!(
        server.ask(&body, 0).await.outcome(200, "completed"),
        outcome,
        "its receipt is frozen"
    );
    assert_eq!(server.look_up(&body, 0).await.outcome(200, "completed"), outcome);
    assert_eq!(server.provider.calls_of(&id(1)), 1);
}

#[tokio::test(start_paused = true)]
async fn many_submissions_at_once_are_one_run() {
    let server = spawn().await;
    let body = ask(1, "Why?");
    let asks = (0..50).map(|_| server.ask(&body, 20));
    for reply in futures_util::future::join_all(asks).await {
        reply.outcome(200, "completed");
    }
    assert_eq!(server.provider.calls_of(&id(1)), 1);
}

#[tokio::test(start_paused = true)]
async fn the_same_text_under_two_ids_is_two_asks() {
    let server = spawn().await;
    server.ask(&ask(1, "ok"), 20).await.outcome(200, "completed");
    let second = server.ask(&ask(2, "ok"), 20).await.outcome(200, "completed");
    assert_eq!(second["seq"], 2);
    assert_eq!(server.provider.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_known_id_with_another_payload_is_a_mismatch_live_or_settled() {
    let server = spawn().await;
    let with = |body: &Value, name: &str, value: Value| {
        let mut body = body.clone();
        body[name] = value;
        body
    };
    for (number, question) in [(1, "hold"), (2, "Why?")] {
        let body = ask_in(number, number, question);
        server.ask(&body, 1).await;
        for other in [
            with(&body, "question", json!("Why not?")),
            with(&body, "question", json!(format!("{question} "))),
            with(&body, "conversation_id", json!(id(99 << 64))),
            with(&body, "current", json!(false)),
            with(&body, "remember", json!(true)),
            with(&body, "model", json!("m")),
            with(&body, "retry_of", json!(id(7))),
        ] {
            server.ask(&other, 0).await.problem(422, "request_mismatch");
        }
        for same in [
            with(&body, "language", json!("de")),
            with(&body, "current", Value::Null),
            with(&body, "unknown", json!(1)),
        ] {
            assert!(server.ask(&same, 0).await.status.is_success(), "{same}");
        }
        assert_eq!(server.provider.calls_of(&id(number)), 1);
    }
    let other = server.conversation(&ask_in(99, 1, "")).await;
    assert_eq!(other["code"], "conversation_not_found", "a refusal leaves nothing");
}

#[tokio::test(start_paused = true)]
async fn a_retry_names_what_it_repeats() {
    let server = spawn().await;
    let retry = |number: u128, of: u128| {
        let mut body = ask(number, "Again?");
        body["retry_of"] = json!(id(of));
        body
    };
    server.ask(&retry(2, 1), 0).await.problem(400, "invalid_retry_of");
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    let second = server.ask(&retry(2, 1), 20).await.outcome(200, "completed");
    assert_eq!(second["retry_of"], id(1));
    let first = server.look_up(&ask(1, ""), 0).await.outcome(200, "completed");
    assert_eq!(first["retried_by"], id(2));
    let problem = server.ask(&retry(3, 1), 0).await.problem(409, "already_retried");
    assert_eq!(problem["request_id"], id(2));
    server.ask(&retry(2, 1), 0).await.outcome(200, "completed");
    let unknown = server.look_up(&ask(3, ""), 0).await.outcome(202, "pending");
    assert_eq!(unknown["state"], "unknown");
}

#[tokio::test(start_paused = true)]
async fn a_new_ask_names_a_model_that_there_is() {
    let server = spawn().await;
    let with = |model: &str| {
        let mut body = ask(1, "Why?");
        body["model"] = json!(model);
        body
    };
    let problem = server.ask(&with("oracle-9"), 0).await.problem(400, "invalid_field");
    assert!(problem["detail"].as_str().unwrap().contains("`model`"));
    assert_eq!(server.look_up(&with(""), 0).await.json()["state"], "unknown");
    server.ask(&with("scripted-1"), 20).await.outcome(200, "completed");
    server.ask(&with("oracle-9"), 20).await.problem(422, "request_mismatch");
    assert_eq!(server.provider.calls()[0].model.as_deref(), Some("scripted-1"));
}

async fn raw(
    server: &Spawned,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> crate::support::Reply {
    let mut request = axum::http::Request::post("/api/v1/ask").header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    server.send(request.body(body.into()).unwrap()).await
}

const JSON: (&str, &str) = ("content-type", "application/json");
const EVIL: (&str, &str) = ("origin", "http://evil.test");

#[tokio::test(start_paused = true)]
async fn checks_come_in_their_order() {
    let server = spawn().await;
    let valid = ask(1, "Why?").to_string();
    let large = "x".repeat(512 * 1024 + 1);
    let evil_host = ("host", "evil.test");
    // Each request has every later fault too.
    raw(&server, &[evil_host, EVIL], large.clone()).await.problem(415, "unsupported_media_type");
    raw(&server, &[("content-type", "text/plain"), EVIL], large.clone())
        .await
        .problem(415, "unsupported_media_type");
    raw(&server, &[JSON, evil_host, EVIL], large).await.problem(413, "too_large");
    raw(&server, &[JSON, evil_host, EVIL], "{").await.problem(400, "invalid_json");
    raw(&server, &[JSON, evil_host, EVIL], "{}").await.problem(421, "host_rejected");
    raw(&server, &[JSON, EVIL], "{}").await.problem(403, "origin_rejected");
    raw(&server, &[JSON], "{}").await.problem(400, "invalid_request_id");
    raw(&server, &[JSON, ("idempotency-key", "x")], valid.clone())
        .await
        .problem(400, "key_mismatch");
    assert!(server.provider.calls().is_empty());
    raw(&server, &[("content-type", "APPLICATION/json; charset=utf-8")], valid)
        .await
        .outcome(200, "completed");
}

#[tokio::test(start_paused = true)]
async fn an_idempotency_key_can_only_repeat_the_id() {
    let server = spawn().await;
    let body = ask(1, "Why?").to_string();
    let own = id(1);
    let quoted = format!("\"{own}\"");
    for key in [&own, &quoted] {
        let reply = raw(&server, &[JSON, ("idempotency-key", key)], body.clone()).await;
        reply.outcome(200, "completed");
    }
    let two = [JSON, ("idempotency-key", own.as_str()), ("idempotency-key", "other")];
    raw(&server, &two, body.clone()).await.problem(400, "key_mismatch");
    let upper = own.to_uppercase().replace('0', "A");
    raw(&server, &[JSON, ("idempotency-key", &upper)], body).await.problem(400, "key_mismatch");
}

#[tokio::test(start_paused = true)]
async fn nothing_malformed_comes_through() {
    let server = spawn().await;
    let deep = "[".repeat(100_000);
    for (body, code) in [
        (&b""[..], "invalid_json"),
        (b"null", "invalid_json"),
        (b"[]", "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        (b"{\"question\": \"\\ud800\"}", "invalid_json"),
        (deep.as_bytes(), "invalid_json"),
    ] {
        raw(&server, &[JSON], body.to_vec()).await.problem(400, code);
    }
    for (name, value, code) in [
        ("request_id", json!(id(1).to_uppercase().replace('0', "A")), "invalid_request_id"),
        ("request_id", json!(format!("{{{}}}", id(1))), "invalid_request_id"),
        ("conversation_id", json!(1), "invalid_conversation_id"),
        ("question", json!(""), "invalid_field"),
        ("question", json!("\u{2003}\n"), "invalid_field"),
        ("question", json!("a\u{0}b"), "invalid_field"),
        ("question", json!("x".repeat(32_769)), "invalid_field"),
        ("question", json!({"a": 1}), "invalid_field"),
        ("current", json!("true"), "invalid_field"),
        ("remember", json!(0), "invalid_field"),
        ("language", json!("<b>"), "invalid_field"),
        ("model", json!([]), "invalid_field"),
        ("retry_of", json!("x"), "invalid_retry_of"),
    ] {
        let mut body = ask(1, "Why?");
        body[name] = value.clone();
        let problem = server.ask(&body, 0).await.problem(400, code);
        assert!(problem["detail"].as_str().unwrap().contains(name), "{name}: {problem}");
    }
    let unknown = server.look_up(&ask(1, ""), 0).await.outcome(202, "pending");
    assert_eq!(unknown["state"], "unknown");
}

#[tokio::test(start_paused = true)]
async fn the_largest_question_fits_whatever_its_characters_take() {
    let server = spawn().await;
    let question = "🦀".repeat(32_768);
    // As an encoder writes it that keeps to ASCII: the crab is a surrogate pair.
    let escaped = r"\ud83e\udd80".repeat(32_768);
    let body = ask(1, "QUESTION").to_string().replace("QUESTION", &escaped);
    assert!(body.len() > 390_000);
    let reply = raw(&server, &[JSON], body).await.outcome(200, "completed");
    assert_eq!(reply["question"], question);
}

#[tokio::test(start_paused = true)]
async fn the_language_is_the_bodys_or_the_browsers_first() {
    let server = spawn().await;
    let mut body = ask(1, "One?");
    body["language"] = json!("fr");
    let french = [JSON, ("accept-language", "de-CH, en;q=0.5")];
    raw(&server, &french, body.to_string()).await.outcome(200, "completed");
    raw(&server, &french, ask(2, "Two?").to_string()).await.outcome(200, "completed");
    let nonsense = [JSON, ("accept-language", "\"><script>")];
    raw(&server, &nonsense, ask(3, "Three?").to_string()).await.outcome(200, "completed");
    let languages: Vec<_> = server.provider.calls().into_iter().map(|call| call.language).collect();
    assert_eq!(languages, [Some("fr".to_owned()), Some("de-CH".to_owned()), None]);
}

#[tokio::test(start_paused = true)]
async fn leaving_at_any_point_changes_nothing_about_the_run() {
    for patience in 0..12 {
        let server = spawn().await;
        let body = ask(1, "hold");
        let mut reply = Box::pin(server.ask(&body, 20));
        // So many polls, and the client is gone.
        for _ in 0..patience {
            tokio::select! {
                biased;
                _ = &mut reply => panic!("nobody has answered"),
                () = std::future::ready(()) => {}
            }
            tokio::task::yield_now().await;
        }
        drop(reply);
        tokio::task::yield_now().await;
        let state = server.look_up(&body, 0).await.outcome(202, "pending")["state"].clone();
        if patience == 0 {
            assert_eq!(state, "unknown", "the request never left");
            continue;
        }
        let held = server.provider.held().await;
        held.say("whole");
        held.end();
        let outcome = server.look_up(&body, 20).await.outcome(200, "completed");
        assert_eq!(outcome["answer"]["text"], "whole", "after {patience} polls");
        assert_eq!(server.provider.calls_of(&id(1)), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stalls_or_breaks_off_is_the_networks_fault() {
    use axum::body::Bytes;
    use futures_util::{StreamExt as _, stream};
    let server = spawn().await;
    let half = || stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"{"))]);
    let started = tokio::time::Instant::now();
    let stalled = half().chain(stream::pending());
    let reply = raw(&server, &[JSON], Body::from_stream(stalled)).await;
    assert_eq!((reply.status.as_u16(), started.elapsed().as_secs()), (408, 20));
    assert_eq!(reply.header("retry-after"), Some("1"));
    let broken = half().chain(stream::iter([Err(std::io::Error::other("gone"))]));
    let broken = raw(&server, &[JSON], Body::from_stream(broken)).await;
    assert_eq!(broken.status.as_u16(), 400);
    for reply in [reply, broken] {
        assert_eq!(reply.header("content-type"), Some("application/problem+json"));
        let problem = reply.json();
        assert_eq!(problem["status"], reply.status.as_u16());
        assert!(problem.get("code").is_none(), "nothing was refused: {problem}");
    }
}
