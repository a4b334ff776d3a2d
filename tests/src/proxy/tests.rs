//! The fault proxy must cut exactly where it says, or the tests built on it prove nothing. The mock
//! provider stands in for Holdfast: what it logs is what was forwarded.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::client::Request;
use crate::mock::{MockProvider, Script, Step};

/// The mock's stream stands for any reply; the path makes it “another API route”.
const PATH: &str = "/v1/chat/completions";

async fn line() -> (MockProvider, FaultProxy) {
    let mock = MockProvider::start().await.unwrap();
    let proxy = FaultProxy::start(mock.address()).await.unwrap();
    (mock, proxy)
}

fn request(proxy: &FaultProxy) -> Request {
    Request::new(proxy.address(), "POST", PATH)
        .json(&json!({"stream": true, "messages": [{"role": "user", "content": "the question"}]}))
}

/// Reads a reply as far as it goes: its status if a head came, its body, and whether it ended well.
async fn read(request: &Request) -> (Option<u16>, Vec<u8>, bool) {
    let mut connection = request.open().await.unwrap();
    connection.send(&request.bytes()).await.unwrap();
    let Ok(head) = connection.reply_head().await else { return (None, Vec::new(), false) };
    let mut body = connection.body(&head, false);
    let mut whole = Vec::new();
    loop {
        match connection.piece(&mut body).await {
            Ok(Some(piece)) => whole.extend(piece),
            Ok(None) => return (Some(head.status), whole, true),
            Err(_) => return (Some(head.status), whole, false),
        }
    }
}

#[tokio::test]
async fn without_a_rule_everything_passes_unchanged() {
    let (mock, proxy) = line().await;
    let direct = Request::new(mock.address(), "GET", "/v1/models").send().await.unwrap();
    let relayed = Request::new(proxy.address(), "GET", "/v1/models").send().await.unwrap();
    assert_eq!(direct.body, relayed.body);
    assert_eq!(direct.header("content-type"), relayed.header("content-type"));
    let (status, body, whole) = read(&request(&proxy)).await;
    assert_eq!((status, whole), (Some(200), true));
    assert!(String::from_utf8(body).unwrap().ends_with("[DONE]\n\n"));
    let exchange = &proxy.exchanges()[1];
    assert_eq!(exchange.ended, Some(Fate::Relayed));
    assert_eq!((exchange.fault.as_ref(), exchange.forwarded), (None, true));
    assert_eq!((exchange.upstream_status, exchange.status), (Some(200), Some(200)));
}

#[tokio::test]
async fn each_cut_falls_where_it_says() {
    // fault, forwarded whole, status seen, bytes of body seen at most
    let cases = [
        (Fault::CutBeforeForward, false, None, 0),
        (Fault::CutInRequest, false, None, 0),
        (Fault::CutBeforeReply, true, None, 0),
        (Fault::CutBody(0), true, Some(200), 0),
        (Fault::CutBody(50), true, Some(200), 50),
        (Fault::CutBeforeEnd, true, Some(200), usize::MAX),
        (Fault::CutAfterForward, true, None, 0),
    ];
    for (fault, forwarded, status, most) in cases {
        let (mock, proxy) = line().await;
        proxy.rule(Rule::any(fault.clone()));
        let (seen, body, whole) = read(&request(&proxy)).await;
        assert!(!whole, "{fault:?} is no proper end");
        assert_eq!(seen, status, "{fault:?}");
        if most == usize::MAX {
            assert!(body.ends_with(b"[DONE]\n\n"), "{fault:?} loses nothing but the end");
        } else {
            assert_eq!(body.len(), most, "{fault:?}");
        }
        let exchange = proxy.struck(Route::Asset).await;
        assert_eq!(exchange.fault, Some(fault.clone()));
        assert_eq!((exchange.forwarded, exchange.ended), (forwarded, Some(Fate::Cut)));
        if !forwarded {
            // The next, whole request shows that the one before never became a call.
            read(&request(&proxy)).await;
        }
        if fault != Fault::CutAfterForward {
            assert_eq!(mock.calls().len(), 1, "{fault:?}");
        }
    }
}

#[tokio::test]
async fn a_truncated_reply_ends_cleanly() {
    let (_mock, proxy) = line().await;
    proxy.rule(Rule::any(Fault::Truncate(10)));
    let (status, body, whole) = read(&request(&proxy)).await;
    assert_eq!((status, body.len(), whole), (Some(200), 10, true));
}

#[tokio::test]
async fn a_reply_that_goes_on_can_be_ended_cleanly() {
    let (mock, proxy) = line().await;
    mock.next(Script::new().words("some words ").then(Step::Hang));
    proxy.rule(Rule::any(Fault::EndBody(10)));
    let (status, body, whole) = read(&request(&proxy)).await;
    assert_eq!((status, body.len(), whole), (Some(200), 10, true));
    assert_eq!(proxy.struck(Route::Asset).await.ended, Some(Fate::Relayed));
}

