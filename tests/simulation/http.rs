//! Requests to the router, and whole replies, without a socket between.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, Response, header};
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

/// Status, headers and body of a reply that arrived whole.
pub(crate) type Whole = (u16, HeaderMap, Vec<u8>);

/// A request as the page would write it: with a JSON body it is a POST.
pub(crate) fn request(path: &str, body: Option<String>, wait: u32) -> Request<Body> {
    let request = Request::builder()
        .uri(path)
        .header(header::HOST, "127.0.0.1")
        .header("prefer", format!("wait={wait}"));
    let request = match &body {
        Some(_) => request.method("POST").header(header::CONTENT_TYPE, "application/json"),
        None => request,
    };
    request.body(Body::from(body.unwrap_or_default())).expect("a well-formed request")
}

/// The reply to a request.
pub(crate) async fn send(router: Router, request: Request<Body>) -> Option<Whole> {
    whole(open(router, request).await?).await
}

/// The head of a reply, with its body still to come.
pub(crate) async fn open(router: Router, request: Request<Body>) -> Option<Response<Body>> {
    router.oneshot(request).await.ok()
}

/// The whole of a reply.
pub(crate) async fn whole(response: Response<Body>) -> Option<Whole> {
    let (parts, body) = response.into_parts();
    let body = body.collect().await.ok()?.to_bytes().to_vec();
    Some((parts.status.as_u16(), parts.headers, body))
}
