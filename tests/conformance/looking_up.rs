//! § 3: a lookup tells what became of an ask, and never starts, repeats or changes anything.

use std::time::{Duration, Instant};

use holdfast_tests::mock::Script;

use crate::support::{Api, Ask, assert_problem, new_id, outcome};

#[tokio::test]
async fn an_unknown_id_and_the_wrong_conversation_get_the_same_reply_at_once() {
    let api = Api::start().await;
    let ask = Ask::new("known");
    api.ask_and_settle(&ask).await;
    let never = Ask::new("never sent");
    let elsewhere = ask.clone().with("conversation_id", new_id());
    let began = Instant::now();
    let unknown = api.looking_up(&never).header("Prefer", "wait=20").send().await.unwrap();
    let wrong = api.looking_up(&elsewhere).header("Prefer", "wait=20").send().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(10), "an unknown id returns at once");
    assert_eq!(outcome(&unknown, 202, &never)["state"], "unknown");
    outcome(&wrong, 202, &elsewhere);
    let members = |answer: &holdfast_tests::client::Answer| {
        answer.json().as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(members(&unknown), members(&wrong));
    assert_eq!(wrong.json()["state"], "unknown");
    let fields = |answer: &holdfast_tests::client::Answer| {
        let names = answer.head.headers.iter().map(|(name, _)| name.to_ascii_lowercase());
        names.collect::<Vec<_>>()
    };
    assert_eq!(fields(&unknown), fields(&wrong));
    assert_eq!(api.look_up(&never).await.json()["state"], "unknown", "looking up made nothing");
    assert_eq!(api.mock.calls().len(), 1);
}

#[tokio::test]
async fn both_ids_are_required_and_taken_as_they_are() {
    let api = Api::start().await;
    let ask = Ask::new("known");
    api.ask_and_settle(&ask).await;
    let (id, conversation) = (ask.id(), ask.conversation());
    let upper = id.to_uppercase();
    let encoded = format!("%{:x}{}", id.as_bytes()[0], &id[1..]);
    for (target, code) in [
        (id.to_owned(), "invalid_conversation_id"),
        (format!("{id}?conversation_id="), "invalid_conversation_id"),
        (format!("{id}?conversation_id=x"), "invalid_conversation_id"),
        (
            format!("{id}?conversation_id={}", conversation.to_uppercase()),
            "invalid_conversation_id",
        ),
        (format!("{upper}?conversation_id={conversation}"), "invalid_request_id"),
        (format!("{encoded}?conversation_id={conversation}"), "invalid_request_id"),
        (format!("%7B{id}%7D?conversation_id={conversation}"), "invalid_request_id"),
        (format!("x?conversation_id={conversation}"), "invalid_request_id"),
    ] {
        let answer = api.get(&format!("/api/v1/requests/{target}")).await;
        assert_problem(&answer, 400, code);
    }
}

#[tokio::test]
async fn an_answer_can_be_had_from_an_offset_on_in_pieces() {
    let api = Api::start().await;
    let whole = "ä€😀 ".repeat(20_000);
    api.mock.next(Script::new().delta(&whole).end());
    let ask = Ask::new("a long answer");
    let settled = api.ask_and_settle(&ask).await;
    let whole = settled["answer"]["text"].as_str().unwrap().to_owned();
    assert!(whole.len() > 190_000);
    let target = |after: &str| {
        let (id, conversation) = (ask.id(), ask.conversation());
        format!("/api/v1/requests/{id}?conversation_id={conversation}&after={after}")
    };
    let mut joined = String::new();
    while joined.len() < whole.len() {
        let piece = outcome(&api.get(&target(&joined.len().to_string())).await, 200, &ask);
        assert_eq!(piece["answer"]["offset"], joined.len());
        assert_eq!(piece["answer"]["bytes"], whole.len());
        let text = piece["answer"]["text"].as_str().unwrap();
        assert!(!text.is_empty() && text.len() <= 64 * 1024, "{} bytes", text.len());
        joined.push_str(text);
    }
    assert!(joined == whole, "the pieces join to the whole");
    let end = outcome(&api.get(&target(&whole.len().to_string())).await, 200, &ask);
    assert_eq!(end["answer"]["text"].as_str().unwrap_or_default(), "");
    for after in ["-1", "x", "1.5", ""] {
        assert_problem(&api.get(&target(after)).await, 400, "invalid_offset");
    }
}
