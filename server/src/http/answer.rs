//! An outcome as a reply.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use holdfast_protocol::Outcome;

use super::wait::Wait;
use crate::runs::Found;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// 200 with an outcome that has settled, else 202.
pub(super) struct Answered {
    pub(super) found: Found,
    pub(super) wait: Wait,
    /// Whether to say where the outcome can be looked up: relative to `api/v1/ask`.
    pub(super) located: bool,
}

impl IntoResponse for Answered {
    fn into_response(self) -> Response {
        let (location, mut response) = match self.found {
            Found::Settled(json) => (None, ([(header::CONTENT_TYPE, JSON)], json).into_response()),
            Found::Outcome(outcome) => {
                let settled = outcome.status.is_settled();
                let status = if settled { StatusCode::OK } else { StatusCode::ACCEPTED };
                let location = (self.located && !settled).then(|| {
                    let Outcome { request_id, conversation_id, .. } = &*outcome;
                    format!("requests/{request_id}?conversation_id={conversation_id}")
                });
                (location, (status, Json(outcome)).into_response())
            }
        };
        let headers = response.headers_mut();
        self.wait.confirm(headers);
        if let Some(location) = location.and_then(|text| HeaderValue::try_from(text).ok()) {
            headers.insert(header::LOCATION, location);
        }
        response
    }
}
