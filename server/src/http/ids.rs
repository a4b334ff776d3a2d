//! The ids in a path, as they were sent.
//!
//! A router decodes percent signs, and an id that needed decoding would be a second spelling of
//! another: so the raw path is read.

use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use holdfast_protocol::{Code, ConversationId, RequestId};

use super::problem::Fault;

/// The id in `/api/v1/requests/{request_id}…`.
pub(super) struct RequestIdInPath(pub(super) RequestId);

/// The id in `/api/v1/conversations/{id}…`.
pub(super) struct ConversationIdInPath(pub(super) ConversationId);

/// The segment after `/api/v1/…/`.
fn id<T: FromStr>(parts: &Parts, code: Code) -> Result<T, Fault> {
    let segment = parts.uri.path().split('/').nth(4).unwrap_or_default();
    segment.parse().map_err(|_| {
        Fault::new(code, "The id in the path must be a UUID in lower-case hyphenated form.")
    })
}

impl<S: Sync> FromRequestParts<S> for RequestIdInPath {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        id(parts, Code::InvalidRequestId).map(Self)
    }
}

impl<S: Sync> FromRequestParts<S> for ConversationIdInPath {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        id(parts, Code::InvalidConversationId).map(Self)
    }
}
