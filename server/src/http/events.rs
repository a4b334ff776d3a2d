//! `GET api/v1/requests/{request_id}/events`, and the same stream as the reply to an ask.
//!
//! Here belong the head of a stream, its offsets, and signs of life between events. Not here: what is
//! told when (`runs`), and what an event looks like (`holdfast_protocol::following`).

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use holdfast_protocol::following::COMMENT;
use holdfast_protocol::{Code, event_stream};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::Site;
use super::answer::Answered;
use super::caller::Caller;
use super::ids::RequestIdInPath;
use super::problem::{Fault, Result};
use super::query::{Query, number};
use super::wait::{Begun, Wait};
use crate::journal::Key;
use crate::runs::{Follower, Following};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// How often a stream gives a sign of life: a proxy that gives up on silence waits longer.
const LIFE: Duration = Duration::from_secs(3);
/// How long to look for an ask that is between its run and the journal.
const MEETING: Duration = Duration::from_secs(2);

pub(super) async fn follow(
    State(site): State<Site>,
    caller: Caller,
    RequestIdInPath(request_id): RequestIdInPath,
    query: Query,
    begun: Begun,
    headers: HeaderMap,
) -> Result<Response> {
    let conversation_id = query.conversation_id()?;
    let after = offset(&query, &headers)?;
    let key = Key::new(caller.principal, request_id);
    let until = begun.until(MEETING);
    Ok(match site.0.runs.follow(key, conversation_id, after, until).await? {
        Following::Known(follower) => Events(follower).into_response(),
        Following::Unknown(outcome) => {
            let found = (*outcome).into();
            Answered { found, wait: Wait::default(), located: false }.into_response()
        }
    })
}

/// How much of the answer's text the client has, in bytes: as the query says, else as a browser does
/// that connects again.
pub(super) fn offset(query: &Query, headers: &HeaderMap) -> Result<u64> {
    if let Some(after) = query.after()? {
        return Ok(after);
    }
    // An event source that has seen no id sends none; an empty one says the same.
    let Some(id) = headers.get(LAST_EVENT_ID).filter(|id| !id.is_empty()) else { return Ok(0) };
    let detail = "`Last-Event-ID` must be the number of bytes that an event's `id` gave.";
    let id = id.to_str().ok().and_then(number);
    id.ok_or_else(|| Fault::new(Code::InvalidOffset, detail))
}

/// What happens to an ask, as it happens, until it has settled or the server has to end.
pub(super) struct Events(pub(super) Follower);

impl IntoResponse for Events {
    fn into_response(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static(event_stream::MEDIA_TYPE)),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform")),
            (ACCEL_BUFFERING, HeaderValue::from_static("no")),
        ];
        let mut life = interval_at(Instant::now() + LIFE, LIFE);
        // Where nobody reads there is no need to catch up.
        life.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let pieces = unfold((self.0, life), async |(mut follower, mut life)| {
            let piece = next(&mut follower, &mut life).await?;
            Some((Ok::<_, Infallible>(piece), (follower, life)))
        });
        (headers, Body::from_stream(pieces)).into_response()
    }
}

/// The next bytes: an event, or a comment that is due.
async fn next(follower: &mut Follower, life: &mut Interval) -> Option<Bytes> {
    tokio::select! {
        biased;
        _ = life.tick() => Some(Bytes::from_static(COMMENT.as_bytes())),
        told = follower.next() => Some(Bytes::from(told?.to_event())),
    }
}