#[tokio::test]
async fn replies_are_replaced_with_and_without_asking_upstream() {
    let (mock, proxy) = line().await;
    proxy.rule(Rule::any(Fault::Instead(Reply::html(502))));
    proxy
        .rule(Rule::any(Fault::Replace(Reply::problem(503, "starting", "Wait.").header("X", "y"))));
    let first = request(&proxy).send().await.unwrap();
    assert_eq!((first.status(), mock.calls().len()), (502, 0));
    assert!(first.text().contains("nginx"));
    let second = request(&proxy).send().await.unwrap();
    assert_eq!((second.status(), mock.calls().len()), (503, 1));
    assert_eq!((second.code().as_str(), second.header("x")), ("starting", Some("y")));
}

#[tokio::test]
async fn a_held_request_waits_for_its_gate_and_a_held_reply_too() {
    let (mock, proxy) = line().await;
    proxy.rule(Rule::any(Fault::HoldRequest("in".into())));
    proxy.rule(Rule::any(Fault::HoldReply("out".into())));
    for (gate, calls) in [("in", 0), ("out", 2)] {
        let held = request(&proxy);
        let reply = tokio::spawn(async move { held.send().await });
        proxy
            .wait("the held exchange", |all| {
                all.last().is_some_and(|e| e.ended.is_none() && (e.forwarded == (gate == "out")))
            })
            .await;
        if gate == "out" {
            mock.wait("the call", |all| all.len() == calls).await;
        }
        assert_eq!(mock.calls().len(), calls);
        assert!(!reply.is_finished());
        proxy.open(gate);
        assert_eq!(reply.await.unwrap().unwrap().status(), 200);
    }
}

#[tokio::test]
async fn a_late_request_arrives_though_its_client_is_gone() {
    let (mock, proxy) = line().await;
    proxy.rule(Rule::any(Fault::LateRequest("go".into())));
    let late = request(&proxy);
    let mut connection = late.open().await.unwrap();
    connection.send(&late.bytes()).await.unwrap();
    proxy.wait("the request", |all| all.len() == 1).await;
    connection.reset();
    assert!(mock.calls().is_empty());
    proxy.open("go");
    mock.wait("the call", |calls| calls.len() == 1).await;
    proxy.wait("its reply", |all| all[0].upstream_status == Some(200)).await;
}

#[tokio::test]
async fn a_duplicated_request_arrives_twice_and_is_answered_once() {
    let (mock, proxy) = line().await;
    proxy.rule(Rule::any(Fault::Duplicate));
    assert_eq!(request(&proxy).send().await.unwrap().status(), 200);
    mock.wait("both", |calls| calls.len() == 2).await;
    assert_eq!(proxy.exchanges().len(), 1);
}

#[tokio::test]
async fn a_cut_line_kills_what_is_open_and_refuses_what_comes() {
    let (mock, proxy) = line().await;
    mock.next(Script::new().delta("begun").then(Step::Hang));
    let open = request(&proxy);
    let reading = tokio::spawn(async move { read(&open).await });
    proxy.wait("the head", |all| all.first().is_some_and(|e| !e.relayed.is_empty())).await;
    proxy.line(Line::Cut);
    let (status, body, whole) = reading.await.unwrap();
    assert_eq!((status, whole), (Some(200), false));
    assert!(!body.is_empty());
    assert!(request(&proxy).send().await.is_err());
    assert_eq!(proxy.exchanges().len(), 1, "nothing is read from a cut line");
    assert_eq!(proxy.exchanges()[0].ended, Some(Fate::LineCut));
    mock.wait("the hang-up", |calls| calls[0].client_closed()).await;
    proxy.line(Line::Up);
    assert_eq!(request(&proxy).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_silent_line_says_nothing_and_goes_on_when_it_is_up_again() {
    let (mock, proxy) = line().await;
    proxy.line(Line::Silent);
    let waiting = request(&proxy);
    let reply = tokio::spawn(async move { waiting.send().await });
    // What must not happen cannot be awaited; this long is ten times what a reply takes here.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!reply.is_finished());
    assert!(mock.calls().is_empty());
    proxy.line(Line::Up);
    assert_eq!(reply.await.unwrap().unwrap().status(), 200);
}

#[tokio::test]
async fn a_client_that_leaves_takes_its_upstream_connection_along() {
    let (mock, proxy) = line().await;
    mock.next(Script::hang());
    let leaving = request(&proxy);
    let mut connection = leaving.open().await.unwrap();
    connection.send(&leaving.bytes()).await.unwrap();
    mock.wait("the call", |calls| !calls.is_empty()).await;
    drop(connection);
    mock.wait("the hang-up", |calls| calls[0].client_closed()).await;
    proxy.wait("its fate", |all| all[0].ended == Some(Fate::ClientLeft)).await;
}

#[tokio::test]
async fn a_body_can_come_in_single_bytes_or_in_one_piece() {
    let (mock, proxy) = line().await;
    mock.otherwise(Script::gated("one ", "go", "two"));
    proxy.rule(Rule::any(Fault::Blob));
    proxy.rule(Rule::any(Fault::Drip(Duration::ZERO)));
    let blob = request(&proxy);
    let reading = tokio::spawn(async move { read(&blob).await });
    mock.wait("the first word", |calls| calls.first().is_some_and(|c| c.written > 0)).await;
    assert_eq!(proxy.exchanges()[0].status, None, "a blob is not begun before it is whole");
    mock.open("go");
    let blob = reading.await.unwrap();
    assert!(blob.2);
    assert_eq!(blob, read(&request(&proxy)).await, "single bytes join to the same");
}
