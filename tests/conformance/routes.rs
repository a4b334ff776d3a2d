//! What is not there is said to be not there, in the words of § 9.

use serde_json::json;

use crate::support::{Api, Ask, assert_problem};

#[tokio::test]
async fn routes_that_are_not_built_yet_are_not_found() {
    let api = Api::start().await;
    let ask = Ask::new("q");
    api.ask_and_settle(&ask).await;
    let (id, conversation) = (ask.id(), ask.conversation());
    for (method, target) in [
        ("GET", "/api/v1/nothing".to_owned()),
        ("GET", "/api/v2/session".to_owned()),
        ("GET", "/api/".to_owned()),
        ("GET", format!("/api/v1/requests/{id}/nothing?conversation_id={conversation}")),
    ] {
        let answer = api.request(method, &target).json(&json!({})).send().await.unwrap();
        assert_problem(&answer, 404, "not_found");
    }
    assert_eq!(api.get("/no-such-file.js").await.status(), 404, "no page in a script's place");
}

#[tokio::test]
async fn a_method_that_a_route_does_not_have_is_not_allowed() {
    let api = Api::start().await;
    let ask = Ask::new("q");
    api.ask_and_settle(&ask).await;
    let (id, conversation) = (ask.id(), ask.conversation());
    for (method, target) in [
        ("GET", "/api/v1/ask".to_owned()),
        ("PUT", "/api/v1/ask".to_owned()),
        ("DELETE", format!("/api/v1/requests/{id}?conversation_id={conversation}")),
        ("GET", format!("/api/v1/requests/{id}/cancel")),
        ("PUT", format!("/api/v1/conversations/{conversation}")),
        ("PUT", "/api/v1/session".to_owned()),
    ] {
        let answer = api.request(method, &target).json(&json!({})).send().await.unwrap();
        assert_problem(&answer, 405, "method_not_allowed");
        assert!(answer.header("allow").is_some(), "{method} {target}");
    }
    assert_eq!(api.look_up(&ask).await.json()["status"], "completed", "nothing was changed");
}
