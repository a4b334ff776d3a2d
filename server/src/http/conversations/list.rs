//! `GET api/v1/conversations`.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use holdfast_protocol::ConversationList;
use holdfast_protocol::limits::{PAGE_CONVERSATIONS, PAGE_CONVERSATIONS_MOST};

use super::super::Site;
use super::super::caller::Caller;
use super::super::problem::Result;
use super::super::query::Query;
use super::super::wait::Begun;
use crate::journal::Listing;

pub(in crate::http) async fn list(
    State(site): State<Site>,
    caller: Caller,
    query: Query,
    begun: Begun,
) -> Result<Json<ConversationList>> {
    let limit = query.limit(PAGE_CONVERSATIONS, PAGE_CONVERSATIONS_MOST)?;
    let listing = Listing { matching: query.search()?, before: query.cursor()?, limit };
    let until = begun.until(Duration::ZERO);
    Ok(Json(site.0.conversations.list(caller.principal, listing, until).await?))
}
