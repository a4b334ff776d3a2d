//! What every exchange has in common, whatever its handler.

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use holdfast_protocol::Code;
use tokio::time::Instant;

use super::Site;
use super::problem::{Fault, Result};
use super::wait::Begun;
use crate::runs::Phase;

const CORP: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Whether a path belongs to the API.
pub(super) fn is_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

/// Nothing can be said about any ask before the journal is classified.
pub(super) fn started(site: &Site) -> Result<()> {
    if *site.0.phase.borrow() == Phase::Starting {
        let detail = "Holdfast is starting; try again in a moment.";
        return Err(Fault::new(Code::Starting, detail));
    }
    Ok(())
}

pub(super) async fn starting(State(site): State<Site>, request: Request, next: Next) -> Response {
    if is_api(request.uri().path())
        && let Err(fault) = started(&site)
    {
        return fault.into_response();
    }
    next.run(request).await
}

/// Notes when the exchange began, and adds headers that a handler does not set itself. The page sets
/// its own.
pub(super) async fn around(mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(Begun(Instant::now()));
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let mut default = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    default(header::CACHE_CONTROL, "no-store");
    default(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    default(header::REFERRER_POLICY, "no-referrer");
    default(CORP, "same-origin");
    response
}
