//! How long an exchange may last, and how long its client is ready to wait: `Prefer: wait=N`.

use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use holdfast_protocol::limits::WAIT_SECONDS_MOST;
use holdfast_protocol::wait_preference;
use tokio::time::Instant;

use crate::runs::Until;

const PREFER: HeaderName = HeaderName::from_static("prefer");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// When the head of a request had been read; every wait counts from there.
#[derive(Clone, Copy)]
pub(super) struct Begun(pub(super) Instant);

impl Begun {
    /// Waits this long for an ask to settle, and as long as an exchange may last for any word.
    pub(super) fn until(self, wait: Duration) -> Until {
        let most = Duration::from_secs(WAIT_SECONDS_MOST.into());
        Until { settled: self.0 + wait.min(most), told: self.0 + most }
    }
}

impl<S: Sync> FromRequestParts<S> for Begun {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(_: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        // Nothing has been waited for since.
        Ok(Self(Instant::now()))
    }
}

/// The wait asked for, in seconds, within bounds.
#[derive(Clone, Copy, Default)]
pub(super) struct Wait(Option<u32>);

impl Wait {
    /// How long to wait; `default`, in seconds, where the client does not say.
    pub(super) fn or(self, default: u32) -> Duration {
        Duration::from_secs(self.0.unwrap_or(default).into())
    }

    /// Tells the client which wish was heard.
    pub(super) fn confirm(self, headers: &mut HeaderMap) {
        if let Some(seconds) = self.0
            && let Ok(value) = HeaderValue::try_from(format!("wait={seconds}"))
        {
            headers.insert(PREFERENCE_APPLIED, value);
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Wait {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let headers = parts.headers.get_all(PREFER);
        let wait = headers.iter().filter_map(|value| value.to_str().ok()).find_map(wait_preference);
        Ok(Self(wait))
    }
}
