//! § 6 and § 7: searching, deleting, and taking conversations along.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::{Api, Ask, assert_problem, new_id, outcome};

async fn found(api: &Api, query: &str) -> Vec<String> {
    let mut encoded = String::new();
    for byte in query.bytes() {
        let _ = write!(encoded, "%{byte:02X}");
    }
    let answer = api.get(&format!("/api/v1/conversations?q={encoded}")).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let list = answer.json();
    let ids = list["conversations"].as_array().unwrap().iter();
    ids.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

fn path(ask: &Ask) -> String {
    format!("/api/v1/conversations/{}", ask.conversation())
}

#[tokio::test]
async fn two_characters_find_exactly_what_holds_them() {
    let api = Api::start().await;
    let weather = Ask::new("明日の天気予報は？");
    let apart = Ask::new("天、気 internationalisation");
    let both = Ask::new("天気とinternationalisation");
    for ask in [&weather, &apart, &both] {
        api.ask_and_settle(ask).await;
    }
    assert_eq!(found(&api, "天気").await, [both.conversation(), weather.conversation()]);
    assert_eq!(found(&api, "天気 internationalisation").await, [both.conversation()]);
    assert_eq!(found(&api, "INTERNATIONAL").await, [both.conversation(), apart.conversation()]);
    assert_eq!(found(&api, "nothing of the kind").await, [""; 0]);
    let list = api.get("/api/v1/conversations?q=%E4%BA%88%E5%A0%B1").await.json();
    assert_eq!(list["conversations"][0]["excerpt"], "明日の天気予報は？");
    for hostile in ["\"", "*", "a\" OR \"b", "\0", "NEAR(a b)", "question : a", "("] {
        assert!(found(&api, hostile).await.len() <= 3);
    }
}

#[tokio::test]
async fn a_deleted_conversation_is_gone_and_can_be_brought_back() {
    let api = Api::start().await;
    let ask = Ask::new("Why?");
    let settled = api.ask_and_settle(&ask).await;
    let delete = async |target: &str| api.request("DELETE", target).send().await.unwrap();
    assert_problem(&delete("/api/v1/conversations/x").await, 400, "invalid_conversation_id");
    let unknown = format!("/api/v1/conversations/{}", new_id());
    assert_problem(&delete(&unknown).await, 404, "conversation_not_found");
    for _ in 0..2 {
        let answer = delete(&path(&ask)).await;
        assert_eq!((answer.status(), answer.text().len()), (204, 0));
    }
    let (again, never) = (ask.then("Another?"), ask.then("never sent"));
    assert_problem(&api.look_up(&ask).await, 410, "request_deleted");
    assert_problem(&api.look_up(&never).await, 410, "request_deleted");
    assert_problem(&api.cancel(&ask).await, 410, "request_deleted");
    assert_problem(&api.ask(&ask).await, 409, "conversation_deleted");
    assert_problem(&api.ask(&again).await, 409, "conversation_deleted");
    assert_eq!(api.get("/api/v1/conversations").await.json()["conversations"], json!([]));
    let restore = format!("{}/restore", path(&ask));
    let restored = api.request("POST", &restore).send().await.unwrap();
    assert_eq!((restored.status(), &restored.json()["id"]), (200, &settled["conversation_id"]));
    assert_eq!(outcome(&api.look_up(&ask).await, 200, &ask), settled);
    api.ask_and_settle(&again).await;
}

#[tokio::test]
async fn an_export_is_imported_without_a_loss() {
    let (api, other) = (Api::start().await, Api::start().await);
    let first = Ask::new("Why?");
    api.ask_and_settle(&first).await;
    api.ask_and_settle(&first.then("Again?").with("retry_of", first.id())).await;
    let export = |api: &Api| api.request("GET", &format!("{}/export?format=json", path(&first)));
    let answer = export(&api).send().await.unwrap();
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert!(answer.header("content-disposition").unwrap().starts_with("attachment; filename="));
    let exported = answer.json();
    let import = async |api: &Api, file: &Value| {
        let answer = api.request("POST", "/api/v1/import").json(file).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{}", answer.text());
        answer.json()
    };
    let report = |created: u64, unchanged: u64| json!({"created": created, "unchanged": unchanged, "conflicts": []});
    assert_eq!(import(&other, &exported).await, report(2, 0));
    assert_eq!(import(&other, &exported).await, report(0, 2));
    assert_eq!(import(&api, &exported).await, report(0, 2));
    assert_eq!(export(&other).send().await.unwrap().json(), exported);
    let whole = |answer: holdfast_tests::client::Answer| answer.json();
    assert_eq!(
        whole(other.conversation(first.conversation()).await),
        whole(api.conversation(first.conversation()).await)
    );
    assert_eq!(other.calls(&first), 0, "nothing is run");
    let mut other_words = exported.clone();
    other_words["turns"][0]["question"] = json!("Other words?");
    let report = import(&other, &other_words).await;
    assert_eq!((&report["unchanged"], &report["conflicts"]), (&json!(1), &json!([first.id()])));
    other_words["turns"][1]["question"] = json!("");
    let bad = api.request("POST", "/api/v1/import").json(&other_words).send().await.unwrap();
    assert_problem(&bad, 400, "invalid_field");
    let markdown = api.get(&format!("{}/export?format=markdown", path(&first))).await;
    assert_eq!(markdown.header("content-type"), Some("text/markdown; charset=utf-8"));
    assert!(markdown.text().contains("> Why?"));
    let none = api.get(&format!("{}/export?format=pdf", path(&first))).await;
    assert_problem(&none, 400, "invalid_field");
}

#[tokio::test]
async fn a_system_prompt_comes_first_in_what_the_model_is_shown() {
    let api = Api::start_with(|start| start.argument("--system-prompt", "Be kind.")).await;
    let first = Ask::new("Why?");
    api.ask_and_settle(&first).await;
    let change = json!({"system_prompt": " Be brief. "});
    let changed = api.request("PATCH", &path(&first)).json(&change).send().await.unwrap();
    assert_eq!(changed.status(), 200, "{}", changed.text());
    let conversation = api.conversation(first.conversation()).await.json();
    assert_eq!(conversation["system_prompt"], "Be brief.");
    let second = first.then("And then?");
    api.ask_and_settle(&second).await;
    for (ask, prompt) in [(&first, "Be kind."), (&second, "Be brief.")] {
        let call = &api.mock.calls_of(ask.id())[0];
        assert_eq!(call.body["messages"][0]["role"], "system");
        let content = call.body["messages"][0]["content"].as_str().unwrap();
        assert!(content.starts_with(prompt), "{content}");
    }
    let told = Ask::new("Who?").with("system_prompt", " Be terse. ");
    api.ask_and_settle(&told).await;
    let again = api.ask(&told.clone().with("system_prompt", "Be verbose.")).await;
    assert_eq!(again.status(), 200, "it is the same ask: {}", again.text());
    let next = told.then("And when?").with("system_prompt", "Be verbose.");
    api.ask_and_settle(&next).await;
    for ask in [&told, &next] {
        let content = &api.mock.calls_of(ask.id())[0].body["messages"][0]["content"];
        assert!(content.as_str().unwrap().starts_with("Be terse."), "{content}");
    }
    for wrong in [json!(7), json!("a\u{0}"), json!("é".repeat(16_001))] {
        let refused = api.ask(&Ask::new("Why?").with("system_prompt", wrong)).await;
        assert_problem(&refused, 400, "invalid_field");
    }
    // At the limit, in characters of four bytes each.
    let longest = json!({"system_prompt": "😀".repeat(16_000)});
    let changed = api.request("PATCH", &path(&first)).json(&longest).send().await.unwrap();
    assert_eq!(changed.status(), 200, "{}", changed.text());
    for wrong in [json!({"system_prompt": 7}), json!({"system_prompt": "a\u{0}"}), json!({})] {
        let refused = api.request("PATCH", &path(&first)).json(&wrong).send().await.unwrap();
        assert_problem(&refused, 400, "invalid_field");
    }
}
