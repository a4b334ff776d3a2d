//! § 12: `check` tells with its exit code and a line a fault, beside whatever uses the archive.

use std::fs;
use std::path::{Path, PathBuf};

use holdfast_tests::mock::{Script, Step};
use holdfast_tests::server::{Ended, Start, run};

use crate::support::{Api, Ask};

async fn check(folder: &Path) -> Ended {
    run(["check".as_ref(), "--data".as_ref(), folder.as_os_str()]).await
}

/// Asserts that a check found nothing wrong with so many asks.
#[track_caller]
fn assert_sound(ended: &Ended, asks: &str) {
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
    assert!(ended.stdout.contains(&format!("sound (asks: {asks}")), "{ended:?}");
}

/// Everything in a folder, save the index of the log, which readers share with the server.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_none_or(|extension| extension != "db-shm"))
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn an_archive_is_sound_while_it_is_served_after_a_kill_and_after_a_stop() {
    let mut api = Api::start().await;
    api.mock.on("hangs", Script::new().words("some words ").then(Step::Hang));
    let settled = Ask::new("q");
    api.ask_and_settle(&settled).await;
    let under_way = settled.then("it hangs");
    api.ask(&under_way).await;
    api.outcome_when(&under_way, "begun", |it| it["answer"]["text"] == "some words ").await;
    api.ask(&settled.then("in line")).await;
    let data = api.holdfast.data();
    assert_sound(&check(&data).await, "3, not settled: 2, conversations: 1)");

    api.holdfast.kill().await;
    let left = contents(&data);
    for _ in 0..2 {
        assert_sound(&check(&data).await, "3, not settled: 2,");
        assert_eq!(contents(&data), left, "what a kill left stays as it is");
    }
    api.mock.on("in line", Script::new().words("an answer"));
    api.holdfast.restart().await;
    api.settled(&under_way).await;
    api.holdfast.terminate();
    api.holdfast.ended().await;
    let left = contents(&data);
    assert_sound(&check(&data).await, "3,");
    assert_eq!(contents(&data), left);
    let files = fs::read_dir(&data).unwrap().count();
    assert_eq!(files, left.len(), "and nothing was put beside it");
}

#[tokio::test]
async fn what_is_wrong_is_said_a_line_each() {
    let mut api = Api::start().await;
    api.ask_and_settle(&Ask::new("why ".repeat(2_000).as_str())).await;
    api.holdfast.terminate();
    api.holdfast.ended().await;
    let data = api.holdfast.data();
    let path = data.join("holdfast.db");
    let whole = fs::read(&path).unwrap();
    let mut spoilt = whole.clone();
    // The second page, where the first table begins.
    spoilt.iter_mut().skip(4_096).take(512).for_each(|byte| *byte = 0xa5);
    fs::write(&path, spoilt).unwrap();
    let ended = check(&data).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""), "{ended:?}");
    assert!(!ended.stdout.is_empty());
    for line in ended.stdout.lines() {
        assert!(line.contains(": "), "it names what it is about: {line}");
    }
    fs::write(&path, whole.get(..whole.len() / 2).unwrap()).unwrap();
    assert_eq!(check(&data).await.code, Some(1), "half of it is no archive");
    fs::write(&path, &whole).unwrap();
    assert_sound(&check(&data).await, "1,");
}

#[tokio::test]
async fn damage_in_the_midst_of_the_log_is_told_and_never_passed_over() {
    let mut api = Api::start().await;
    let asks = ["one", "two", "three"].map(Ask::new);
    for ask in &asks {
        api.ask_and_settle(ask).await;
    }
    api.holdfast.kill().await;
    let data = api.holdfast.data();
    let log = data.join("holdfast.db-wal");
    let whole = fs::read(&log).unwrap();
    // The second frame of the log, whose pages are of 4,096 bytes.
    let at = 32 + 24 + 4_096;
    let mut spoilt = whole.clone();
    *spoilt.get_mut(at + 1_000).unwrap() ^= 1;
    fs::write(&log, spoilt).unwrap();
    let left = contents(&data);
    for _ in 0..2 {
        let ended = check(&data).await;
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""), "{ended:?}");
        let says = format!("archive: the log breaks off at byte {at}, and ");
        assert!(ended.stdout.starts_with(&says), "{ended:?}");
        let refusal = Start::plain().refused(&data).await;
        assert_eq!((refusal.code, refusal.stdout.as_str()), (Some(2), ""), "{refusal:?}");
        assert_eq!(refusal.stderr.lines().count(), 1, "{refusal:?}");
        assert!(refusal.stderr.contains(&format!("breaks off at byte {at}, and ")), "{refusal:?}");
        assert_eq!(contents(&data), left, "what there is stays as it is");
    }
    fs::write(&log, whole).unwrap();
    assert_sound(&check(&data).await, "3,");
    api.holdfast.restart().await;
    for ask in &asks {
        api.settled(ask).await;
    }
}

#[tokio::test]
async fn what_cannot_be_checked_is_refused_in_a_sentence_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none");
    let sentence = |ended: &Ended| {
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        ended.stderr.clone()
    };
    assert!(sentence(&check(&none).await).contains("there is no archive in"));
    assert!(sentence(&check(folder.path()).await).contains("there is no archive in"));
    let missing = run(["check".as_ref(), none.as_os_str()]).await;
    assert!(sentence(&missing).contains("cannot read"));
    assert!(sentence(&run(["check", "--no-such-flag"]).await).contains("--no-such-flag"));
    assert_eq!(contents(folder.path()), []);
}

#[tokio::test]
async fn the_folder_is_the_one_that_serve_would_use() {
    let api = Api::start().await;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let data = api.holdfast.data();
    fs::write(&config, format!("data = {data:?}\nlisten = \"127.0.0.1:0\"")).unwrap();
    let ended = run(["check".as_ref(), "--config".as_ref(), config.as_os_str()]).await;
    assert_sound(&ended, "0,");
    let ended = run(["check"]).await;
    assert_eq!(ended.code, Some(2), "an empty home has no archive: {ended:?}");
}
