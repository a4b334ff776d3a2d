//! `GET api/v1/conversations/{id}/export`.

use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use super::super::Site;
use super::super::caller::Caller;
use super::super::ids::ConversationIdInPath;
use super::super::problem::Result;
use super::super::query::Query;
use super::super::wait::Begun;
use super::missing;
use crate::conversations::disposition;
use crate::journal::ConversationKey;

pub(in crate::http) async fn export(
    State(site): State<Site>,
    caller: Caller,
    ConversationIdInPath(id): ConversationIdInPath,
    query: Query,
    begun: Begun,
) -> Result<Response> {
    let key = ConversationKey::new(caller.principal, id);
    let format = query.format()?;
    let until = begun.until(Duration::ZERO);
    let exported = site.0.conversations.export(key, format, until).await?;
    let (title, pieces) = exported.ok_or_else(|| missing(&site, key))?;
    let mut response = Body::from_stream(pieces).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(format.media_type()));
    if let Ok(name) = HeaderValue::try_from(disposition(&title, format)) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}
