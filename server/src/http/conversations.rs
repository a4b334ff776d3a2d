//! `GET api/v1/conversations/{id}`.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use holdfast_protocol::limits::{PAGE_TURNS, PAGE_TURNS_MOST};
use holdfast_protocol::{Code, Conversation};

use super::Site;
use super::caller::Caller;
use super::ids::ConversationIdInPath;
use super::problem::{Fault, Result};
use super::query::Query;
use super::wait::Begun;
use crate::journal::ConversationKey;

pub(super) async fn read(
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
    conversation.map(Json).ok_or_else(|| {
        Fault::new(Code::ConversationNotFound, "There is no conversation with this id.")
    })
}
