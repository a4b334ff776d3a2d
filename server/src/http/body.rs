//! A JSON body, in the order of checks: media type, size, JSON, and only then who is calling.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use holdfast_protocol::{Code, Problem};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};

use super::Site;
use super::caller::Caller;
use super::problem::Fault;

/// How long a body may take to arrive, or, of a large one, each further stretch of it: a slow line gets
/// its time, and one that stalls does not, however much came before.
const PATIENCE: Duration = Duration::from_secs(20);
/// How much of a large body such a stretch is, in bytes.
const STRETCH: usize = 320 * 1024;
/// Larger than any body that is not a file.
const LARGE: usize = 1024 * 1024;
/// How much of a body that is too large is read on, so that the client, which may be sending still,
/// gets to read why …
const LINGER_BYTES: usize = 4 * 1024 * 1024;
/// … and for how long.
const LINGER: Duration = Duration::from_secs(2);

/// A JSON value of at most `LIMIT` bytes, and whoever sent it.
pub(super) struct Json<const LIMIT: usize> {
    pub(super) caller: Caller,
    pub(super) value: Value,
}

impl<const LIMIT: usize> FromRequest<Site> for Json<LIMIT> {
    type Rejection = Response;

    async fn from_request(request: Request, site: &Site) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts.headers, body, LIMIT).await?;
        let value = parse(&bytes).map_err(IntoResponse::into_response)?;
        let caller = Caller::of(&parts, site).map_err(IntoResponse::into_response)?;
        Ok(Self { caller, value })
    }
}

/// The value that a body is.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, Fault> {
    serde_json::from_slice(bytes).map_err(|error| {
        Fault::new(Code::InvalidJson, format!("The body is not valid JSON: {error}."))
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case("application/json"))
}

/// The bytes of a body that says to be JSON, at most `limit` of them.
pub(super) async fn read(
    headers: &HeaderMap,
    body: Body,
    limit: usize,
) -> Result<Vec<u8>, Response> {
    if !is_json(headers) {
        let detail = "The body must be sent as `Content-Type: application/json`.";
        return Err(Fault::new(Code::UnsupportedMediaType, detail).into_response());
    }
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.parse::<u64>().ok());
    let mut stream = body.into_data_stream();
    if announced.is_some_and(|length| length > limit as u64) {
        if !headers.contains_key(header::EXPECT) {
            linger(&mut stream).await;
        }
        return Err(too_large(limit));
    }
    let mut bytes = Vec::new();
    let mut deadline = Instant::now() + PATIENCE;
    let mut stretch = if limit > LARGE { STRETCH } else { usize::MAX };
    loop {
        match timeout_at(deadline, stream.next()).await {
            Ok(Some(Ok(piece))) => bytes.extend_from_slice(&piece),
            Ok(None) => return Ok(bytes),
            Ok(Some(Err(_))) => {
                let early = uncoded(StatusCode::BAD_REQUEST, "The body ended early.");
                return Err(early.into_response());
            }
            Err(_) => {
                let late = uncoded(StatusCode::REQUEST_TIMEOUT, "The body did not arrive in time.");
                return Err(([(header::RETRY_AFTER, "1")], late).into_response());
            }
        }
        if bytes.len() > limit {
            linger(&mut stream).await;
            return Err(too_large(limit));
        }
        if bytes.len() >= stretch {
            stretch = bytes.len() + STRETCH;
            deadline = Instant::now() + PATIENCE;
        }
    }
}

/// Reads on for a while. A client that waits for leave to send (`Expect`) has nothing to be read.
async fn linger(stream: &mut BodyDataStream) {
    let reading = timeout(LINGER, async {
        let mut read = 0;
        while read < LINGER_BYTES
            && let Some(Ok(piece)) = stream.next().await
        {
            read += piece.len();
        }
    });
    // Whether it has ended by then or not, the reply is the same.
    let _ = reading.await;
}

fn too_large(limit: usize) -> Response {
    let detail = format!("The body is larger than {limit} bytes.");
    Fault::new(Code::TooLarge, detail).into_response()
}

/// A problem that is the network's: it has no code, for it says nothing about what was sent, and the
/// same may be sent again.
fn uncoded(status: StatusCode, detail: &str) -> impl IntoResponse {
    let problem = json!({
        "type": "about:blank",
        "title": status.canonical_reason(),
        "status": status.as_u16(),
        "detail": detail,
    });
    (status, [(header::CONTENT_TYPE, Problem::MEDIA_TYPE)], problem.to_string())
}
