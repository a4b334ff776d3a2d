//! `PATCH api/v1/conversations/{id}`.

use std::time::Duration;

use axum::extract::State;
use holdfast_protocol::limits::BODY_BYTES;
use holdfast_protocol::{Code, ConversationSummary, Title};
use serde_json::Value;

use super::super::Site;
use super::super::body::Json;
use super::super::ids::ConversationIdInPath;
use super::super::problem::{Fault, Result};
use super::super::wait::Begun;
use super::not_found;
use crate::journal::{Changes, ConversationKey};

pub(in crate::http) async fn change(
    State(site): State<Site>,
    id: Result<ConversationIdInPath>,
    begun: Begun,
    Json { caller, value }: Json<BODY_BYTES>,
) -> Result<axum::Json<ConversationSummary>> {
    let ConversationIdInPath(id) = id?;
    let key = ConversationKey::new(caller.principal, id);
    let until = begun.until(Duration::ZERO);
    let changed = site.0.conversations.change(key, changes(&value)?, until).await?;
    changed.map(axum::Json).ok_or_else(not_found)
}

/// What the body changes: at least something.
fn changes(body: &Value) -> Result<Changes> {
    let invalid = |detail: String| Fault::new(Code::InvalidField, detail);
    let Some(fields) = body.as_object() else {
        return Err(Fault::new(Code::InvalidJson, "The body must be a JSON object."));
    };
    let title = match fields.get("title") {
        None | Some(Value::Null) => return Err(invalid("`title`: is missing.".to_owned())),
        Some(Value::String(text)) => Title::parse(text),
        Some(_) => return Err(invalid("`title`: must be a string.".to_owned())),
    };
    let title = title.map_err(|error| invalid(format!("`title`: {error}")))?;
    Ok(Changes { title: Some(title) })
}
