//! Invariant 4: a connection that ends, at whatever point, changes nothing about the run.

use holdfast_tests::mock::Script;
use holdfast_tests::wire::Connection;

use crate::support::{Api, Ask, outcome};

/// Ends a connection, politely or not.
fn leave(connection: Connection, reset: bool) {
    if reset {
        connection.reset();
    }
}

#[tokio::test]
async fn a_request_that_breaks_off_is_never_accepted() {
    let api = Api::start().await;
    let ask = Ask::new("broken off");
    let request = api.asking(&ask);
    let bytes = request.bytes();
    for end in [1, bytes.len() / 4, bytes.len() / 2, bytes.len() - 1] {
        for reset in [false, true] {
            let mut connection = request.open().await.unwrap();
            connection.send(&bytes[..end]).await.unwrap();
            if reset { connection.reset() } else { drop(connection) }
        }
    }
    // The server still serves, and knows of nothing.
    assert_eq!(api.look_up(&ask).await.json()["state"], "unknown");
    assert_eq!(api.ask_and_settle(&ask).await["status"], "completed");
    assert_eq!(api.calls(&ask), 1);
}

#[tokio::test]
async fn a_connection_that_ends_after_the_request_cancels_nothing() {
    let api = Api::start().await;
    for reset in [false, true] {
        let ask = Ask::new("nobody listens");
        api.mock.next(Script::gated("half ", &format!("go {reset}"), "whole"));
        let request = api.asking(&ask).header("Prefer", "wait=20");
        let mut connection = request.open().await.unwrap();
        connection.send(&request.bytes()).await.unwrap();
        api.called(&ask).await;
        leave(connection, reset);
        // The next exchange is handled after the end of that connection was seen, if ever it is.
        assert_eq!(outcome(&api.look_up(&ask).await, 202, &ask)["status"], "pending");
        api.mock.open(&format!("go {reset}"));
        let settled = api.settled(&ask).await;
        assert_eq!(settled["answer"]["text"], "half whole");
        assert_eq!(api.calls(&ask), 1);
    }
}

#[tokio::test]
async fn a_request_whose_sender_is_gone_at_once_is_run_once_or_never_heard_of() {
    let api = Api::start().await;
    for number in 0..20 {
        let ask = Ask::new("sent and gone");
        let request = api.asking(&ask);
        let mut connection = request.open().await.unwrap();
        connection.send(&request.bytes()).await.unwrap();
        leave(connection, number % 2 == 0);
        // Whichever it was: the same ask again makes it certain, and pays once.
        assert_eq!(api.ask_and_settle(&ask).await["status"], "completed");
        assert_eq!(api.calls(&ask), 1);
    }
}

#[tokio::test]
async fn a_long_poll_that_ends_early_changes_nothing() {
    let api = Api::start().await;
    api.mock.next(Script::gated("half ", "go", "whole"));
    let ask = Ask::new("polled");
    api.ask(&ask).await;
    api.called(&ask).await;
    for _ in 0..10 {
        let request = api.looking_up(&ask).header("Prefer", "wait=20");
        let mut connection = request.open().await.unwrap();
        connection.send(&request.bytes()).await.unwrap();
        connection.reset();
    }
    api.mock.open("go");
    assert_eq!(api.settled(&ask).await["answer"]["text"], "half whole");
    assert_eq!(api.calls(&ask), 1);
}
