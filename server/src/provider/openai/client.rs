//! The one outgoing client: what it sends with every request, what it refuses to do, and how long it
//! waits. What the bytes mean is not its business.
//!
//! *Architecture invariant:* the key goes to the configured endpoint and nowhere else: redirects are
//! not followed, and proxies named in the environment are not used.
//!
//! *Architecture invariant:* no request is ever sent twice. Connections are not kept: one that the
//! other side closes at the moment it is used again leaves open whether the request was taken, and
//! an answer that takes seconds is not worth that doubt.

use std::time::Duration;

use bytes::Bytes;
use holdfast_protocol::retry_after;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName,
    HeaderValue, RETRY_AFTER,
};
use reqwest::{StatusCode, redirect, retry};
use serde_json::Value;
use thiserror::Error;
use tokio::time::{Instant, timeout, timeout_at};

use super::endpoint::Endpoint;
use crate::provider::secret::Secret;

const USER_AGENT: &str = concat!("holdfast/", env!("CARGO_PKG_VERSION"));
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The most header fields of a reply, and their size where the protocol's version lets it be bounded.
const HEADERS_MOST: usize = 100;
const HEADER_BYTES: u32 = 64 * 1024;
/// How much of a refusal's body is read, in bytes.
const ERROR_BYTES: usize = 16 * 1024;
/// How much of a list of models is read, in bytes.
const LIST_BYTES: usize = 1024 * 1024;

/// How long those parts of a call may take that nobody needs to wait for. How long an answer may take
/// is not decided here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Name, connection and TLS together.
    pub connect: Duration,
    /// Without a byte once the answer is said to be complete.
    pub after_finish: Duration,
    /// What is not an answer: the body of a refusal, the list of models.
    pub aside: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            after_finish: Duration::from_secs(5),
            aside: Duration::from_secs(5),
        }
    }
}

/// Why there can be no client, as the sentence that a wrong start says.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The key cannot be sent in a header.
    #[error("the provider's key holds a character that cannot be sent: is it the right file?")]
    Key,
    /// There is no TLS without certificates to trust.
    #[error("no secure connection can be made from this machine: {0}")]
    Tls(#[source] reqwest::Error),
}

/// Sends requests to one endpoint.
#[derive(Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    authorization: Option<HeaderValue>,
    timeouts: Timeouts,
}

/// A reply that has been read whole, within its bound.
#[derive(Debug)]
pub(super) struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// Its body, or what came of it.
    pub body: Vec<u8>,
}

impl Client {
    /// A client for `endpoint`.
    pub(super) fn new(
        endpoint: &Endpoint,
        key: Option<&Secret>,
        timeouts: Timeouts,
    ) -> Result<Self, ClientError> {
        let authorization = key.map(authorization).transpose()?;
        let mut builder = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .no_proxy()
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .connect_timeout(timeouts.connect)
            .pool_max_idle_per_host(0)
            .http1_max_headers(HEADERS_MOST)
            .http2_max_header_list_size(HEADER_BYTES);
        if endpoint.is_plain() {
            // Else a machine without certificates could not even ask a model of its own.
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().map_err(ClientError::Tls)?;
        Ok(Self { http, authorization, timeouts })
    }

    /// How long each part may take.
    pub(super) const fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// Asks for an answer; back with the head of the reply.
    pub(super) async fn ask(
        &self,
        endpoint: &Endpoint,
        idempotency_key: &str,
        body: &Value,
    ) -> Result<Stream, reqwest::Error> {
        let request = self
            .http
            .post(endpoint.chat().clone())
            .headers(self.authorization_headers())
            .header(ACCEPT, "text/event-stream, application/json")
            .header(CONTENT_TYPE, "application/json")
            .header(IDEMPOTENCY_KEY, idempotency_key)
            .body(body.to_string());
        Ok(Stream { response: request.send().await?, timeouts: self.timeouts })
    }

    /// Asks for the list of models. `None`: it did not come in time.
    pub(super) async fn list(&self, endpoint: &Endpoint) -> Result<Reply, Option<reqwest::Error>> {
        let request = self
            .http
            .get(endpoint.models().clone())
            .headers(self.authorization_headers())
            .header(ACCEPT, "application/json");
        let deadline = Instant::now() + self.timeouts.aside;
        let mut response =
            timeout_at(deadline, request.send()).await.map_err(|_| None)?.map_err(Some)?;
        let status = response.status();
        Ok(Reply { status, body: read(&mut response, LIST_BYTES, deadline).await })
    }

    fn authorization_headers(&self) -> HeaderMap {
        self.authorization.iter().map(|value| (AUTHORIZATION, value.clone())).collect()
    }
}

fn authorization(key: &Secret) -> Result<HeaderValue, ClientError> {
    let mut value =
        HeaderValue::try_from(format!("Bearer {}", key.expose())).map_err(|_| ClientError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

/// What comes next of a reply.
#[derive(Debug)]
pub(super) enum Next {
    /// Bytes of its body.
    Bytes(Bytes),
    /// Its end, as far as the connection can tell.
    End,
    /// The connection broke.
    Broken,
}

/// The body of a reply, as it comes. Dropping it closes its connection.
#[derive(Debug)]
pub(super) struct Stream {
    response: reqwest::Response,
    timeouts: Timeouts,
}

impl Stream {
    /// The reply's status.
    pub(super) fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// How long the reply asks to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        let headers = self.response.headers();
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        retry_after(text(RETRY_AFTER)?, text(DATE))
    }

    /// Whether the body is in a coding that was not asked for.
    pub(super) fn is_compressed(&self) -> bool {
        self.response
            .headers()
            .get(CONTENT_ENCODING)
            .is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
    }

    /// Waits for what comes next; not for long if the answer is said to be complete already.
    pub(super) async fn next(&mut self, is_finished: bool) -> Next {
        let next = self.response.chunk();
        let next = if is_finished {
            timeout(self.timeouts.after_finish, next).await.unwrap_or(Ok(None))
        } else {
            next.await
        };
        match next {
            Ok(Some(bytes)) => Next::Bytes(bytes),
            Ok(None) => Next::End,
            Err(_) => Next::Broken,
        }
    }

    /// The body of a refusal: as much as is worth quoting, and as comes soon.
    pub(super) async fn error_body(mut self) -> Vec<u8> {
        let deadline = Instant::now() + self.timeouts.aside;
        read(&mut self.response, ERROR_BYTES, deadline).await
    }
}

/// What comes of a body until `deadline`, at most `bound` bytes.
async fn read(response: &mut reqwest::Response, bound: usize, deadline: Instant) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < bound {
        let Ok(Ok(Some(bytes))) = timeout_at(deadline, response.chunk()).await else { break };
        body.extend_from_slice(&bytes);
    }
    body.truncate(bound);
    body
}
