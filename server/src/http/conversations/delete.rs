//! `DELETE api/v1/conversations/{id}` and `POST api/v1/conversations/{id}/restore`.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use holdfast_protocol::ConversationSummary;

use super::super::Site;
use super::super::caller::Caller;
use super::super::ids::ConversationIdInPath;
use super::super::problem::Result;
use super::super::wait::Begun;
use super::{deleted, not_found};
use crate::conversations::Restored;
use crate::journal::ConversationKey;

pub(in crate::http) async fn delete(
    State(site): State<Site>,
    caller: Caller,
    ConversationIdInPath(id): ConversationIdInPath,
    begun: Begun,
) -> Result<StatusCode> {
    let key = ConversationKey::new(caller.principal, id);
    let is_known = site.0.conversations.delete(key, begun.until(Duration::ZERO)).await?;
    if is_known { Ok(StatusCode::NO_CONTENT) } else { Err(not_found()) }
}

pub(in crate::http) async fn restore(
    State(site): State<Site>,
    caller: Caller,
    ConversationIdInPath(id): ConversationIdInPath,
    begun: Begun,
) -> Result<Json<ConversationSummary>> {
    let key = ConversationKey::new(caller.principal, id);
    match site.0.conversations.restore(key, begun.until(Duration::ZERO)).await? {
        Restored::There(summary) => Ok(Json(summary)),
        Restored::Deleted => Err(deleted()),
        Restored::Unknown => Err(not_found()),
    }
}
