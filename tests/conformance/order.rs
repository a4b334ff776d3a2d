//! § 2, order of checks: each refusal before all those that come after it.

use crate::support::{Api, Ask, assert_problem, outcome};

#[tokio::test]
async fn each_check_comes_before_all_later_ones() {
    let api = Api::start().await;
    let known = Ask::new("the question that is known");
    api.ask_and_settle(&known).await;
    let other_text = known.clone().with("question", "another text");
    let bad_field = known.clone().with("question", "");
    let too_large = "{".repeat(512 * 1024 + 1);

    // Everything is wrong at first; each row puts one more thing right.
    let json = "application/json";
    for (kind, body, host, site, status, code) in [
        ("text/plain", too_large.clone(), "evil.test", "cross-site", 415, "unsupported_media_type"),
        (json, too_large, "evil.test", "cross-site", 413, "too_large"),
        (json, "{".to_owned(), "evil.test", "cross-site", 400, "invalid_json"),
        (json, bad_field.body().to_string(), "evil.test", "cross-site", 421, "host_rejected"),
        (json, bad_field.body().to_string(), "localhost", "cross-site", 403, "origin_rejected"),
        (json, bad_field.body().to_string(), "localhost", "same-origin", 400, "invalid_field"),
        (json, other_text.body().to_string(), "localhost", "same-origin", 422, "request_mismatch"),
    ] {
        let answer = api
            .request("POST", "/api/v1/ask")
            .header("Content-Type", kind)
            .header("Host", host)
            .header("Sec-Fetch-Site", site)
            .body(body)
            .send()
            .await
            .unwrap();
        assert_problem(&answer, status, code);
    }
    outcome(&api.ask(&known).await, 200, &known);
    assert_eq!(api.mock.calls().len(), 1, "no refusal called the provider");
}

#[tokio::test]
async fn a_refused_ask_leaves_nothing_behind() {
    let api = Api::start().await;
    let ask = Ask::new("refused at first");
    let refused = api.asking(&ask).header("Sec-Fetch-Site", "cross-site").send().await.unwrap();
    assert_problem(&refused, 403, "origin_rejected");
    let refused = api.asking(&ask).header("Host", "evil.test").send().await.unwrap();
    assert_problem(&refused, 421, "host_rejected");
    assert_eq!(api.look_up(&ask).await.json()["state"], "unknown");
    let missing = api.conversation(ask.conversation()).await;
    assert_problem(&missing, 404, "conversation_not_found");
    assert!(api.mock.calls().is_empty());
}
