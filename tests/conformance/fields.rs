//! §§ 1 and 2: what the fields of an ask may be, and how a wrong one is refused.

use serde_json::{Value, json};

use crate::support::{Api, Ask, assert_problem, new_id, outcome};

#[tokio::test]
async fn each_wrong_field_is_refused_and_named() {
    let api = Api::start().await;
    let id = new_id();
    let not_ids = [
        Value::Null,
        json!(7),
        json!(""),
        json!("first"),
        json!(id.to_uppercase()),
        json!(format!("{{{id}}}")),
        json!(format!("urn:uuid:{id}")),
        json!(id.replace('-', "")),
        json!(format!(" {id}")),
        json!(id.replace('-', "\u{2010}")),
    ];
    let mut cases: Vec<(&str, Value, &str)> = Vec::new();
    for not_id in &not_ids {
        cases.push(("request_id", not_id.clone(), "invalid_request_id"));
        cases.push(("conversation_id", not_id.clone(), "invalid_conversation_id"));
    }
    cases.extend([
        ("question", Value::Null, "invalid_field"),
        ("question", json!(7), "invalid_field"),
        ("question", json!(["a"]), "invalid_field"),
        ("question", json!(""), "invalid_field"),
        ("question", json!(" \t\r\n\u{3000}\u{a0}"), "invalid_field"),
        ("question", json!("a\0b"), "invalid_field"),
        ("question", json!("é".repeat(32_769)), "invalid_field"),
        ("current", json!("yes"), "invalid_field"),
        ("remember", json!(1), "invalid_field"),
        ("language", json!(1), "invalid_field"),
        ("language", json!("a".repeat(36)), "invalid_field"),
        ("model", json!({}), "invalid_field"),
        ("retry_of", json!("first"), "invalid_retry_of"),
    ]);
    for (field, value, code) in cases {
        let ask = Ask::new("a question").with(field, value.clone());
        let answer = api.ask(&ask).await;
        assert_problem(&answer, 400, code);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(field), "{field} = {value}: {detail}");
    }
    for field in ["request_id", "conversation_id", "question"] {
        let answer = api.ask(&Ask::new("a question").without(field)).await;
        assert_eq!(answer.status(), 400, "without {field}");
        assert!(answer.text().contains(field));
    }
    assert!(api.mock.calls().is_empty());
}

#[tokio::test]
async fn a_body_that_is_no_json_object_is_refused() {
    let api = Api::start().await;
    for body in ["", "{", "nonsense", "[]", "null", "\"text\"", "7", "{\"question\": \"\\ud800\"}"]
    {
        let answer = api
            .request("POST", "/api/v1/ask")
            .header("Content-Type", "application/json")
            .body(body)
            .send()
            .await
            .unwrap();
        assert_problem(&answer, 400, "invalid_json");
    }
    let not_utf8 = api
        .request("POST", "/api/v1/ask")
        .header("Content-Type", "application/json")
        .body(b"{\"question\": \"\xff\"}".to_vec())
        .send()
        .await
        .unwrap();
    assert_problem(&not_utf8, 400, "invalid_json");
    let deep = "[".repeat(100_000);
    let deep = api
        .request("POST", "/api/v1/ask")
        .header("Content-Type", "application/json")
        .body(deep)
        .send()
        .await
        .unwrap();
    assert_problem(&deep, 400, "invalid_json");
    assert_eq!(api.get("/readyz").await.status(), 200);
}

#[tokio::test]
async fn only_json_is_taken_and_its_parameters_are_of_no_interest() {
    let api = Api::start().await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let answer = api.asking(&Ask::new("q")).header("Content-Type", kind).send().await.unwrap();
        assert_problem(&answer, 415, "unsupported_media_type");
    }
    let answer = api.asking(&Ask::new("q")).without("Content-Type").send().await.unwrap();
    assert_problem(&answer, 415, "unsupported_media_type");
    let ask = Ask::new("q");
    let answer = api.asking(&ask).header("Content-Type", "Application/JSON; charset=utf-8");
    assert!([200, 202].contains(&answer.send().await.unwrap().status()));
}

#[tokio::test]
async fn a_question_is_counted_in_characters_after_trimming() {
    let api = Api::start().await;
    // 32,768 characters of four bytes each, white space around them.
    let text = "😀".repeat(32_768);
    let ask = Ask::new(&format!("\u{3000}\n {text}\t\u{a0}"));
    let settled = api.ask_and_settle(&ask).await;
    assert_eq!(settled["question"].as_str(), Some(text.as_str()));
    assert_eq!(api.mock.calls_of(ask.id())[0].question, text);
}

#[tokio::test]
async fn a_body_may_be_512_kib_and_no_more() {
    let api = Api::start().await;
    for (size, taken) in [(512 * 1024, true), (512 * 1024 + 1, false)] {
        let ask = Ask::new("large").with("padding", "");
        let empty = ask.body().to_string().len();
        let ask = ask.with("padding", "x".repeat(size - empty));
        let answer = api.ask(&ask).await;
        if taken {
            assert!([200, 202].contains(&answer.status()), "{}", answer.text());
        } else {
            assert_problem(&answer, 413, "too_large");
        }
    }
}

#[tokio::test]
async fn an_idempotency_key_can_only_repeat_the_id() {
    let api = Api::start().await;
    let ask = Ask::new("with a key");
    let other = api.asking(&ask).header("Idempotency-Key", &new_id()).send().await.unwrap();
    assert_problem(&other, 400, "key_mismatch");
    assert_eq!(api.look_up(&ask).await.json()["state"], "unknown");
    let own = api.asking(&ask).header("Idempotency-Key", ask.id()).send().await.unwrap();
    assert!([200, 202].contains(&own.status()));
    assert_eq!(api.settled(&ask).await["status"], "completed");
}

#[tokio::test]
async fn unknown_fields_are_ignored() {
    let api = Api::start().await;
    let ask = Ask::new("q").with("colour", json!({"deep": [1, 2]}));
    assert_eq!(api.ask_and_settle(&ask).await["status"], "completed");
    // They are no part of the fingerprint either.
    outcome(&api.ask(&ask.clone().without("colour")).await, 200, &ask);
    assert_eq!(api.calls(&ask), 1);
}
