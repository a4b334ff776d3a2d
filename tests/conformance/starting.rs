//! § 12: a wrong start says one sentence, changes nothing on disk and ends with 2.

use std::path::Path;

use holdfast_tests::server::{Ended, Start};

use crate::support::{Api, Ask, outcome};

/// Asserts that a start was refused in a sentence that contains this.
#[track_caller]
fn assert_refused(refusal: &Ended, says: &str) {
    assert_eq!(refusal.code, Some(2), "{refusal:?}");
    assert_eq!(refusal.stdout, "", "{refusal:?}");
    assert!(refusal.stderr.contains(says), "“{says}” in {refusal:?}");
    assert!(!refusal.stderr.contains("panicked"), "{refusal:?}");
}

/// Everything below a folder, with its size.
fn listing(folder: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.unwrap();
        found.push((entry.path().display().to_string(), entry.metadata().unwrap().len()));
        found.extend(listing(&entry.path()));
    }
    found.sort();
    found
}

#[tokio::test]
async fn a_wrong_start_is_refused_in_a_sentence_and_leaves_no_trace() {
    let api = Api::start().await;
    let occupied = api.holdfast.address().to_string();
    for (start, says) in [
        (Start::plain().argument("--no-such-flag", "x"), "--no-such-flag"),
        (Start::plain().argument("--provider", "oracle"), "oracle"),
        (Start::plain().argument("--listen", "nonsense"), "nonsense"),
        (Start::plain().argument("--listen", &occupied), &occupied),
        (Start::plain().argument("--listen", "0.0.0.0:0"), "loopback"),
        (Start::plain().argument("--public-url", "no url"), "public-url"),
        (Start::plain().argument("--config", "/no/such/file.toml"), "/no/such/file.toml"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let refusal = start.refused(&folder.path().join("data")).await;
        assert_refused(&refusal, says);
        assert_eq!(listing(folder.path()), [], "{refusal:?}");
    }
}

#[tokio::test]
async fn a_folder_that_is_none_or_in_use_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    std::fs::write(&file, "of somebody else").unwrap();
    assert_refused(&Start::plain().refused(&file).await, "a-file");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "of somebody else");

    let api = Api::start().await;
    let ask = Ask::new("q");
    let settled = api.ask_and_settle(&ask).await;
    let before = listing(&api.holdfast.data());
    let refusal = Start::plain().refused(&api.holdfast.data()).await;
    assert_refused(&refusal, "data");
    assert_eq!(listing(&api.holdfast.data()), before, "{refusal:?}");
    assert_eq!(outcome(&api.look_up(&ask).await, 200, &ask), settled, "and the first goes on");
}

#[tokio::test]
async fn a_start_can_be_told_by_the_environment_too_and_flags_win() {
    let api = Api::start_with(|start| {
        start.environment("HOLDFAST_PROVIDER", "notes").environment("HOLDFAST_MODEL", "other")
    })
    .await;
    let session = api.get("/api/v1/session").await.json();
    assert_eq!(session["models"][0]["name"], "mock", "the flag wins");
    let api = Api::start_with(|_| Start::plain().environment("HOLDFAST_LISTEN", "nonsense")).await;
    assert_eq!(api.get("/readyz").await.status(), 200, "the flag wins");
}
