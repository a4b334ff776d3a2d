//! `DELETE api/v1/conversations/{id}` and what becomes of it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use crate::support::{Spawned, ask, ask_in, id, spawn, spawn_threaded};

fn path() -> String {
    format!("/api/v1/conversations/{}", id(1 << 64))
}

async fn restore(server: &Spawned) -> crate::support::Reply {
    server.post(&format!("{}/restore", path()), &json!({})).await
}

/// Deletes it so that nobody can take it back.
async fn purge(server: &Spawned) {
    assert_eq!(server.delete(&path()).await.status, 204);
    // Twice as long as an undo takes, and the sweeps after it.
    tokio::time::sleep(Duration::from_mins(2)).await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_conversation_is_gone_from_every_route() {
    let server = spawn().await;
    let settled = ask(1, "Why zqxsecret?");
    server.ask(&settled, 20).await.outcome(200, "completed");
    server.look_up(&settled, 0).await.outcome(200, "completed");
    let deleted = server.delete(&path()).await;
    assert_eq!((deleted.status.as_u16(), deleted.bytes.len()), (204, 0));
    assert_eq!(server.delete(&path()).await.status, 204, "as often as one likes");
    server.look_up(&settled, 0).await.problem(410, "request_deleted");
    server.look_up_after(&settled, 0, "&after=0").await.problem(410, "request_deleted");
    server.cancel(&settled).await.problem(410, "request_deleted");
    server.ask(&settled, 0).await.problem(409, "conversation_deleted");
    // Also of ids that were never heard of.
    server.look_up(&ask(7, ""), 0).await.problem(410, "request_deleted");
    server.cancel(&ask(7, "")).await.problem(410, "request_deleted");
    server.ask(&ask(7, "New?"), 0).await.problem(409, "conversation_deleted");
    server.get(&path()).await.problem(409, "conversation_deleted");
    server.patch(&path(), &json!({"title": "x"})).await.problem(409, "conversation_deleted");
    server.get(&format!("{}/export", path())).await.problem(409, "conversation_deleted");
    let list = server.get("/api/v1/conversations?q=zqxsecret").await.json();
    assert_eq!(list["conversations"], json!([]));
    // Its id elsewhere is an id elsewhere, and another conversation another one.
    server.look_up(&ask_in(2, 1, ""), 0).await.outcome(202, "pending");
    server.ask(&ask_in(2, 1, "Why zqxsecret?"), 0).await.problem(422, "request_mismatch");
    assert_eq!(server.provider.calls().len(), 1);
    let elsewhere = format!("/api/v1/conversations/{}", id(9));
    server.delete(&elsewhere).await.problem(404, "conversation_not_found");
    server
        .post(&format!("{elsewhere}/restore"), &json!({}))
        .await
        .problem(404, "conversation_not_found");
    server.delete("/api/v1/conversations/9").await.problem(400, "invalid_conversation_id");
}

#[tokio::test(start_paused = true)]
async fn what_runs_is_cancelled_at_the_provider() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.ask(&ask(2, "hold too"), 0).await.outcome(202, "pending");
    let held = server.provider.held().await;
    held.say("so far");
    assert_eq!(server.delete(&path()).await.status, 204);
    held.hung_up().await;
    server.look_up(&ask(1, ""), 0).await.problem(410, "request_deleted");
    let restored = restore(&server).await;
    assert_eq!((restored.status.as_u16(), &restored.json()["turns"]), (200, &json!(2)));
    server.look_up(&ask(1, ""), 20).await.outcome(200, "cancelled");
    server.look_up(&ask(2, ""), 20).await.outcome(200, "cancelled");
    assert_eq!(server.provider.calls().len(), 1, "what waited never runs");
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_is_told_nothing_of_what_is_deleted_meanwhile() {
    let server = spawn().await;
    server.ask(&ask(1, "hold"), 0).await.outcome(202, "pending");
    server.provider.held().await.say("zqxsecret");
    let (one, page, again) = (ask(1, ""), ask(1, ""), ask(1, "hold"));
    let waiting = async {
        tokio::join!(
            server.look_up(&one, 20),
            server.look_up_after(&page, 20, "&after=0"),
            server.ask(&again, 20),
            async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                assert_eq!(server.delete(&path()).await.status, 204);
            }
        )
    };
    let (looked_up, paged, asked, ()) = waiting.await;
    looked_up.problem(410, "request_deleted");
    paged.problem(410, "request_deleted");
    asked.problem(409, "conversation_deleted");
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_deleted_while_it_is_read_is_told_as_deleted() {
    let server = spawn().await;
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    server.journal.late_conversations.store(5_000, Ordering::Relaxed);
    let path = path();
    for number in [2, 3] {
        // One that has settled, and one under way.
        server.ask(&ask(number, if number == 2 { "Why?" } else { "hold" }), 0).await;
        let deleting = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            server.delete(&path).await
        };
        let (read, deleted) = tokio::join!(server.get(&path), deleting);
        assert_eq!(deleted.status, 204);
        read.problem(409, "conversation_deleted");
        assert_eq!(restore(&server).await.status, 200);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_goes_down_knows_what_is_deleted() {
    let server = spawn().await;
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    assert_eq!(server.delete(&path()).await.status, 204);
    server.app.drain(std::future::ready(())).await;
    for number in [1, 2] {
        server.ask(&ask(number, "Why?"), 0).await.problem(409, "conversation_deleted");
        server.cancel(&ask(number, "")).await.problem(410, "request_deleted");
    }
    server.ask(&ask_in(3, 3, "New?"), 0).await.problem(503, "shutting_down");
}

#[tokio::test(start_paused = true)]
async fn an_id_that_is_known_elsewhere_is_that_one_also_in_a_deleted_conversation() {
    let server = spawn().await;
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    server.ask(&ask_in(2, 2, "Elsewhere?"), 20).await.outcome(200, "completed");
    server.cancel(&ask_in(3, 3, "")).await.outcome(200, "cancelled");
    assert_eq!(server.delete(&path()).await.status, 204);
    for known in [2, 3] {
        server.ask(&ask(known, "Here?"), 0).await.problem(422, "request_mismatch");
        server.cancel(&ask(known, "")).await.problem(422, "request_mismatch");
    }
}

#[tokio::test(start_paused = true)]
async fn a_restoration_that_overtakes_a_deletion_leaves_one_truth() {
    let server = spawn().await;
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    // It is in the journal, and whoever wrote it hears of that late.
    server.journal.late_deletes.store(5_000, Ordering::Relaxed);
    let path = path();
    let overtaking = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        restore(&server).await
    };
    let (deleted, restored) = tokio::join!(server.delete(&path), overtaking);
    assert_eq!((deleted.status.as_u16(), restored.status.as_u16()), (204, 200));
    let list = server.get("/api/v1/conversations").await.json();
    assert_eq!(list["conversations"].as_array().unwrap().len(), 1, "it is back");
    server.look_up(&ask(1, ""), 0).await.outcome(200, "completed");
    server.ask(&ask(2, "And then?"), 20).await.outcome(200, "completed");
}

#[tokio::test(start_paused = true)]
async fn a_deletion_is_taken_back_within_a_minute() {
    let server = spawn().await;
    let outcome = server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    let whole = server.get(&path()).await.json();
    assert_eq!(server.delete(&path()).await.status, 204);
    tokio::time::sleep(Duration::from_secs(58)).await;
    let restored = restore(&server).await;
    assert_eq!(restored.status, 200);
    let list = server.get("/api/v1/conversations").await.json();
    assert_eq!(restored.json(), list["conversations"][0]);
    assert_eq!(server.get(&path()).await.json(), whole);
    assert_eq!(server.look_up(&ask(1, ""), 0).await.outcome(200, "completed"), outcome);
    assert_eq!(restore(&server).await.status, 200, "as often as one likes");
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!(server.get(&path()).await.json(), whole, "and stays");
    server.ask(&ask(2, "And then?"), 20).await.outcome(200, "completed");
}

#[tokio::test(start_paused = true)]
async fn after_a_minute_its_bytes_are_gone() {
    let server = spawn().await;
    let holds = |server: &Spawned, text: &str| {
        server.bytes().windows(text.len()).any(|window| window == text.as_bytes())
    };
    server.ask(&ask(1, "Why zqxsecret 龘靐齉?"), 20).await.outcome(200, "completed");
    server.ask(&ask_in(2, 2, "Why zqxpublic?"), 20).await.outcome(200, "completed");
    assert!(holds(&server, "zqxsecret") && holds(&server, "龘靐"));
    purge(&server).await;
    for text in ["zqxsecret", "龘靐", "靐齉"] {
        assert!(!holds(&server, text), "{text}");
    }
    assert!(holds(&server, "zqxpublic"));
    restore(&server).await.problem(409, "conversation_deleted");
    server.look_up(&ask(1, ""), 0).await.problem(410, "request_deleted");
    server.ask(&ask(1, "Why zqxsecret 龘靐齉?"), 0).await.problem(409, "conversation_deleted");
    assert_eq!(server.delete(&path()).await.status, 204);
    // And so it stays.
    let server = server.crash().await;
    server.look_up(&ask(1, ""), 0).await.problem(410, "request_deleted");
    server.ask(&ask(3, "New?"), 0).await.problem(409, "conversation_deleted");
    let found = server.get("/api/v1/conversations?q=zqxpublic").await.json();
    assert_eq!(found["conversations"].as_array().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_crash_between_deletion_and_purge_loses_neither() {
    let server = spawn().await;
    server.ask(&ask(1, "Why zqxsecret?"), 20).await.outcome(200, "completed");
    server.ask(&ask(2, "hold zqxsecret"), 0).await.outcome(202, "pending");
    server.ask(&ask(3, "zqxsecret in line"), 0).await.outcome(202, "pending");
    server.provider.held().await.say("zqxsecret");
    assert_eq!(server.delete(&path()).await.status, 204);
    let server = server.crash().await;
    server.look_up(&ask(1, ""), 0).await.problem(410, "request_deleted");
    // The machine was not started since, and slept.
    server.clock.sleep(Duration::from_mins(1));
    tokio::time::sleep(Duration::from_secs(30)).await;
    restore(&server).await.problem(409, "conversation_deleted");
    let bytes = server.bytes();
    assert!(!bytes.windows(9).any(|window| window == b"zqxsecret"));
    assert!(server.provider.calls().is_empty(), "what waited never runs");
}

#[tokio::test]
async fn a_journal_with_a_thread_of_its_own_deletes_as_well() {
    let server = spawn_threaded().await;
    server.ask(&ask(1, "Why zqxsecret?"), 20).await.outcome(200, "completed");
    assert_eq!(server.delete(&path()).await.status, 204);
    server.clock.sleep(Duration::from_mins(1));
    let is_there = || server.bytes().windows(9).any(|window| window == b"zqxsecret");
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    while is_there() {
        assert!(std::time::Instant::now() < deadline, "never purged");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_archive_that_fails_deletes_nothing_and_says_so() {
    let server = spawn().await;
    server.ask(&ask(1, "Why?"), 20).await.outcome(200, "completed");
    server.journal.no_writes.store(true, std::sync::atomic::Ordering::Relaxed);
    server.delete(&path()).await.problem(503, "archive_unavailable");
    server.journal.no_writes.store(false, std::sync::atomic::Ordering::Relaxed);
    server.look_up(&ask(1, ""), 0).await.outcome(200, "completed");
}
