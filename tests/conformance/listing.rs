//! § 7: the list of conversations, and renaming one.

use serde_json::{Value, json};

use crate::support::{Api, Ask, assert_problem, new_id};

async fn list(api: &Api, query: &str) -> Value {
    let answer = api.get(&format!("/api/v1/conversations{query}")).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    answer.json()
}

fn ids(page: &Value) -> Vec<&str> {
    page["conversations"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn conversations_are_listed_the_newest_first_in_pages() {
    let api = Api::start().await;
    assert_eq!(list(&api, "").await, json!({"conversations": [], "next": null}));
    let asks: Vec<_> = (0..5).map(|number| Ask::new(&format!("number {number}"))).collect();
    for ask in &asks {
        api.ask_and_settle(ask).await;
    }
    let newest_first: Vec<_> = asks.iter().rev().map(Ask::conversation).collect();
    let whole = list(&api, "").await;
    assert_eq!(ids(&whole), newest_first);
    let first = &whole["conversations"][0];
    let members: Vec<_> = first.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["created_at", "id", "pending", "title", "turns", "updated_at"]);
    assert_eq!((&first["turns"], &first["pending"]), (&json!(1), &json!(0)));
    assert_eq!(first["title"], "number 4");

    let mut seen = Vec::new();
    let mut next = String::new();
    for round in 0.. {
        let page = list(&api, &format!("?limit=2{next}")).await;
        seen.extend(ids(&page).into_iter().map(str::to_owned));
        // What arrives meanwhile belongs to the first page, and moves none of the others.
        api.ask_and_settle(&asks[0].then(&format!("again {round}"))).await;
        let Some(cursor) = page["next"].as_str() else { break };
        next = format!("&before={cursor}");
    }
    assert_eq!(seen, newest_first[..4], "the one that moved up is not seen twice");
}

#[tokio::test]
async fn what_is_no_page_is_refused() {
    let api = Api::start().await;
    for query in ["limit=0", "limit=201", "limit=x", "before=x", "before=-1", "limit=1&limit=1"] {
        let answer = api.get(&format!("/api/v1/conversations?{query}")).await;
        assert_problem(&answer, 400, "invalid_field");
    }
    for query in ["limit=1", "limit=200"] {
        list(&api, &format!("?{query}")).await;
    }
}

#[tokio::test]
async fn a_conversation_is_renamed() {
    let api = Api::start().await;
    let ask = Ask::new("Why?");
    api.ask_and_settle(&ask).await;
    let rename = async |id: &str, body: Value| {
        let target = format!("/api/v1/conversations/{id}");
        api.request("PATCH", &target).json(&body).send().await.unwrap()
    };
    let renamed = rename(ask.conversation(), json!({"title": " Sky "})).await;
    assert_eq!((renamed.status(), &renamed.json()["title"]), (200, &json!("Sky")));
    assert_eq!(renamed.json(), list(&api, "").await["conversations"][0]);
    api.ask_and_settle(&ask.then("And then?")).await;
    let conversation = api.conversation(ask.conversation()).await.json();
    assert_eq!(conversation["title"], "Sky", "a rename is never overwritten");
    for title in [json!(""), json!("\u{0}"), json!("a".repeat(201)), json!(1)] {
        let refused = rename(ask.conversation(), json!({ "title": title })).await;
        assert_problem(&refused, 400, "invalid_field");
    }
    let unknown = rename(&new_id(), json!({"title": "x"})).await;
    assert_problem(&unknown, 404, "conversation_not_found");
    let no_id = rename("x", json!({"title": "x"})).await;
    assert_problem(&no_id, 400, "invalid_conversation_id");
}
