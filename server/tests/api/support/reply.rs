//! A reply, read whole.

use axum::body::to_bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Reply {
    pub(crate) async fn of(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Self { status: parts.status, headers: parts.headers, bytes }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&self.bytes)))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// An outcome of this HTTP status, and its own.
    #[track_caller]
    pub(crate) fn outcome(&self, http: u16, status: &str) -> Value {
        let outcome = self.json();
        assert_eq!(
            (self.status.as_u16(), outcome["status"].as_str()),
            (http, Some(status)),
            "{outcome}"
        );
        assert_eq!(self.header("cache-control"), Some("no-store"));
        assert_eq!(self.header("content-type"), Some("application/json"));
        outcome
    }

    /// A problem of this code, as every problem must be.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> Value {
        let problem = self.json();
        assert_eq!(
            (self.status.as_u16(), problem["code"].as_str()),
            (status, Some(code)),
            "{problem}"
        );
        assert_eq!(problem["status"], status);
        assert_eq!(problem["type"], "about:blank");
        assert!(problem["title"].as_str().is_some_and(|title| !title.is_empty()));
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(self.header("cache-control"), Some("no-store"));
        let waits = status == 503 || code == "rate_limited";
        assert_eq!(self.header("retry-after").is_some(), waits);
        problem
    }
}
