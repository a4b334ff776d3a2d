//! One request and the whole of its reply. A body that breaks off is no reply.

use gloo_net::http::{Method, Request, RequestBuilder, Response};
use holdfast_protocol::reply::{Received, Reply};
use serde_json::Value;
use web_sys::{RequestCache, RequestRedirect};

use super::Abort;

/// A reply that came whole.
pub(super) struct Fetched {
    status: u16,
    content_type: Option<String>,
    retry_after: Option<String>,
    date: Option<String>,
    body: Vec<u8>,
}

impl Fetched {
    pub(super) fn reply(&self) -> Reply<'_> {
        Reply {
            status: self.status,
            content_type: self.content_type.as_deref(),
            retry_after: self.retry_after.as_deref(),
            date: self.date.as_deref(),
            body: &self.body,
        }
    }
}

/// What came back, as the classification wants it.
pub(super) fn received<'a>(fetched: Option<&'a Fetched>, abort: &Abort) -> Received<'a> {
    match fetched {
        Some(fetched) => Received::Reply(fetched.reply()),
        None => Received::Nothing { timed_out: abort.timed_out() },
    }
}

/// `GET`s a path relative to the mount, letting the server wait so many seconds.
pub(super) async fn get(
    path: &str,
    query: Vec<(&str, String)>,
    wait: u32,
    abort: &Abort,
) -> Option<Fetched> {
    request(Method::GET, path, query, None, wait, abort).await
}

/// `POST`s JSON to a path relative to the mount.
pub(super) async fn post(path: &str, body: &Value, wait: u32, abort: &Abort) -> Option<Fetched> {
    request(Method::POST, path, Vec::new(), Some(body.to_string()), wait, abort).await
}

/// Any request to a path relative to the mount; its body, if it has one, is JSON.
pub(super) async fn request(
    method: Method,
    path: &str,
    query: Vec<(&str, String)>,
    body: Option<String>,
    wait: u32,
    abort: &Abort,
) -> Option<Fetched> {
    let request = builder(path, method, wait, abort).query(query);
    let request = match body {
        Some(body) => request.header("Content-Type", "application/json").body(body),
        None => request.build(),
    };
    let fetched = read(send(request.ok()?, abort).await).await;
    abort.finish();
    fetched
}

/// Paths are relative, so that the page works under any mount; a redirect is not followed, because
/// what it leads to is not Holdfast's word; and no cache may stand in for it.
fn builder(path: &str, method: Method, wait: u32, abort: &Abort) -> RequestBuilder {
    RequestBuilder::new(path)
        .method(method)
        .header("Accept", "application/json, application/problem+json")
        .header("Prefer", &format!("wait={wait}"))
        .cache(RequestCache::NoStore)
        .redirect(RequestRedirect::Manual)
        .abort_signal(abort.signal().as_ref())
}

/// `GET`s a path relative to the mount; what comes is to be read by the caller.
pub(super) async fn open(
    path: &str,
    query: Vec<(&str, String)>,
    accept: &str,
    abort: &Abort,
) -> Option<Response> {
    let request = builder(path, Method::GET, 0, abort).header("Accept", accept);
    send(request.query(query).build().ok()?, abort).await
}

async fn send(request: Request, abort: &Abort) -> Option<Response> {
    if abort.is_aborted() { None } else { request.send().await.ok() }
}

/// The whole of a reply.
pub(super) async fn read(response: Option<Response>) -> Option<Fetched> {
    let response = response?;
    // Rejects when the connection ends before the body does.
    let body = response.binary().await.ok()?;
    Some(Fetched {
        status: response.status(),
        content_type: header(&response, "content-type"),
        retry_after: header(&response, "retry-after"),
        date: header(&response, "date"),
        body,
    })
}

pub(super) fn header(response: &Response, name: &str) -> Option<String> {
    response.headers().get(name)
}
