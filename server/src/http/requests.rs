//! `GET api/v1/requests/{request_id}` and `POST api/v1/requests/{request_id}/cancel`.

use std::time::Duration;

use axum::extract::State;
use holdfast_protocol::CancelBody;
use holdfast_protocol::limits::ASK_BODY_BYTES;

use super::Site;
use super::answer::Answered;
use super::body::Json;
use super::caller::Caller;
use super::ids::RequestIdInPath;
use super::problem::Result;
use super::query::Query;
use super::wait::{Begun, Wait};
use crate::journal::Key;
use crate::runs::Cancellation;

/// How long a cancel may take to become durable before it is answered with what is known.
const CANCEL: Duration = Duration::from_secs(10);

pub(super) async fn look_up(
    State(site): State<Site>,
    caller: Caller,
    RequestIdInPath(request_id): RequestIdInPath,
    query: Query,
    begun: Begun,
    wait: Wait,
) -> Result<Answered> {
    let conversation_id = query.conversation_id()?;
    let after = query.after()?;
    let key = Key::new(caller.principal, request_id);
    let until = begun.until(wait.or(0));
    let runs = &site.0.runs;
    let found = match after {
        None => runs.look_up_whole(key, conversation_id, until).await?,
        Some(after) => runs.look_up_page(key, conversation_id, after, until).await?.into(),
    };
    Ok(Answered { found, wait, located: false })
}

/// The body may carry the ask's own, so it may be as large.
pub(super) async fn cancel(
    State(site): State<Site>,
    request_id: Result<RequestIdInPath>,
    begun: Begun,
    Json { caller, value }: Json<ASK_BODY_BYTES>,
) -> Result<Answered> {
    let RequestIdInPath(request_id) = request_id?;
    let body = CancelBody::from_json(request_id, &value)?;
    let cancellation = Cancellation::new(caller.principal, request_id, &body);
    let outcome = site.0.runs.cancel(cancellation, begun.until(CANCEL)).await?;
    // A wish to wait is not heard here, and so not confirmed.
    Ok(Answered { found: outcome.into(), wait: Wait::default(), located: false })
}
