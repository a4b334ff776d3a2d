//! § 5: an ask is followed as it is answered, by its own route and as the reply to the ask.

mod slow;
mod stream;

use std::time::{Duration, Instant};

use holdfast_protocol::following::Followed;
use holdfast_tests::mock::Script;
use serde_json::{Value, json};

use self::stream::{events, open, texts};
use crate::support::{Api, Ask, assert_problem, new_id, outcome};

#[tokio::test]
async fn a_stream_tells_states_reasoning_pieces_and_the_outcome() {
    let api = Api::start().await;
    let script = Script::new().reasoning("hm").gate("think").delta("Grü").gate("go").delta("ße\n");
    api.mock.on("tell", script.end());
    let ask = Ask::new("tell");
    api.ask(&ask).await;
    let mut stream = open(&events(&api, &ask, "")).await.unwrap();
    assert_eq!(stream.head.status, 200);
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-store, no-transform"),
        ("x-accel-buffering", "no"),
    ] {
        assert_eq!(stream.head.header(name), Some(value), "{name}");
    }
    let first = stream.event().await.unwrap();
    assert_eq!((first.name.as_str(), first.id.as_str()), ("state", ""));
    let state: Value = serde_json::from_str(&first.data).unwrap();
    assert_eq!((&state["request_id"], &state["status"]), (&json!(ask.id()), &json!("pending")));
    assert!(state.get("question").is_none() && state.get("answer").is_none(), "{state}");
    let reasoning = stream.event_named("reasoning").await;
    assert_eq!(reasoning.data, r#"{"text":"hm"}"#);
    api.mock.open("think");
    let delta = stream.event_named("delta").await;
    assert_eq!((delta.id.as_str(), delta.data.as_str()), ("4", r#"{"offset":0,"text":"Grü"}"#));
    api.mock.open("go");
    let delta = stream.event_named("delta").await;
    assert_eq!((delta.id.as_str(), delta.data.as_str()), ("8", r#"{"offset":4,"text":"ße\n"}"#));
    let last = stream.event_named("outcome").await;
    let mut settled = outcome(&api.look_up(&ask).await, 200, &ask);
    assert_eq!(settled["answer"].as_object_mut().unwrap().remove("text"), Some(json!("Grüße\n")));
    assert_eq!(settled["answer"]["bytes"], 8);
    assert_eq!(serde_json::from_str::<Value>(&last.data).unwrap(), settled);
    assert_eq!(stream.event().await, None, "the outcome is the end, and a proper one");
}

#[tokio::test]
async fn an_ask_that_wants_events_gets_them_and_a_known_id_attaches() {
    let api = Api::start().await;
    api.mock.on("gated", Script::gated("one ", "go", "run"));
    let ask = Ask::new("gated");
    let asking = api.asking(&ask).header("Accept", "text/event-stream");
    let mut first = open(&asking).await.unwrap();
    assert_eq!(first.head.header("content-type"), Some("text/event-stream"));
    first.until_text("one ").await;
    let second = open(&asking).await.unwrap();
    api.mock.open("go");
    for stream in [first, second] {
        let told = stream.rest().await;
        assert_eq!(told.settled(), ("completed", "one run"));
    }
    assert_eq!(open(&asking).await.unwrap().rest().await.settled(), ("completed", "one run"));
    assert_eq!(api.calls(&ask), 1);

    let refused = |ask: &Ask| api.asking(ask).header("Accept", "text/event-stream");
    let other = ask.clone().with("question", "another");
    assert_problem(&refused(&other).send().await.unwrap(), 422, "request_mismatch");
    let empty = Ask::new(" ");
    assert_problem(&refused(&empty).send().await.unwrap(), 400, "invalid_field");
    for accept in ["application/json", "*/*", "application/json, text/event-stream;q=0.5"] {
        let answer = api.asking(&ask).header("Accept", accept).send().await.unwrap();
        outcome(&answer, 200, &ask);
    }
}

#[tokio::test]
async fn an_offset_goes_on_where_it_is_one_and_begins_anew_where_it_is_none() {
    let api = Api::start().await;
    api.mock.on("gated", Script::new().delta("aé世").gate("go").end());
    let (running, settled) = (Ask::new("gated"), Ask::new("whole"));
    api.mock.on("whole", Script::new().delta("aé世").end());
    api.ask(&running).await;
    api.outcome_when(&running, "begun", |outcome| outcome["answer"]["bytes"] == 6).await;
    api.ask_and_settle(&settled).await;
    for ask in [&running, &settled] {
        for (query, id, offset, text) in [
            ("", None, 0, "aé世"),
            ("&after=1", None, 1, "é世"),
            ("&after=2", None, 0, "aé世"),
            ("&after=7", None, 0, "aé世"),
            ("", Some("3"), 3, "世"),
            ("", Some("4"), 0, "aé世"),
            ("&after=1", Some("3"), 1, "é世"),
            ("&after=1", Some("x"), 1, "é世"),
        ] {
            let mut request = events(&api, ask, query);
            if let Some(id) = id {
                request = request.header("Last-Event-ID", id);
            }
            let event = open(&request).await.unwrap().event_named("delta").await;
            let wanted = Followed::Delta { offset, text: text.to_owned() };
            assert_eq!(Followed::from_event(&event), Some(wanted), "{query} {id:?}");
            assert_eq!(event.id, "6");
        }
        for after in ["-1", "x", "1.5", ""] {
            let request = events(&api, ask, &format!("&after={after}"));
            assert_problem(&request.send().await.unwrap(), 400, "invalid_offset");
        }
        for id in ["-1", "x", "1.5"] {
            let request = events(&api, ask, "").header("Last-Event-ID", id);
            assert_problem(&request.send().await.unwrap(), 400, "invalid_offset");
        }
    }
    // Nothing is left to say but how it ended.
    let end = open(&events(&api, &settled, "&after=6")).await.unwrap().rest().await;
    assert!(matches!(&*end.events, [Followed::Outcome(_)]), "{:?}", end.events);
}

#[tokio::test]
async fn what_is_unknown_gets_no_stream_and_what_is_malformed_is_refused() {
    let api = Api::start().await;
    let ask = Ask::new("known");
    api.ask_and_settle(&ask).await;
    let elsewhere = ask.clone().with("conversation_id", new_id());
    for unknown in [&Ask::new("never sent"), &elsewhere] {
        let answer = events(&api, unknown, "").send().await.unwrap();
        assert_eq!(outcome(&answer, 202, unknown)["state"], "unknown");
    }
    let (id, conversation) = (ask.id(), ask.conversation());
    for (target, code) in [
        (format!("{id}/events"), "invalid_conversation_id"),
        (format!("x/events?conversation_id={conversation}"), "invalid_request_id"),
    ] {
        let answer = api.get(&format!("/api/v1/requests/{target}")).await;
        assert_problem(&answer, 400, code);
    }
    let head = api.request("HEAD", events(&api, &ask, "").target()).send().await.unwrap();
    assert_eq!(head.status(), 200);
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    assert_eq!(head.header("x-accel-buffering"), Some("no"));
}

#[tokio::test]
async fn a_silent_stream_comments_every_three_seconds() {
    let api = Api::start().await;
    api.mock.on("hang", Script::hang());
    let ask = Ask::new("hang");
    let mut stream = open(&api.asking(&ask).header("Accept", "text/event-stream")).await.unwrap();
    stream.event_named("state").await;
    let began = Instant::now();
    let mut comments = 0;
    while comments < 2 {
        let piece = stream.piece().await.unwrap();
        comments += usize::from(piece.starts_with(b":"));
    }
    let took = began.elapsed();
    let bounds = Duration::from_secs(5)..Duration::from_secs(12);
    assert!(bounds.contains(&took), "two comments within {took:?}");
}

#[tokio::test]
async fn to_hang_up_on_a_stream_hangs_up_on_nothing_else() {
    let api = Api::start().await;
    api.mock.on("gated", Script::gated("half ", "go", "whole"));
    let ask = Ask::new("gated");
    let mut stream = open(&api.asking(&ask).header("Accept", "text/event-stream")).await.unwrap();
    stream.until_text("half ").await;
    drop(stream);
    api.mock.open("go");
    assert_eq!(api.settled(&ask).await["answer"]["text"], "half whole");
    let rest = open(&events(&api, &ask, "&after=5")).await.unwrap().rest().await;
    assert_eq!(texts(&rest.events), ["whole"]);
    assert_eq!(api.calls(&ask), 1);
}

#[tokio::test]
async fn a_stop_is_told_to_all_who_follow() {
    let api = Api::start().await;
    api.mock.on("hang", Script::new().delta("half").gate("never"));
    let ask = Ask::new("hang");
    let mut first = open(&api.asking(&ask).header("Accept", "text/event-stream")).await.unwrap();
    first.until_text("half").await;
    let second = open(&events(&api, &ask, "")).await.unwrap();
    outcome(&api.cancel(&ask).await, 200, &ask);
    for stream in [first, second] {
        assert_eq!(stream.rest().await.settled(), ("cancelled", "half"));
    }
}

#[tokio::test]
async fn a_server_that_goes_down_ends_its_streams_in_good_time() {
    let mut api = Api::start_with(|start| start.argument("--drain", "1")).await;
    api.mock.on("hang", Script::new().delta("half").gate("never"));
    let running = Ask::new("hang");
    let waiting = running.then("next");
    let streaming = |ask| api.asking(ask).header("Accept", "text/event-stream");
    let mut first = open(&streaming(&running)).await.unwrap();
    first.until_text("half").await;
    let second = open(&streaming(&waiting)).await.unwrap();
    api.holdfast.terminate();
    assert_eq!(first.rest().await.settled(), ("interrupted", "half"));
    let waited = second.rest().await;
    let ends = waited.events.iter().any(|event| matches!(event, Followed::Outcome(_)));
    assert!(!ends, "what waits has not ended: {:?}", waited.events);
    assert_eq!(api.holdfast.ended().await.code(), Some(0));
    api.holdfast.restart().await;
    let told = open(&events(&api, &waiting, "")).await.unwrap().rest().await;
    assert_eq!(told.settled().0, "completed");
}
