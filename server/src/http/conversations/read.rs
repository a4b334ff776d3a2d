//! `GET api/v1/conversations/{id}`.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use holdfast_protocol::Conversation;
use holdfast_protocol::limits::{PAGE_TURNS, PAGE_TURNS_MOST};

use super::super::Site;
use super::super::caller::Caller;
use super::super::ids::ConversationIdInPath;
use super::super::problem::Result;
use super::super::query::Query;
use super::super::wait::Begun;
use super::missing;
use crate::journal::ConversationKey;

pub(in crate::http) async fn read(
    State(site): State<Site>,
    caller: Caller,
    ConversationIdInPath(id): ConversationIdInPath,
    query: Query,
    begun: Begun,
) -> Result<Json<Conversation>> {
    let (before, limit) = (query.before()?, query.limit(PAGE_TURNS, PAGE_TURNS_MOST)?);
    let key = ConversationKey::new(caller.principal, id);
    let conversation =
        site.0.runs.conversation(key, before, limit, begun.until(Duration::ZERO)).await?;
    conversation.map(Json).ok_or_else(|| missing(&site, key))
}
