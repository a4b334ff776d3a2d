//! `POST api/v1/ask`.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};
use holdfast_protocol::limits::{ASK_BODY_BYTES, ASK_WAIT_SECONDS};
use holdfast_protocol::{AskBody, Code, RequestId};

use super::Site;
use super::accept::prefers_events;
use super::answer::Answered;
use super::body::Json;
use super::events::{Events, offset};
use super::language::Language;
use super::problem::{Fault, Result};
use super::query::Query;
use super::wait::{Begun, Wait};
use crate::runs::Submission;

pub(super) async fn submit(
    State(site): State<Site>,
    Language(language): Language,
    begun: Begun,
    wait: Wait,
    query: Query,
    headers: HeaderMap,
    Json { caller, value }: Json<ASK_BODY_BYTES>,
) -> Result<Response> {
    let body = AskBody::from_json(&value)?;
    check_key(&headers, body.request_id)?;
    let submission = Submission::new(caller.principal, &body, language)
        .ok_or_else(|| Fault::new(Code::InvalidField, "`question`: is none."))?;
    let until = begun.until(wait.or(ASK_WAIT_SECONDS));
    if prefers_events(&headers) {
        let after = offset(&query, &headers)?;
        let follower = site.0.runs.submit_and_follow(submission, after, until).await?;
        return Ok(Events(follower).into_response());
    }
    let outcome = site.0.runs.submit(submission, until).await?;
    Ok(Answered { found: outcome.into(), wait, located: true }.into_response())
}

/// `Idempotency-Key`, plain or quoted as its draft has it, can only repeat the ask's own id.
fn check_key(headers: &HeaderMap, request_id: RequestId) -> Result<()> {
    let own = request_id.to_string();
    let is_own = |value: &axum::http::HeaderValue| {
        value.to_str().is_ok_and(|text| {
            let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            quoted.unwrap_or(text) == own
        })
    };
    if headers.get_all("idempotency-key").iter().all(is_own) {
        return Ok(());
    }
    let detail = "`Idempotency-Key`, if sent, must equal `request_id`.";
    Err(Fault::new(Code::KeyMismatch, detail))
}
