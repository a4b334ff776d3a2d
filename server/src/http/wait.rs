//! How long a client is ready to wait: `Prefer: wait=N`.

use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use holdfast_protocol::wait_preference;

const PREFER: HeaderName = HeaderName::from_static("prefer");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// The wait asked for, in seconds, within bounds.
#[derive(Clone, Copy)]
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
