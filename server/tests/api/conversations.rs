//! `GET api/v1/conversations/{id}`.

use serde_json::json;

use crate::support::{ask, ask_in, id, spawn};

#[tokio::test(start_paused = true)]
async fn a_conversation_is_its_outcomes_in_order() {
    let server = spawn().await;
    let long = "Why is the sky blue, and why are sunsets red, and why is the night black?";
    let first = server.ask(&ask(1, long), 20).await.outcome(200, "completed");
    let second = server.ask(&ask(2, "And then?"), 20).await.outcome(200, "completed");
    server.ask(&ask_in(2, 3, "Elsewhere?"), 20).await.outcome(200, "completed");
    let conversation = server.conversation(&ask(1, "")).await;
    assert_eq!(conversation["id"], id(1 << 64));
    assert_eq!(
        conversation["title"],
        "Why is the sky blue, and why are sunsets red, and why is the…"
    );
    assert_eq!(conversation["turns"], json!([first, second]));
    assert!(conversation["next"].is_null() && conversation.get("next").is_some());
}

#[tokio::test(start_paused = true)]
async fn turns_under_way_are_as_they_stand_now() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask(2, "Why?"), 0).await.outcome(202, "pending");
    server.provider.held().await.say("so far");
    tokio::task::yield_now().await;
    let conversation = server.conversation(&ask(1, "")).await;
    let turns = &conversation["turns"];
    assert_eq!(turns[0]["answer"]["text"], "so far");
    assert_eq!((&turns[0]["state"], &turns[1]["state"]), (&json!("running"), &json!("accepted")));
    assert_eq!(turns[1]["queue"], 1);
    assert_eq!(turns[0], server.look_up(&ask(1, ""), 0).await.json());
}

#[tokio::test(start_paused = true)]
async fn pages_go_back_in_time() {
    let server = spawn().await;
    for number in 1..=5 {
        server.ask(&ask(number, "Why?"), 20).await.outcome(200, "completed");
    }
    let path = format!("/api/v1/conversations/{}", id(1 << 64));
    let seqs = async |query: &str| {
        let page = server.get(&format!("{path}{query}")).await.json();
        let seqs: Vec<_> =
            page["turns"].as_array().unwrap().iter().map(|turn| turn["seq"].clone()).collect();
        (seqs, page["next"].clone())
    };
    assert_eq!(seqs("?limit=2").await, (vec![json!(4), json!(5)], json!(4)));
    assert_eq!(seqs("?limit=2&before=4").await, (vec![json!(2), json!(3)], json!(2)));
    assert_eq!(seqs("?limit=2&before=2").await, (vec![json!(1)], json!(null)));
    assert_eq!(seqs("").await.0.len(), 5);
    for query in ["?limit=0", "?limit=201", "?limit=x", "?before=x", "?before=1&before=2"] {
        server.get(&format!("{path}{query}")).await.problem(400, "invalid_field");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_one_is_not_found() {
    let server = spawn().await;
    let path = format!("/api/v1/conversations/{}", id(9));
    server.get(&path).await.problem(404, "conversation_not_found");
    server.get("/api/v1/conversations/9").await.problem(400, "invalid_conversation_id");
    let encoded = format!("/api/v1/conversations/{}", id(9).replace('9', "%39"));
    server.get(&encoded).await.problem(400, "invalid_conversation_id");
}
