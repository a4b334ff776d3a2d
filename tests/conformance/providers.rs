//! §§ 4 and 12: what a provider does becomes an outcome with a code and a sentence; nothing is
//! called twice.

use std::time::Duration;

use holdfast_tests::mock::{Script, Step};
use serde_json::{Value, json};

use crate::support::{Api, Ask};

const PAUSE: Duration = Duration::ZERO;

/// Asserts that an outcome failed with this code and an own sentence, and kept this text.
#[track_caller]
fn assert_failed(outcome: &Value, code: &str, text: &str) {
    assert_eq!(outcome["status"], "failed", "{outcome:#}");
    assert_eq!(outcome["error"]["code"], code, "{outcome:#}");
    assert!(outcome["error"]["message"].as_str().is_some_and(|it| !it.is_empty()), "{outcome:#}");
    assert!(outcome["error"]["retryable"].is_boolean(), "{outcome:#}");
    assert_eq!(outcome["answer"]["text"].as_str().unwrap_or_default(), text, "{outcome:#}");
}

#[tokio::test]
async fn each_fault_of_a_provider_has_its_code_and_keeps_what_was_said() {
    let api = Api::start().await;
    let words = || Script::new().words("some words ");
    let error_event = json!({"error": {"message": "overloaded", "type": "server_error"}});
    let html = b"<html>Welcome to the captive portal</html>".to_vec();
    let throttled = Script::reply(429, &[("Retry-After", "9")], b"{}".to_vec());
    for (script, code, text) in [
        (Script::refuse(400, "bad"), "provider_rejected", ""),
        (Script::refuse(401, "who?"), "provider_rejected", ""),
        (Script::refuse(404, "no such model"), "provider_rejected", ""),
        (throttled, "provider_throttled", ""),
        (Script::refuse(500, "oh"), "provider_failed", ""),
        (Script::refuse(503, "busy"), "provider_failed", ""),
        (Script::reply(200, &[("Content-Type", "text/html")], html), "provider_failed", ""),
        (Script::new().then(Step::Reset), "provider_failed", ""),
        (words().then(Step::Reset), "provider_failed", "some words "),
        // A clean end without its mark: nobody knows whether that was all.
        (words(), "provider_failed", "some words "),
        (words().then(Step::Event(error_event)), "provider_failed", "some words "),
        (words().then(Step::Raw(b"data: {broken\n\n".to_vec())), "provider_failed", "some words "),
        (words().then(Step::Raw(b"data: \"\xff\"\n\n".to_vec())), "provider_failed", "some words "),
        (Script::new().end(), "provider_empty", ""),
        (Script::new().words("  \n ").end(), "provider_empty", "  \n "),
        (Script::new().reasoning("hm").end(), "provider_empty", ""),
    ] {
        let shown = format!("{script:?}");
        api.mock.next(script);
        let ask = Ask::new("what will it do?");
        let outcome = api.ask_and_settle(&ask).await;
        eprintln!("{code}: {shown}");
        if code == "provider_empty" {
            assert_eq!(outcome["error"]["code"], code, "{outcome:#}");
        } else {
            assert_failed(&outcome, code, text);
        }
        assert_eq!(api.calls(&ask), 1, "no retries");
        assert_eq!(outcome["receipt"]["provider_calls"], 1);
    }
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_unreachable() {
    let api = Api::start_with(|_| {
        holdfast_tests::server::Start::with_provider_at("http://127.0.0.1:9/v1")
    })
    .await;
    let ask = Ask::new("is anybody there?");
    assert_failed(&api.ask_and_settle(&ask).await, "provider_unreachable", "");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let api = Api::start().await;
    let elsewhere = format!("http://{}/elsewhere", api.mock.address());
    for status in [301, 302, 307, 308] {
        api.mock.next(Script::reply(status, &[("Location", &elsewhere)], Vec::new()));
        let ask = Ask::new("elsewhere?");
        let outcome = api.ask_and_settle(&ask).await;
        assert_eq!(outcome["status"], "failed", "{outcome:#}");
        assert_eq!(api.calls(&ask), 1);
    }
    assert!(api.mock.calls().iter().all(|call| call.path == "/v1/chat/completions"));
}

#[tokio::test]
async fn an_answer_that_will_not_end_is_too_large() {
    let api = Api::start().await;
    api.mock.next(Script::flood(5_000_000).then(Step::Hang));
    let ask = Ask::new("all of it");
    let outcome = api.ask_and_settle(&ask).await;
    assert_eq!(outcome["status"], "failed");
    assert_eq!(outcome["error"]["code"], "answer_too_large");
    let kept = outcome["answer"]["text"].as_str().unwrap().len();
    assert!((1_500_000..=2_000_000).contains(&kept), "{kept} bytes are kept");
    api.mock.wait("the hang-up", |calls| calls[0].client_closed()).await;
    assert_eq!(api.calls(&ask), 1);
}

#[tokio::test]
async fn finish_reasoning_and_usage_are_kept_apart() {
    let api = Api::start().await;
    for (reason, finish) in [("stop", "stop"), ("length", "length"), ("content_filter", "filtered")]
    {
        let script = Script::new().reasoning("let me ").reasoning("think").words("so it is");
        api.mock.next(script.finish(reason).usage(7, 9).done());
        let outcome = api.ask_and_settle(&Ask::new("why?")).await;
        assert_eq!(outcome["status"], "completed");
        assert_eq!(outcome["answer"]["text"], "so it is");
        assert_eq!(outcome["answer"]["reasoning"], "let me think");
        assert_eq!(outcome["answer"]["finish"], finish);
        assert_eq!(outcome["receipt"]["input_tokens"], 7);
        assert_eq!(outcome["receipt"]["output_tokens"], 9);
        assert_eq!(outcome["receipt"]["usage_estimated"], false);
    }
}

#[tokio::test]
async fn lenient_where_no_meaning_is_lost() {
    let api = Api::start().await;
    let text = "Größe: 10 € 😀 — ok";
    for script in [
        // The finish reason is a mark of the end; `[DONE]` adds nothing.
        Script::new().words(text).finish("stop"),
        Script::new().words(text).done(),
        Script::dripped(text, 1, PAUSE),
        Script::dripped(text, 3, PAUSE),
        Script::new()
            .then(Step::Raw(b": a comment\n\nevent: message\n".to_vec()))
            .words(text)
            .then(Step::Event(json!({"choices": []})))
            .then(Step::Event(json!({"unknown": {"deep": true}, "choices": [{"delta": null}]})))
            .end(),
    ] {
        let shown = format!("{script:?}");
        api.mock.next(script);
        let outcome = api.ask_and_settle(&Ask::new("be lenient")).await;
        assert_eq!(outcome["status"], "completed", "{shown}: {outcome:#}");
        assert_eq!(outcome["answer"]["text"], text, "{shown}");
        assert_eq!(outcome["receipt"]["provider_calls"], 1, "{outcome:#}");
    }
}

#[tokio::test]
async fn the_call_carries_the_id_an_agent_and_the_key_and_asks_for_a_stream() {
    let key = "sk-very-secret-0123456789";
    let api = Api::start_with(|start| start.environment("HOLDFAST_PROVIDER_KEY", key)).await;
    let ask = Ask::new("q").with("language", "de");
    api.ask_and_settle(&ask).await;
    let call = &api.mock.calls()[0];
    let header = |name: &str| {
        let mut headers = call.headers.iter();
        headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    };
    assert_eq!(call.key.as_deref(), Some(ask.id()));
    assert_eq!(header("authorization"), Some(format!("Bearer {key}").as_str()));
    assert!(header("user-agent").is_some_and(|agent| agent.starts_with("holdfast")));
    assert_eq!(call.body["stream"], true);
    assert_eq!(call.body["model"], "mock");

    // Whatever the provider says, the secret is told to nobody.
    api.mock.next(Script::refuse(401, &format!("the key {key} is no good <b>")));
    let refused = Ask::new("refused");
    let outcome = api.ask_and_settle(&refused).await;
    assert_failed(&outcome, "provider_rejected", "");
    assert!(!outcome.to_string().contains(key), "{outcome}");
    let said = api.holdfast.stderr();
    assert!(!said.contains(key) && !said.contains("refused"), "no secret, no question: {said}");
}

#[tokio::test]
async fn without_a_provider_the_handbook_answers_and_nobody_is_called() {
    let api = Api::start_with(|_| holdfast_tests::server::Start::plain()).await;
    let ask = Ask::new("What happens to my answer when the line drops?");
    let outcome = api.ask_and_settle(&ask).await;
    assert_eq!(outcome["status"], "completed", "{outcome:#}");
    assert_eq!(outcome["route"], "notes");
    assert_eq!(outcome["receipt"]["provider"], "notes");
    assert_eq!(outcome["receipt"]["provider_calls"], 0);
    assert!(outcome["answer"]["text"].as_str().is_some_and(|text| text.len() > 100));
    assert!(api.mock.calls().is_empty());
}
