//! `PATCH api/v1/conversations/{id}`.

use std::time::Duration;

use axum::extract::State;
use holdfast_protocol::limits::BODY_BYTES;
use holdfast_protocol::{Code, ConversationSummary, Title, system_prompt};
use serde_json::Value;

use super::super::Site;
use super::super::body::Json;
use super::super::ids::ConversationIdInPath;
use super::super::problem::{Fault, Result};
use super::super::wait::Begun;
use super::missing;
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
    changed.map(axum::Json).ok_or_else(|| missing(&site, key))
}

/// What the body changes: at least something.
fn changes(body: &Value) -> Result<Changes> {
    let invalid = |detail: String| Fault::new(Code::InvalidField, detail);
    let Some(fields) = body.as_object() else {
        return Err(Fault::new(Code::InvalidJson, "The body must be a JSON object."));
    };
    let text = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(invalid(format!("`{name}`: must be a string."))),
    };
    let title = text("title")?.map(Title::parse).transpose();
    let title = title.map_err(|error| invalid(format!("`title`: {error}")))?;
    let system_prompt = text("system_prompt")?.map(system_prompt).transpose();
    let system_prompt =
        system_prompt.map_err(|error| invalid(format!("`system_prompt`: {error}")))?;
    if title.is_none() && system_prompt.is_none() {
        let detail = "Nothing is to be changed: `title` and `system_prompt` are missing.";
        return Err(invalid(detail.to_owned()));
    }
    Ok(Changes { title, system_prompt })
}
