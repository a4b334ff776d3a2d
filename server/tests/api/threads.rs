//! The server on real threads: what a single thread with paused time cannot bring about.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::Value;

use crate::support::{ask_in, spawn_threaded};

const CONVERSATIONS: u128 = 40;
const ASKS: u128 = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn asks_cancels_and_lookups_all_at_once_agree_on_one_outcome_each() {
    let server = Arc::new(spawn_threaded().await);
    let bodies: Vec<Value> = (0..CONVERSATIONS * ASKS)
        .map(|number| ask_in(number % CONVERSATIONS + 1, number + 1, &format!("Why {number}?")))
        .collect();
    let clients = bodies.iter().enumerate().map(|(number, body)| {
        let (server, body) = (Arc::clone(&server), body.clone());
        tokio::spawn(async move {
            let again =
                async { if number % 3 == 0 { Some(server.ask(&body, 20).await) } else { None } };
            let cancel =
                async { if number % 5 == 0 { Some(server.cancel(&body).await) } else { None } };
            let gone = async {
                // A client that leaves at once.
                if number % 7 == 0 {
                    tokio::select! {
                        biased;
                        _ = server.ask(&body, 20) => {}
                        () = tokio::task::yield_now() => {}
                    }
                }
            };
            let (first, again, cancel, ()) =
                tokio::join!(server.ask(&body, 20), again, cancel, gone);
            let settled = server.look_up(&body, 20).await;
            assert_eq!(settled.status.as_u16(), 200, "{}", settled.json());
            for reply in [Some(first), again, cancel].into_iter().flatten() {
                let outcome = reply.json();
                assert_eq!(reply.status.as_u16(), 200, "{outcome}");
                assert_eq!(outcome, settled.json());
            }
            settled.json()
        })
    });
    let mut completed = 0;
    for (client, body) in join_all(clients).await.into_iter().zip(&bodies) {
        let outcome = client.unwrap();
        let id = body["request_id"].as_str().unwrap();
        let calls = server.provider.calls_of(id);
        assert_eq!(outcome["question"], body["question"]);
        match outcome["status"].as_str() {
            Some("completed") => {
                completed += 1;
                assert_eq!(calls, 1, "{outcome}");
            }
            Some("cancelled") => assert!(calls <= 1, "{outcome}"),
            _ => panic!("{outcome}"),
        }
    }
    assert!(completed >= bodies.len() * 4 / 5);
    for conversation in 1..=CONVERSATIONS {
        let turns = server.conversation(&ask_in(conversation, 1, "")).await["turns"].clone();
        let seqs: Vec<_> =
            turns.as_array().unwrap().iter().map(|turn| turn["seq"].clone()).collect();
        assert_eq!(seqs, (1..=ASKS).map(|seq| serde_json::json!(seq)).collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_waits_is_told_how_many_are_before() {
    let server = Arc::new(spawn_threaded().await);
    let mut asks = Vec::new();
    for conversation in 1..=6 {
        let first = ask_in(conversation, conversation * 100, "hold");
        server.ask(&first, 0).await.outcome(202, "pending");
        for number in 1..=20 {
            let server = Arc::clone(&server);
            let body = ask_in(conversation, conversation * 100 + number, "Next?");
            asks.push(tokio::spawn(async move { server.ask(&body, 0).await.json() }));
        }
    }
    for ask in join_all(asks).await {
        let outcome = ask.unwrap();
        assert_eq!(outcome["state"], "accepted");
        assert!(outcome["queue"].as_u64().is_some_and(|queue| queue >= 1), "{outcome}");
    }
    server.app.abort().await;
}
