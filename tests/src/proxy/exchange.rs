//! What the fault proxy remembers of one exchange.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Fault, Route};

/// One request that came to the proxy, and what became of it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Its place in the log, from 0.
    pub number: usize,
    /// What it was about.
    pub route: Route,
    /// Its method.
    pub method: String,
    /// Its target: path and query.
    pub target: String,
    /// Its fields, names as sent.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: String,
    /// When it had arrived whole.
    pub began: Instant,
    /// The fault that fell on it.
    pub fault: Option<Fault>,
    /// Whether it was forwarded whole.
    pub forwarded: bool,
    /// The status Holdfast replied with, relayed or not.
    pub upstream_status: Option<u16>,
    /// The status that was relayed.
    pub status: Option<u16>,
    /// The bytes of body that were relayed (the first 256 KiB of them).
    pub relayed: Vec<u8>,
    /// How it ended; `None` while it goes on.
    pub ended: Option<Fate>,
    /// Time from `began` to its end.
    pub ended_after: Option<Duration>,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A whole reply was relayed, or what a fault left of it, and the connection closed properly.
    Relayed,
    /// Its fault cut it.
    Cut,
    /// The line was cut while it went on ([`super::Line::Cut`]).
    LineCut,
    /// The client left first.
    ClientLeft,
    /// Holdfast could not be reached, or left first.
    UpstreamLeft,
}

impl Exchange {
    /// The id of the ask it is about: from the path, else from the body.
    pub fn request_id(&self) -> Option<String> {
        request_id(&self.target, self.body.as_bytes())
    }

    /// The body that was relayed, as JSON, if it is some.
    pub fn reply(&self) -> Option<Value> {
        serde_json::from_slice(&self.relayed).ok()
    }

    /// A field of the request, by name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

pub(super) fn request_id(target: &str, body: &[u8]) -> Option<String> {
    let path = target.split('?').next().unwrap_or_default();
    if let Some((_, rest)) = path.split_once("/requests/") {
        return rest.split('/').next().map(str::to_owned);
    }
    let body: Value = serde_json::from_slice(body).ok()?;
    body.get("request_id")?.as_str().map(str::to_owned)
}
