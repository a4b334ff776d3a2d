//! What no route takes: the page's files, and everything that is not there.

use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use holdfast_protocol::Code;

use super::caller::Caller;
use super::frame::is_api;
use super::problem::Fault;
use crate::page;

/// A file of the page, or 404.
pub(super) async fn page(_: Caller, request: Request) -> Response {
    let path = request.uri().path();
    let asset = if is_api(path) { None } else { page::find(path) };
    match (asset, request.method()) {
        (None, _) => Fault::new(Code::NotFound, "There is nothing here.").into_response(),
        (Some(asset), method @ (&Method::GET | &Method::HEAD)) => {
            page::respond(asset, method, request.headers())
        }
        (Some(_), _) => {
            let mut response = refuse_method(request.method());
            let allow = HeaderValue::from_static("GET,HEAD");
            response.headers_mut().insert(header::ALLOW, allow);
            response
        }
    }
}

/// A method that a route does not have. The router adds `Allow`.
pub(super) async fn other_method(_: Caller, method: Method) -> Response {
    refuse_method(&method)
}

fn refuse_method(method: &Method) -> Response {
    if method == Method::OPTIONS {
        // What may be done, and no word about other origins: there are no CORS grants.
        return StatusCode::NO_CONTENT.into_response();
    }
    Fault::new(Code::MethodNotAllowed, "This cannot be done here; `Allow` says what can.")
        .into_response()
}
