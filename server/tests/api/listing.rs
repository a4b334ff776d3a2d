//! `GET api/v1/conversations` and `PATCH api/v1/conversations/{id}`.

use std::time::Duration;

use serde_json::json;

use crate::support::{ask, ask_in, id, spawn};

#[tokio::test(start_paused = true)]
async fn the_list_says_what_a_conversation_is_and_what_goes_on_in_it() {
    let server = spawn().await;
    let empty = server.get("/api/v1/conversations").await.json();
    assert_eq!(empty, json!({"conversations": [], "next": null}));
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    server.clock.advance(Duration::from_mins(1));
    server.ask(&ask(2, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask(3, "And then?"), 0).await.outcome(202, "pending");
    let list = server.get("/api/v1/conversations").await.json();
    assert_eq!(
        list,
        json!({
            "conversations": [{
                "id": id(1 << 64), "title": "Why?", "turns": 3, "pending": 2,
                "created_at": "2026-01-31T09:00:00.000Z",
                "updated_at": "2026-01-31T09:01:00.000Z",
            }],
            "next": null,
        })
    );
}

#[tokio::test(start_paused = true)]
async fn pages_hold_still_while_new_questions_arrive() {
    let server = spawn().await;
    for number in 1..=5 {
        server.ask(&ask_in(number, number, "Why?"), 20).await.outcome(200, "completed");
        server.clock.advance(Duration::from_secs(1));
    }
    let page = async |query: &str| {
        let page = server.get(&format!("/api/v1/conversations?limit=2{query}")).await.json();
        let ids: Vec<_> =
            page["conversations"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
        (ids, page["next"].as_str().map(|next| format!("&before={next}")))
    };
    let ids = |numbers: [u128; 2]| numbers.map(|number| json!(id(number << 64))).to_vec();
    let (first, next) = page("").await;
    assert_eq!(first, ids([5, 4]));
    server.ask(&ask_in(9, 9, "New?"), 20).await.outcome(200, "completed");
    server.ask(&ask_in(5, 10, "Again?"), 20).await.outcome(200, "completed");
    let (second, next) = page(&next.unwrap()).await;
    assert_eq!(second, ids([3, 2]));
    assert_eq!(page(&next.unwrap()).await, (vec![json!(id(1 << 64))], None));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_page_of_the_list_is_refused() {
    let server = spawn().await;
    for query in
        ["limit=0", "limit=201", "limit=x", "limit=", "before=", "before=1", "before=a&before=a"]
    {
        let reply = server.get(&format!("/api/v1/conversations?{query}")).await;
        reply.problem(400, "invalid_field");
    }
    assert_eq!(server.get("/api/v1/conversations?limit=200").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_renamed_and_stays_so() {
    let server = spawn().await;
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    let path = format!("/api/v1/conversations/{}", id(1 << 64));
    let renamed = server.patch(&path, &json!({"title": "  Héllo 雲  ", "colour": 1})).await;
    assert_eq!(renamed.status, 200);
    let list = server.get("/api/v1/conversations").await.json();
    assert_eq!(renamed.json(), list["conversations"][0]);
    assert_eq!(renamed.json()["title"], "Héllo 雲");
    server.ask(&ask(2, "Another?"), 20).await.outcome(200, "completed");
    let server = server.crash().await;
    assert_eq!(server.conversation(&ask(1, "")).await["title"], "Héllo 雲");
    let longest = json!({"title": "雲".repeat(200)});
    assert_eq!(server.patch(&path, &longest).await.json()["title"], longest["title"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_title_is_refused_and_changes_nothing() {
    let server = spawn().await;
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    let path = format!("/api/v1/conversations/{}", id(1 << 64));
    for wrong in
        [json!(""), json!(" \n"), json!("a\u{0}b"), json!("é".repeat(201)), json!(7), json!(null)]
    {
        let refused = server.patch(&path, &json!({ "title": wrong })).await;
        let problem = refused.problem(400, "invalid_field");
        assert!(problem["detail"].as_str().unwrap().contains("title"), "{problem}");
    }
    server.patch(&path, &json!({})).await.problem(400, "invalid_field");
    server.patch(&path, &json!(["title"])).await.problem(400, "invalid_json");
    let elsewhere = format!("/api/v1/conversations/{}", id(9));
    let unknown = server.patch(&elsewhere, &json!({"title": "x"})).await;
    unknown.problem(404, "conversation_not_found");
    let no_id = server.patch("/api/v1/conversations/9", &json!({"title": "x"})).await;
    no_id.problem(400, "invalid_conversation_id");
    assert_eq!(server.conversation(&ask(1, "")).await["title"], "Why?");
}
