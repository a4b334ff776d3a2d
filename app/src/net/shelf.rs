//! The list of conversations, and what is done with one as a whole.

use gloo_net::http::Method;
use holdfast_protocol::{Conversation, ConversationId, ConversationList, Problem};
use holdfast_recovery::Millis;
use serde_json::{Value, json};

use super::{Abort, fetch};
use crate::{json, text};

const DEADLINE: Millis = 30_000;
/// A file takes a slow line its time: as long as the server waits for it, and what it does then.
const IMPORT_DEADLINE: Millis = 70 * 60 * 1_000;

/// What came of it, or the sentence that says why nothing did.
pub(crate) type Done<T> = Result<T, String>;

/// Where everything about a conversation is found.
fn path(id: ConversationId, rest: &str) -> String {
    format!("api/v1/conversations/{id}{rest}")
}

/// Where an export is downloaded from.
pub(crate) fn export_path(id: ConversationId, format: &str) -> String {
    path(id, "/export?format=") + format
}

/// A page of the list, of those that hold the words of `query`.
pub(crate) async fn list(
    query: &str,
    before: Option<&str>,
    limit: usize,
) -> Done<ConversationList> {
    let before = before.map(|before| ("before", before.to_owned()));
    let query = [Some(("limit", limit.to_string())), Some(("q", query.to_owned())), before];
    let query = query.into_iter().flatten().filter(|(_, value)| !value.is_empty());
    ask(Method::GET, "api/v1/conversations", query.collect(), None).await
}

/// Gives it another title.
pub(crate) async fn rename(id: ConversationId, title: &str) -> Done<Value> {
    ask(Method::PATCH, &path(id, ""), Vec::new(), Some(json!({ "title": title }).to_string())).await
}

/// What the model is told before every question of it; empty where nothing of its own is.
pub(crate) async fn instructions(id: ConversationId) -> Done<String> {
    let page: Conversation =
        ask(Method::GET, &path(id, ""), vec![("limit", "1".to_owned())], None).await?;
    Ok(page.system_prompt.unwrap_or_default())
}

/// Tells the model something else from now on.
pub(crate) async fn instruct(id: ConversationId, text: &str) -> Done<Value> {
    let body = json!({ "system_prompt": text }).to_string();
    ask(Method::PATCH, &path(id, ""), Vec::new(), Some(body)).await
}

/// Deletes it; for a minute that can be undone.
pub(crate) async fn delete(id: ConversationId) -> Done<Value> {
    ask(Method::DELETE, &path(id, ""), Vec::new(), None).await
}

/// Undoes that.
pub(crate) async fn restore(id: ConversationId) -> Done<Value> {
    ask(Method::POST, &path(id, "/restore"), Vec::new(), Some("{}".to_owned())).await
}

/// Takes in what was exported. How many were created, were here unchanged, and are in conflict.
pub(crate) async fn import(exported: String) -> Done<[u64; 3]> {
    let abort = Abort::after(IMPORT_DEADLINE);
    let path = "api/v1/import";
    let report: Value = ask_until(Method::POST, path, Vec::new(), Some(exported), &abort).await?;
    Ok(["created", "unchanged", "conflicts"].map(|name| match report.get(name) {
        Some(Value::Array(ids)) => ids.len() as u64,
        number => number.and_then(Value::as_u64).unwrap_or_default(),
    }))
}

async fn ask<T: serde::de::DeserializeOwned>(
    method: Method,
    path: &str,
    query: Vec<(&str, String)>,
    body: Option<String>,
) -> Done<T> {
    ask_until(method, path, query, body, &Abort::after(DEADLINE)).await
}

async fn ask_until<T: serde::de::DeserializeOwned>(
    method: Method,
    path: &str,
    query: Vec<(&str, String)>,
    body: Option<String>,
    abort: &Abort,
) -> Done<T> {
    let nothing = || text::NOT_REACHED.to_owned();
    let fetched = fetch::request(method, path, query, body, 0, abort).await.ok_or_else(nothing)?;
    let reply = fetched.reply();
    match reply.status {
        200 => json::read(reply.body).ok_or_else(nothing),
        // Nothing is what there is to say.
        204 => json::read(b"null").ok_or_else(nothing),
        _ => Err(json::read::<Problem>(reply.body).map_or_else(nothing, |problem| problem.detail)),
    }
}
