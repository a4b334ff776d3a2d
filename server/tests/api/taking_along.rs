//! Export and import.

use std::fmt::Write as _;

use axum::body::Body;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::support::{Spawned, ask, get, id, spawn};

async fn export(server: &Spawned) -> Value {
    let path = format!("/api/v1/conversations/{}/export?format=json", id(1 << 64));
    let reply = server.get(&path).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert!(reply.header("content-disposition").unwrap().starts_with("attachment; filename=\""));
    reply.json()
}

async fn conversation(server: &Spawned) -> Value {
    server.get(&format!("/api/v1/conversations/{}?limit=200", id(1 << 64))).await.json()
}

async fn import(server: &Spawned, body: &Value) -> Value {
    let reply = server.post("/api/v1/import", body).await;
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.bytes));
    reply.json()
}

/// A conversation with one of each kind of turn.
async fn varied() -> Spawned {
    let server = spawn().await;
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    server.ask(&ask(2, "hold"), 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    held.think("hm");
    held.say("half");
    server.look_up(&ask(2, ""), 1).await.outcome(202, "pending");
    server.cancel(&ask(2, "")).await.outcome(200, "cancelled");
    let mut retry = ask(3, "Why?");
    retry["retry_of"] = json!(id(1));
    retry["language"] = json!("pt-BR");
    server.ask(&retry, 20).await.outcome(200, "completed");
    let path = format!("/api/v1/conversations/{}", id(1 << 64));
    let changes = json!({"title": "雲 \"and\" more", "system_prompt": "Be brief."});
    assert_eq!(server.patch(&path, &changes).await.status, 200);
    server
}

#[tokio::test(start_paused = true)]
async fn what_is_exported_is_imported_without_a_loss() {
    let server = varied().await;
    let exported = export(&server).await;
    assert_eq!(
        import(&server, &exported).await,
        json!({"created": 0, "unchanged": 3, "conflicts": []})
    );
    let other = spawn().await;
    assert_eq!(
        import(&other, &exported).await,
        json!({"created": 3, "unchanged": 0, "conflicts": []})
    );
    assert_eq!(conversation(&other).await, conversation(&server).await);
    assert_eq!(export(&other).await, exported);
    assert_eq!(import(&other, &exported).await["unchanged"], 3);
    assert_eq!(
        other.get("/api/v1/conversations").await.json(),
        server.get("/api/v1/conversations").await.json()
    );
    assert!(other.provider.calls().is_empty(), "nothing is run");
    // What was asked there is known here: it attaches.
    let again = other.ask(&ask(1, "Why?"), 0).await.outcome(200, "completed");
    assert_eq!(again, server.look_up(&ask(1, ""), 0).await.json());
    let found = other.get("/api/v1/conversations?q=half").await.json();
    assert_eq!(found["conversations"].as_array().unwrap().len(), 1, "it can be found");
}

#[tokio::test(start_paused = true)]
async fn what_is_under_way_comes_as_interrupted_and_never_runs() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    let exported = export(&server).await;
    assert_eq!(exported["turns"][0]["status"], "pending");
    let other = spawn().await;
    assert_eq!(import(&other, &exported).await["created"], 1);
    let outcome = other.look_up(&ask(1, ""), 0).await.outcome(200, "interrupted");
    assert_eq!(outcome["error"]["code"], "server_restarted");
    assert_eq!(import(&other, &exported).await["unchanged"], 1);
    let conflict = import(&server, &exported).await;
    assert_eq!(conflict, json!({"created": 0, "unchanged": 0, "conflicts": [id(1)]}));
    server.look_up(&ask(1, ""), 0).await.outcome(202, "pending");
    assert!(other.provider.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn ids_that_are_used_are_left_alone_and_places_are_given_anew() {
    let server = varied().await;
    let mut exported = export(&server).await;
    let other = spawn().await;
    other.ask(&ask(9, "Here first?"), 20).await.outcome(200, "completed");
    exported["turns"][1]["answer"]["text"] = json!("other words");
    exported["turns"][1]["seq"] = json!(77);
    assert_eq!(import(&other, &exported).await["created"], 3);
    let seqs: Vec<_> = conversation(&other).await["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| turn["seq"].clone())
        .collect();
    assert_eq!(seqs, [1, 2, 3, 4]);
    let before = conversation(&server).await;
    assert_eq!(
        import(&server, &exported).await,
        json!({"created": 0, "unchanged": 2, "conflicts": [id(2)]})
    );
    assert_eq!(conversation(&server).await, before);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_an_import_repeats_says_so_at_once() {
    let server = varied().await;
    let exported = export(&server).await;
    let other = spawn().await;
    let mut first = exported.clone();
    first["turns"].as_array_mut().unwrap().truncate(1);
    assert_eq!(import(&other, &first).await["created"], 1);
    let before = other.look_up(&ask(1, ""), 0).await.outcome(200, "completed");
    assert!(before["retried_by"].is_null());
    assert_eq!(import(&other, &exported).await["created"], 2);
    let after = other.look_up(&ask(1, ""), 0).await.outcome(200, "completed");
    assert_eq!(after["retried_by"], json!(id(3)));
}

#[tokio::test(start_paused = true)]
async fn an_export_that_is_cut_by_a_deletion_does_not_look_whole() {
    let server = spawn().await;
    for at in 1..=110 {
        server.ask(&ask(at, "Why?"), 20).await.outcome(200, "completed");
    }
    let path = format!("/api/v1/conversations/{}", id(1 << 64));
    let request = get(&format!("{path}/export?format=json")).body(Body::empty()).unwrap();
    let reply = server.app.router().oneshot(request).await.unwrap();
    let mut pieces = reply.into_body().into_data_stream();
    assert!(pieces.next().await.unwrap().unwrap().starts_with(b"{"));
    assert_eq!(server.delete(&path).await.status, 204);
    assert!(pieces.next().await.unwrap().is_err(), "it breaks off");
}

/// Makes a file one that cannot be imported.
type Spoil = fn(&mut Value);

#[tokio::test(start_paused = true)]
async fn one_bad_turn_refuses_the_whole() {
    let server = varied().await;
    let exported = export(&server).await;
    let other = spawn().await;
    let spoilt: [(Spoil, &str); 15] = [
        (|file| file["turns"][2]["question"] = json!(" "), "turn 3"),
        (|file| file["turns"][2]["question"] = json!(7), "turn 3"),
        (|file| file["turns"][1]["conversation_id"] = json!(id(5)), "turn 2"),
        (|file| file["turns"][1]["asked_at"] = json!("yesterday"), "turn 2"),
        (|file| file["turns"][1]["receipt"]["provider_calls"] = json!(2), "turn 2"),
        (|file| file["turns"][0]["receipt"]["submissions"] = json!(0), "never sent"),
        (|file| file["turns"][1]["submitted"]["language"] = json!("no tag"), "`language`"),
        (|file| file["turns"][1]["submitted"]["model"] = json!("m".repeat(201)), "`model`"),
        (|file| file["turns"][0]["answer"] = json!(null), "turn 1"),
        (|file| file["turns"][2]["retry_of"] = json!(id(8)), "turn 3"),
        (|file| file["turns"][1]["request_id"] = json!(id(1)), "twice"),
        (|file| file["turns"][0] = json!("turn"), "turn 1"),
        (|file| file["turns"] = json!({}), "`turns`"),
        (|file| file["id"] = json!("x"), "`id`"),
        (|file| *file = json!(7), "no export"),
    ];
    for (spoil, says) in spoilt {
        let mut file = exported.clone();
        spoil(&mut file);
        let problem = other.post("/api/v1/import", &file).await.problem(400, "invalid_field");
        assert!(problem["detail"].as_str().unwrap().contains(says), "{problem}");
        let list = other.get("/api/v1/conversations").await.json();
        assert_eq!(list["conversations"], json!([]), "nothing half imported");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deleted_conversation_does_not_come_back_by_import() {
    let server = varied().await;
    let exported = export(&server).await;
    let path = format!("/api/v1/conversations/{}", id(1 << 64));
    assert_eq!(server.delete(&path).await.status, 204);
    let report = import(&server, &exported).await;
    assert_eq!((&report["created"], report["conflicts"].as_array().unwrap().len()), (&json!(0), 3));
}

#[tokio::test(start_paused = true)]
async fn markdown_is_to_be_read() {
    let server = spawn().await;
    server.ask(&ask(1, "hold\n```\nopen"), 0).await.outcome(202, "pending");
    server.provider.held().await.end_with("Look:\n```rust\nlet x = 1;");
    server.look_up(&ask(1, ""), 20).await.outcome(200, "completed");
    server.ask(&ask(2, "And?"), 20).await.outcome(200, "completed");
    let path = format!("/api/v1/conversations/{}/export?format=markdown", id(1 << 64));
    let reply = server.get(&path).await;
    assert_eq!(reply.header("content-type"), Some("text/markdown; charset=utf-8"));
    let text = String::from_utf8(reply.bytes).unwrap();
    assert_eq!(
        text,
        "# hold \\`\\`\\` open\n\n## 2026-01-31 09:00\n\n> hold\n> ```\n> open\n\nLook:\n```rust\n\
         let x = 1;\n```\n\n## 2026-01-31 09:00\n\n> And?\n\nAnswer to And?\n"
    );
    server.get(&path.replace("markdown", "pdf")).await.problem(400, "invalid_field");
}

#[tokio::test(start_paused = true)]
async fn a_long_conversation_is_exported_whole() {
    let server = spawn().await;
    let mut turns = Vec::new();
    for number in 1..=230_u128 {
        turns.push(json!({
            "request_id": id(number), "conversation_id": id(1 << 64), "status": "completed",
            "question": format!("q{number}"), "asked_at": "2026-01-01T00:00:00.000Z",
            "settled_at": "2026-01-01T00:00:00.000Z",
            "answer": {"format": "markdown", "text": "a", "offset": 0, "bytes": 1},
            "receipt": {"provider_calls": 0, "submissions": 1},
        }));
    }
    let file = json!({"id": id(1 << 64), "title": "Long", "turns": turns});
    assert_eq!(import(&server, &file).await["created"], 230);
    let exported = export(&server).await;
    let seqs: Vec<_> = exported["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| turn["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=230).collect::<Vec<_>>());
    let mut questions = String::new();
    for turn in exported["turns"].as_array().unwrap() {
        let _ = write!(questions, "{} ", turn["question"].as_str().unwrap());
    }
    assert!(questions.starts_with("q1 q2 ") && questions.ends_with("q229 q230 "));
}

fn chatgpt() -> Value {
    let message = |role: &str, content: Value| {
        json!({
            "author": {"role": role}, "content": content, "create_time": 1_700_000_000.5, "metadata": {},
        })
    };
    let text = |text: &str| json!({"content_type": "text", "parts": [text]});
    json!([{
        "title": "Sky", "create_time": 1_700_000_000.0, "update_time": 1_700_000_100.0,
        "conversation_id": "abc", "current_node": "n6",
        "mapping": {
            "root": {"message": null, "parent": null, "children": ["n1"]},
            "n1": {"message": message("system", text("")), "parent": "root", "children": ["n2"]},
            "n2": {"message": message("user", json!({"content_type": "multimodal_text", "parts": [
                {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}, "What is this?"]})),
                "parent": "n1", "children": ["n3", "n4"]},
            "n3": {"message": message("assistant", text("the other branch")), "parent": "n2", "children": []},
            "n4": {"message": message("assistant", text("A cloud.")), "parent": "n2", "children": ["n5"]},
            "n5": {"message": message("tool", json!({"content_type": "execution_output", "text": "42"})),
                "parent": "n4", "children": ["n6"]},
            "n6": {"message": message("user", text(&"long ".repeat(7_000))), "parent": "n5", "children": []},
        },
    }])
}

#[tokio::test(start_paused = true)]
async fn a_chatgpt_export_is_imported_once() {
    let server = spawn().await;
    assert_eq!(
        import(&server, &chatgpt()).await,
        json!({"created": 2, "unchanged": 0, "conflicts": []})
    );
    assert_eq!(
        import(&server, &chatgpt()).await,
        json!({"created": 0, "unchanged": 2, "conflicts": []})
    );
    let list = server.get("/api/v1/conversations").await.json();
    let summary = &list["conversations"][0];
    assert_eq!((&summary["title"], &summary["turns"]), (&json!("Sky"), &json!(2)));
    assert_eq!(summary["created_at"], "2023-11-14T22:13:20.000Z");
    let path = format!("/api/v1/conversations/{}", summary["id"].as_str().unwrap());
    let turns = server.get(&path).await.json()["turns"].clone();
    assert_eq!(turns[0]["question"], "[image]\n\nWhat is this?");
    assert_eq!(turns[0]["answer"]["text"], "A cloud.\n\n```\n42\n```");
    assert_eq!(turns[0]["asked_at"], "2023-11-14T22:13:20.500Z");
    assert_eq!(turns[0]["status"], "completed");
    // What is too long loses not a word.
    let (question, answer) =
        (turns[1]["question"].as_str().unwrap(), turns[1]["answer"]["text"].as_str().unwrap());
    assert!(question.ends_with("[The rest of the question is at the beginning of the answer.]"));
    let words = |text: &str| text.matches("lon").count();
    assert_eq!(words(question) + words(answer), 7_000);
    assert!(server.provider.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_chatgpt_export_that_is_none_is_refused() {
    let server = spawn().await;
    for (spoil, says) in [
        (("current_node", json!("nowhere")), "nowhere"),
        (("mapping", json!([])), "mapping"),
        (("mapping", json!({"n6": {"parent": "n6"}})), "circles"),
    ] {
        let mut file = chatgpt();
        file[0][spoil.0] = spoil.1;
        let problem = server.post("/api/v1/import", &file).await.problem(400, "invalid_field");
        assert!(problem["detail"].as_str().unwrap().contains(says), "{problem}");
    }
    assert_eq!(import(&server, &json!([])).await["created"], 0);
}
