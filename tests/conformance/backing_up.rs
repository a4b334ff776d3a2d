//! § 12: `backup` copies what is being served; what is restored from it is another archive, and
//! spends nothing that the original may have spent.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use holdfast_tests::mock::{MockProvider, Script};
use holdfast_tests::server::{Ended, Start, binary, run};
use serde_json::Value;

use crate::support::{Api, Ask, outcome};

async fn backup(data: &Path, to: &Path) -> Ended {
    run(["backup".as_ref(), "--data".as_ref(), data.as_os_str(), to.as_os_str()]).await
}

async fn assert_sound(file: &Path) {
    let ended = run([OsStr::new("check"), file.as_os_str()]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

/// The principal's part of the owner, and the archive's.
async fn owner(api: &Api) -> (String, String) {
    let session = api.get("/api/v1/session").await.json();
    let (principal, archive) = session["owner"].as_str().unwrap().split_once('.').unwrap();
    (principal.to_owned(), archive.to_owned())
}

async fn restored(file: &Path) -> Api {
    let mock = MockProvider::start().await.unwrap();
    let holdfast = Start::with_mock(&mock).restored(file).await;
    Api { mock, holdfast }
}

/// Asks one question after another until told to stop; gives the asks with their outcomes.
async fn keep_asking(api: &Api, is_over: &AtomicBool) -> Vec<(Ask, Value)> {
    let mut asked = Vec::new();
    let mut ask = Ask::new("the first of many");
    while !is_over.load(Ordering::Relaxed) {
        let outcome = api.ask_and_settle(&ask).await;
        let next = ask.then("and one more");
        asked.push((ask, outcome));
        ask = next;
    }
    asked
}

#[tokio::test]
async fn a_backup_under_load_is_restored_as_another_archive_that_spends_nothing() {
    let api = Api::start().await;
    api.mock.on("a gate", Script::new().words("before it ").gate("gate").words("after it").done());
    let settled = Ask::new("q");
    let answered = api.ask_and_settle(&settled).await;
    let under_way = Ask::new("a gate");
    api.ask(&under_way).await;
    api.outcome_when(&under_way, "begun", |it| it["answer"]["text"] == "before it ").await;
    let in_line = under_way.then("in line");
    api.ask(&in_line).await;

    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("backup");
    let is_over = AtomicBool::new(false);
    let load = join_all((0..8).map(|_| keep_asking(&api, &is_over)));
    let copying = async {
        // So many are being answered when it begins.
        api.mock.wait("a load", |calls| calls.len() > 20).await;
        let ended = backup(&api.holdfast.data(), &file).await;
        is_over.store(true, Ordering::Relaxed);
        ended
    };
    let (load, ended) = tokio::join!(load, copying);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "one file, and nothing beside it");
    assert_sound(&file).await;

    let copy = restored(&file).await;
    let (principal, archive) = owner(&api).await;
    let (same, other) = owner(&copy).await;
    assert_eq!(same, principal);
    assert_ne!(other, archive);
    assert_eq!(outcome(&copy.look_up(&settled).await, 200, &settled), answered);
    let mut found = 0;
    for (ask, answered) in load.into_iter().flatten() {
        let kept = copy.look_up(&ask).await.json();
        assert_eq!(outcome(&api.look_up(&ask).await, 200, &ask), answered, "the original has all");
        match kept["status"].as_str() {
            Some("completed") => {
                assert_eq!(kept, answered);
                found += 1;
            }
            // It was under way when the copy was made, or came later.
            Some("interrupted") => assert_eq!(kept["error"]["code"], "server_restarted"),
            _ => assert_eq!(kept["state"], "unknown"),
        }
    }
    assert!(found > 0, "what had settled is in the copy");

    let cut = outcome(&copy.look_up(&under_way).await, 200, &under_way);
    assert_eq!(
        (&cut["status"], &cut["receipt"]["provider_calls"]),
        (&"interrupted".into(), &1.into())
    );
    assert!("before it ".starts_with(cut["answer"]["text"].as_str().unwrap_or_default()));
    let kept = outcome(&copy.look_up(&in_line).await, 200, &in_line);
    assert_eq!(
        (&kept["status"], &kept["receipt"]["provider_calls"]),
        (&"interrupted".into(), &0.into())
    );
    assert!(copy.mock.calls().is_empty(), "nothing of it was sent to a model again");
    let fresh = in_line.then("new here");
    assert_eq!(copy.ask_and_settle(&fresh).await["status"], "completed", "and it can be used");
    assert_sound(&copy.holdfast.data().join("holdfast.db")).await;
    let again = restored(&file).await;
    let (_, third) = owner(&again).await;
    assert!(![&archive, &other].contains(&&third), "the same file gives another one each time");

    api.mock.open("gate");
    assert_eq!(api.settled(&under_way).await["answer"]["text"], "before it after it");
    assert_eq!(api.settled(&in_line).await["status"], "completed", "the original goes on");
}

#[tokio::test]
async fn a_backup_of_a_stopped_server_is_restored_too() {
    let mut api = Api::start().await;
    let ask = Ask::new("q");
    let answered = api.ask_and_settle(&ask).await;
    let owner_before = owner(&api).await;
    api.holdfast.terminate();
    api.holdfast.ended().await;
    let file = api.holdfast.data().join("backup");
    assert_eq!(backup(&api.holdfast.data(), &file).await.code, Some(0));
    let mut copy = restored(&file).await;
    assert_eq!(outcome(&copy.look_up(&ask).await, 200, &ask), answered);
    let owner_of_copy = owner(&copy).await;
    copy.holdfast.kill().await;
    copy.holdfast.restart().await;
    assert_eq!(owner(&copy).await, owner_of_copy, "it is another one only once");
    api.holdfast.restart().await;
    assert_eq!(owner(&api).await, owner_before);
}

#[tokio::test]
async fn what_cannot_be_backed_up_is_refused_in_a_sentence_and_leaves_nothing() {
    let api = Api::start().await;
    api.ask_and_settle(&Ask::new("why ".repeat(5_000).as_str())).await;
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("backup");
    let refused = |ended: &Ended, says: &str| {
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        assert!(ended.stderr.contains(says), "“{says}” in {ended:?}");
    };
    refused(&backup(place.path(), &file).await, "there is no archive in");
    refused(&backup(&api.holdfast.data(), &place.path().join("none/backup")).await, "cannot back");
    refused(&run(["backup"]).await, "<FILE>");
    // A disk that takes no more than 16 KiB.
    let script = "trap '' XFSZ; ulimit -f 32; exec \"$0\" backup --data \"$1\" \"$2\"";
    let ended = tokio::process::Command::new("sh")
        .args([OsStr::new("-c"), OsStr::new(script), binary().as_os_str()])
        .args([api.holdfast.data().as_os_str(), file.as_os_str()])
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot back") && said.lines().count() == 1, "{said}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);

    fs::write(&file, "of somebody").unwrap();
    refused(&backup(&api.holdfast.data(), &file).await, "is there already");
    assert_eq!(fs::read_to_string(&file).unwrap(), "of somebody");
}
