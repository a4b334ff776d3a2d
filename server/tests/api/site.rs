//! The routes beside the asks.

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::json;

use crate::support::{get, id, spawn};

#[tokio::test(start_paused = true)]
async fn the_session_says_who_and_what() {
    let server = spawn().await;
    let reply = server.get("/api/v1/session").await;
    let mut session = reply.json();
    let build = session["build"].take();
    assert!(build.as_str().is_some_and(|build| build.len() >= 8), "{build}");
    let expected = json!({
        "signed_in": true,
        "principal": {"name": "local"},
        "owner": "p1.a1",
        "limits": {"question": 32768},
        "models": [
            {"name": "scripted-1", "provider": "scripted", "state": "ready", "default": true},
        ],
        "offers": [],
        "recovery": {"submit_attempts": 45, "startup_attempts": 15, "resubmissions": 5},
        "build": null,
    });
    assert_eq!(session, expected);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
}

#[tokio::test(start_paused = true)]
async fn the_owner_stays_the_same_over_a_restart() {
    let server = spawn().await;
    let owner = server.get("/api/v1/session").await.json()["owner"].clone();
    let server = server.crash().await;
    assert_eq!(server.get("/api/v1/session").await.json()["owner"], owner);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_is_not_found() {
    let server = spawn().await;
    for path in [
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/v1/openapi.json",
        "/api/v2/ask",
        "/api/v1/ask/",
        "/api/v1/requests/x/nothing",
        "/metrics",
        "/nowhere",
        "/app.js",
        "/%2e%2e/etc/passwd",
        "//",
    ] {
        server.get(path).await.problem(404, "not_found");
    }
}

#[tokio::test(start_paused = true)]
async fn another_method_is_told_which_there_are() {
    let server = spawn().await;
    let lookup = format!("/api/v1/requests/{}", id(1));
    let cancel = format!("/api/v1/requests/{}/cancel", id(1));
    let conversation = format!("/api/v1/conversations/{}", id(1));
    for (path, method, allow) in [
        ("/api/v1/ask", Method::GET, "POST"),
        ("/api/v1/ask", Method::HEAD, "POST"),
        (&lookup, Method::POST, "GET,HEAD"),
        (&cancel, Method::GET, "POST"),
        ("/api/v1/conversations", Method::POST, "GET,HEAD"),
        (&conversation, Method::PUT, "GET,HEAD,PATCH,DELETE"),
        ("/api/v1/session", Method::DELETE, "GET,HEAD"),
        ("/healthz", Method::POST, "GET,HEAD"),
        ("/", Method::POST, "GET,HEAD"),
        ("/", Method::PUT, "GET,HEAD"),
    ] {
        let head = method == Method::HEAD;
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        let reply = server.send(request.body(Body::empty()).unwrap()).await;
        if !head {
            reply.problem(405, "method_not_allowed");
        }
        assert_eq!((reply.status.as_u16(), reply.header("allow")), (405, Some(allow)), "{path}");
        let request = Request::options(path).header("host", "localhost");
        let reply = server.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!((reply.status.as_u16(), reply.header("allow")), (204, Some(allow)), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn head_says_what_get_would() {
    let server = spawn().await;
    let lookup = format!("/api/v1/requests/{}?conversation_id={}", id(1), id(2));
    for path in ["/", "/api/v1/session", "/healthz", &lookup] {
        let whole = server.get(path).await;
        let request = Request::head(path).header("host", "localhost");
        let head = server.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!((head.status, head.bytes.len()), (whole.status, 0), "{path}");
        assert_eq!(head.header("content-type"), whole.header("content-type"), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_page_is_served_from_the_mount() {
    let server = spawn().await;
    let page = server.get("/").await;
    assert_eq!(page.status.as_u16(), 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.header("cache-control"), Some("no-cache"), "the page decides for itself");
    assert!(page.header("content-security-policy").is_some());
    let compressed = get("/").header("accept-encoding", "br").body(Body::empty()).unwrap();
    assert_eq!(server.send(compressed).await.header("content-encoding"), Some("br"));
}

#[tokio::test(start_paused = true)]
async fn health_is_a_constant() {
    let server = spawn().await;
    let health = server.get("/healthz").await;
    assert_eq!((health.status.as_u16(), &*health.bytes), (200, &b"ok\n"[..]));
    let ready = server.get("/readyz").await;
    assert_eq!(ready.status.as_u16(), 200);
}
