//! § 7: reading one conversation.

use crate::support::{Api, Ask, assert_problem, new_id};

#[tokio::test]
async fn a_conversation_is_its_outcomes_in_order() {
    let api = Api::start().await;
    let first = Ask::new("What is a holdfast?");
    let second = first.then("And a haptera?");
    let settled = [api.ask_and_settle(&first).await, api.ask_and_settle(&second).await];
    let answer = api.conversation(first.conversation()).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let conversation = answer.json();
    assert_eq!(conversation["id"], first.conversation());
    assert!(conversation["title"].as_str().is_some_and(|title| title.contains("holdfast")));
    assert_eq!(conversation["turns"].as_array().unwrap(), &settled);
    assert!(conversation["next"].is_null());
}

#[tokio::test]
async fn its_turns_come_in_pages_newest_first() {
    let api = Api::start().await;
    let first = Ask::new("1");
    api.ask_and_settle(&first).await;
    for number in 2..=5 {
        api.ask_and_settle(&first.then(&number.to_string())).await;
    }
    let mut seen = Vec::new();
    let mut target = format!("/api/v1/conversations/{}?limit=2", first.conversation());
    loop {
        let page = api.get(&target).await.json();
        let turns = page["turns"].as_array().unwrap();
        assert!(turns.len() <= 2 && !turns.is_empty());
        seen.splice(0..0, turns.iter().map(|turn| turn["seq"].as_u64().unwrap()));
        let Some(next) = page["next"].as_u64() else { break };
        target = format!("/api/v1/conversations/{}?limit=2&before={next}", first.conversation());
    }
    assert_eq!(seen, [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn what_is_no_conversation_is_refused() {
    let api = Api::start().await;
    let ask = Ask::new("q");
    api.ask_and_settle(&ask).await;
    assert_problem(&api.conversation(&new_id()).await, 404, "conversation_not_found");
    assert_problem(&api.conversation("x").await, 400, "invalid_conversation_id");
    let upper = ask.conversation().to_uppercase();
    assert_problem(&api.conversation(&upper).await, 400, "invalid_conversation_id");
    for query in ["limit=0", "limit=201", "limit=x", "before=x", "before=-1"] {
        let answer = api.conversation(&format!("{}?{query}", ask.conversation())).await;
        assert_problem(&answer, 400, "invalid_field");
    }
}

#[tokio::test]
async fn an_ask_that_was_cancelled_before_it_arrived_does_not_hide_the_others() {
    let api = Api::start().await;
    let first = Ask::new("first");
    api.ask_and_settle(&first).await;
    let never = first.then("never");
    api.cancel(&never).await;
    let turns = api.conversation(first.conversation()).await.json()["turns"].clone();
    assert_eq!(turns[0]["request_id"], first.id());
}
