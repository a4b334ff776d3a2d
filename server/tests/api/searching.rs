//! `GET api/v1/conversations?q=`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::{Spawned, ask, ask_in, id, spawn};

async fn found(server: &Spawned, query: &str) -> Vec<Value> {
    let mut encoded = String::new();
    for byte in query.bytes() {
        let _ = write!(encoded, "%{byte:02X}");
    }
    let reply = server.get(&format!("/api/v1/conversations?q={encoded}")).await;
    assert_eq!(reply.status, 200, "{query}");
    reply.json()["conversations"].as_array().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn questions_and_answers_are_found() {
    let server = spawn().await;
    server.ask(&ask_in(1, 1, "明日の天気予報は？"), 20).await.outcome(200, "completed");
    server.ask(&ask_in(2, 2, "internationalisation, 気天"), 20).await.outcome(200, "completed");
    server.ask(&ask_in(3, 3, "hold 天気 internationalisation"), 0).await.outcome(202, "pending");
    let ids = async |query: &str| {
        let found = found(&server, query).await;
        found.iter().map(|it| it["id"].clone()).collect::<Vec<_>>()
    };
    let of = |numbers: &[u128]| numbers.iter().map(|n| json!(id(n << 64))).collect::<Vec<_>>();
    assert_eq!(ids("天気").await, of(&[3, 1]));
    assert_eq!(ids("天気 internationalisation").await, of(&[3]));
    assert_eq!(ids("answer internat").await, of(&[2]), "the answer, and a beginning");
    assert_eq!(ids("気予報").await, of(&[1]));
    assert_eq!(ids("天 報").await, of(&[1]));
    let one = found(&server, "天気予報").await;
    assert_eq!(one[0]["excerpt"], "明日の天気予報は？");
    // A form's encoding: a plus is a space.
    let plus = server.get("/api/v1/conversations?q=hold+internat").await.json();
    assert_eq!(plus["conversations"].as_array().unwrap().len(), 1);
    let all = server.get("/api/v1/conversations?q=++").await.json();
    assert_eq!(all["conversations"].as_array().unwrap().len(), 3, "an empty box looks for nothing");
}

#[tokio::test(start_paused = true)]
async fn nothing_in_a_query_means_anything_to_the_index() {
    let server = spawn().await;
    server.ask(&ask(1, "Why is the sky blue?"), 20).await.outcome(200, "completed");
    for query in [
        "\"",
        "*",
        "sky\" OR \"x",
        "question:sky",
        "^sky",
        "NEAR(sky blue)",
        "sky NOT blue",
        "(",
        "\0",
        "sky\0blue",
        "{question} : sky",
        "x' OR 1=1 --",
        "-sky +blue",
        "sky AND",
        "\u{202e}",
        "%",
    ] {
        let found = found(&server, query).await;
        let is_it = matches!(query, "^sky" | "-sky +blue" | "sky\0blue");
        assert!(found.len() <= 1, "{query}");
        assert!(!is_it || query == "sky\0blue" || found.len() == 1, "{query}");
    }
    for junk in ["a".repeat(60_000), "%E5%A4%A9".repeat(7_000), "%FF%00%22*".repeat(6_000)] {
        assert_eq!(server.get(&format!("/api/v1/conversations?q={junk}")).await.status, 200);
    }
    let twice = server.get("/api/v1/conversations?q=a&q=b").await;
    twice.problem(400, "invalid_field");
}

#[tokio::test(start_paused = true)]
async fn finds_come_in_pages() {
    let server = spawn().await;
    for number in 1..=5 {
        server.ask(&ask_in(number, number, "Why?"), 20).await.outcome(200, "completed");
    }
    let mut seen = Vec::new();
    let mut next = String::new();
    loop {
        let path = format!("/api/v1/conversations?q=why&limit=2{next}");
        let page = server.get(&path).await.json();
        seen.extend(page["conversations"].as_array().unwrap().iter().map(|it| it["id"].clone()));
        let Some(cursor) = page["next"].as_str() else { break };
        next = format!("&before={cursor}");
    }
    assert_eq!(seen.len(), 5);
}
