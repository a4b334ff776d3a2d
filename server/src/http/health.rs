//! `GET healthz` and `GET readyz`, for whoever watches over the process.

use axum::extract::State;

use super::Site;
use super::caller::Caller;
use super::frame;
use super::problem::Result;

/// The process answers.
pub(super) async fn alive(_: Caller) -> &'static str {
    "ok\n"
}

/// What the last stop left is classified: asks are taken.
pub(super) async fn ready(State(site): State<Site>, _: Caller) -> Result<&'static str> {
    frame::started(&site)?;
    Ok("ready\n")
}
