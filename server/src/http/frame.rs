//! What every exchange has in common, whatever its handler.

use std::future::{Ready, ready};
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::TryFutureExt as _;
use futures_util::future::{Either, MapOk};
use holdfast_protocol::Code;
use tower::{Layer, Service};

use super::Site;
use super::problem::{Fault, Result};
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

/// Puts every exchange into its frame: before the journal is classified the API is not asked, and
/// every reply gets the headers that its handler did not set. The page sets its own.
///
/// A service rather than a middleware function, which would box itself twice an exchange: whoever
/// waits for an answer holds all of that as long.
#[derive(Clone)]
pub(super) struct Frame(pub(super) Site);

impl<S> Layer<S> for Frame {
    type Service = Framed<S>;

    fn layer(&self, inner: S) -> Framed<S> {
        Framed { site: self.0.clone(), inner }
    }
}

/// A service in its [`Frame`].
#[derive(Clone)]
pub(super) struct Framed<S> {
    site: Site,
    inner: S,
}

impl<S> Service<Request> for Framed<S>
where
    S: Service<Request, Response = Response>,
{
    type Response = Response;
    type Error = S::Error;
    type Future = MapOk<
        Either<Ready<std::result::Result<Response, S::Error>>, S::Future>,
        fn(Response) -> Response,
    >;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<std::result::Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let refusal = is_api(request.uri().path()).then(|| started(&self.site).err()).flatten();
        let response = match refusal {
            Some(fault) => Either::Left(ready(Ok(fault.into_response()))),
            None => Either::Right(self.inner.call(request)),
        };
        response.map_ok(with_headers as fn(Response) -> Response)
    }
}

fn with_headers(mut response: Response) -> Response {
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
