//! Which requests are answered at all.

use axum::body::Body;
use axum::http::{Method, Request};

use crate::support::{Spawned, ask, id, post, spawn, spawn_with};

async fn asked(server: &Spawned, headers: &[(&str, &str)]) -> u16 {
    let mut request = Request::post("/api/v1/ask").header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = ask(1, "Why?").to_string();
    server.send(request.body(Body::from(body)).unwrap()).await.status.as_u16()
}

#[tokio::test(start_paused = true)]
async fn a_name_that_resolves_here_by_a_trick_is_no_host_for_any_route() {
    let server = spawn().await;
    let conversation = format!("/api/v1/conversations/{}", id(1));
    for path in ["/", "/healthz", "/api/v1/session", "/api/v1/nowhere", "/nowhere", &conversation] {
        let request = Request::get(path).header("host", "evil.test:8787");
        server.send(request.body(Body::empty()).unwrap()).await.problem(421, "host_rejected");
    }
    let request = Request::delete("/api/v1/session").header("host", "evil.test");
    server.send(request.body(Body::empty()).unwrap()).await.problem(421, "host_rejected");
}

#[tokio::test(start_paused = true)]
async fn a_foreign_page_changes_nothing() {
    let server = spawn().await;
    let host = ("host", "localhost:8787");
    assert_eq!(asked(&server, &[host, ("origin", "http://evil.test")]).await, 403);
    assert_eq!(asked(&server, &[host, ("origin", "null")]).await, 403);
    assert_eq!(asked(&server, &[host, ("sec-fetch-site", "cross-site")]).await, 403);
    let both = [host, ("origin", "http://localhost:8787"), ("sec-fetch-site", "cross-site")];
    assert_eq!(asked(&server, &both).await, 403);
    let unknown = server.look_up(&ask(1, ""), 0).await.outcome(202, "pending");
    assert_eq!(unknown["state"], "unknown");
    let cancel = post(&format!("/api/v1/requests/{}/cancel", id(1))).header("origin", "null");
    let body = serde_json::json!({"conversation_id": id(1)}).to_string();
    let reply = server.send(cancel.body(Body::from(body)).unwrap()).await;
    reply.problem(403, "origin_rejected");
    assert_eq!(asked(&server, &[host, ("origin", "http://localhost:8787")]).await, 200);
}

#[tokio::test(start_paused = true)]
async fn the_public_url_is_a_host_and_an_origin() {
    let server = spawn_with(Some("https://example.org/chat/")).await;
    let host = ("host", "example.org");
    assert_eq!(asked(&server, &[host, ("origin", "https://example.org")]).await, 200);
    assert_eq!(asked(&server, &[host, ("origin", "https://evil.test")]).await, 403);
    assert_eq!(asked(&server, &[("host", "evil.test")]).await, 421);
    let alone = spawn().await;
    assert_eq!(asked(&alone, &[host]).await, 421);
}

#[tokio::test(start_paused = true)]
async fn no_other_origin_is_granted_anything() {
    let server = spawn().await;
    for method in [Method::OPTIONS, Method::GET, Method::POST] {
        let request = Request::builder()
            .method(method)
            .uri("/api/v1/session")
            .header("host", "localhost")
            .header("origin", "http://evil.test")
            .header("access-control-request-method", "POST")
            .header("access-control-request-private-network", "true");
        let reply = server.send(request.body(Body::empty()).unwrap()).await;
        let granted = reply.headers.keys().any(|name| name.as_str().starts_with("access-control"));
        assert!(!granted, "{:?}", reply.headers);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_client_sends_is_not_reflected() {
    let server = spawn().await;
    let trick = "\"><script>alert(1)</script>";
    for header in ["host", "x-forwarded-host", "x-forwarded-proto", "accept-language", "origin"] {
        let mut request = Request::post("/api/v1/ask").header("content-type", "application/json");
        if header != "host" {
            request = request.header("host", "localhost");
        }
        let request = request.header(header, trick).body(Body::from("{}")).unwrap();
        let reply = server.send(request).await;
        let seen = format!("{:?}{}", reply.headers, String::from_utf8_lossy(&reply.bytes));
        assert!(!seen.contains("script"), "{header}: {seen}");
    }
}
