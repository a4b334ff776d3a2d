//! Which exchanges a fault falls on, and what it does to them.

use std::collections::BTreeSet;
use std::time::Duration;

/// What an exchange is about, read from its method and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// `POST api/v1/ask`.
    Ask,
    /// `GET api/v1/requests/{id}`.
    Lookup,
    /// `GET api/v1/requests/{id}/events`.
    Events,
    /// `POST api/v1/requests/{id}/cancel`.
    Cancel,
    /// `api/v1/session`.
    Session,
    /// `api/v1/conversations…`.
    Conversation,
    /// Anything else under `api/`, and the health routes.
    OtherApi,
    /// The page's document.
    Page,
    /// A `.wasm` of the page that is needed to ask.
    Wasm,
    /// The `.wasm` that is fetched once a question can be asked.
    LaterPart,
    /// A `.js` of the page.
    Script,
    /// Any other file of the page.
    Asset,
}

impl Route {
    /// Reads it from a request. The mount in front of `api/` may be any.
    pub fn of(method: &str, path: &str) -> Route {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        let Some((_, api)) = path.split_once("/api/") else {
            return match extension {
                _ if path.ends_with("/healthz") || path.ends_with("/readyz") => Route::OtherApi,
                _ if path.ends_with('/') || extension == "html" => Route::Page,
                "wasm" if path.ends_with("_viewing.wasm") => Route::LaterPart,
                "wasm" => Route::Wasm,
                "js" => Route::Script,
                _ => Route::Asset,
            };
        };
        let segments: Vec<&str> = api.split('/').collect();
        match (method, segments.as_slice()) {
            ("POST", ["v1", "ask"]) => Route::Ask,
            ("GET", ["v1", "requests", _]) => Route::Lookup,
            ("GET", ["v1", "requests", _, "events"]) => Route::Events,
            ("POST", ["v1", "requests", _, "cancel"]) => Route::Cancel,
            (_, ["v1", "session"]) => Route::Session,
            (_, ["v1", "conversations", ..]) => Route::Conversation,
            _ => Route::OtherApi,
        }
    }
}

/// A reply that the proxy makes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Its fields; length and connection are added.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Reply {
    /// A reply of that status, content type and body.
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Reply {
        Reply {
            status,
            headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
            body: body.into(),
        }
    }

    /// The page that a gateway makes of an error.
    pub fn html(status: u16) -> Reply {
        let body = format!(
            "<html><head><title>{status}</title></head><body><center><h1>{status} Bad Gateway\
             </h1></center><hr><center>nginx</center></body></html>"
        );
        Reply::new(status, "text/html", body)
    }

    /// A problem (RFC 9457), as Holdfast itself or another server would send it.
    pub fn problem(status: u16, code: &str, detail: &str) -> Reply {
        let body = format!(
            r#"{{"type":"about:blank","title":"{code}","status":{status},"code":"{code}","detail":"{detail}"}}"#
        );
        Reply::new(status, "application/problem+json", body)
    }

    /// Adds a field.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// What befalls an exchange. “Cut” is a reset of the connection to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Cut when the request is here; nothing of it is forwarded.
    CutBeforeForward,
    /// The head and half the body are forwarded, then both sides are cut: it is never accepted.
    CutInRequest,
    /// The whole request is forwarded and both sides are cut at once, without awaiting a reply.
    CutAfterForward,
    /// The request is forwarded, the reply's head arrives, and nothing of it is relayed: cut.
    CutBeforeReply,
    /// The reply's head and so many bytes of its body are relayed, then cut. Less than that many
    /// bytes: the whole body, without a proper end.
    CutBody(usize),
    /// The whole body is relayed, but not its end: cut.
    CutBeforeEnd,
    /// The reply ends cleanly after so many bytes of its body, as though that were all of it.
    Truncate(usize),
    /// The reply is relayed as it comes, and ends cleanly once so many bytes of its body were, while
    /// Holdfast goes on: a proxy that lets no exchange live longer.
    EndBody(usize),
    /// The request is forwarded, its reply thrown away, and this one relayed.
    Replace(Reply),
    /// Nothing is forwarded; this reply comes instead.
    Instead(Reply),
    /// The request is held for so long and then forwarded.
    DelayRequest(Duration),
    /// The reply is held for so long and then relayed.
    DelayReply(Duration),
    /// The request is held until the test opens this gate, and then forwarded.
    HoldRequest(String),
    /// The request is held until the test opens this gate, and then forwarded even if its client is
    /// gone by then: it lay in some queue on the way.
    LateRequest(String),
    /// The reply is held until the test opens this gate, and then relayed.
    HoldReply(String),
    /// Nothing is forwarded and nothing is said for so long, then cut.
    Silence(Duration),
    /// The request is forwarded, but nothing is said for so long, then cut.
    SilenceAfterForward(Duration),
    /// The body is relayed one byte at a time, each so long after the one before.
    Drip(Duration),
    /// The reply is relayed in one piece when it is complete, as a buffering proxy does.
    Blob,
    /// The reply's head is relayed at once, its body in one piece when it is complete.
    HeadThenBlob,
    /// The request is forwarded twice at the same time; one of the replies is relayed.
    Duplicate,
}

/// A fault, and the exchanges it falls on: by default the next one that matches, once.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) route: Option<Route>,
    pub(super) containing: Option<String>,
    pub(super) skip: usize,
    pub(super) times: usize,
    pub(super) struck: Option<BTreeSet<String>>,
    pub(super) fault: Fault,
}

impl Rule {
    /// The fault falls on the next exchange of that route.
    pub fn on(route: Route, fault: Fault) -> Rule {
        Rule { route: Some(route), containing: None, skip: 0, times: 1, struck: None, fault }
    }

    /// The fault falls on the next exchange, whatever it is.
    pub fn any(fault: Fault) -> Rule {
        Rule { route: None, ..Rule::on(Route::Page, fault) }
    }

    /// Only on those whose target or body contains this.
    #[must_use]
    pub fn containing(mut self, text: &str) -> Rule {
        self.containing = Some(text.to_owned());
        self
    }

    /// Not on the first so many that match.
    #[must_use]
    pub fn after(mut self, skip: usize) -> Rule {
        self.skip = skip;
        self
    }

    /// On so many that match.
    #[must_use]
    pub fn times(mut self, times: usize) -> Rule {
        self.times = times;
        self
    }

    /// On all that match.
    #[must_use]
    pub fn always(self) -> Rule {
        self.times(usize::MAX)
    }

    /// On all that match, but once for each ask: a repetition of the same ask gets through.
    #[must_use]
    pub fn once_each(mut self) -> Rule {
        self.struck = Some(BTreeSet::new());
        self.always()
    }

    /// Whether it falls on this exchange; counts it if so.
    pub(super) fn takes(&mut self, route: Route, target: &str, body: &[u8]) -> bool {
        let matches = self.route.is_none_or(|wanted| wanted == route)
            && self.containing.as_ref().is_none_or(|text| {
                target.contains(text.as_str())
                    || String::from_utf8_lossy(body).contains(text.as_str())
            });
        if !matches || self.times == 0 {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        if let Some(struck) = &mut self.struck
            && let Some(id) = super::exchange::request_id(target, body)
            && !struck.insert(id)
        {
            return false;
        }
        // A rule for all of them never runs out in a lifetime.
        self.times -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_known_at_any_mount() {
        for (method, path, route) in [
            ("POST", "/api/v1/ask", Route::Ask),
            ("POST", "/chat/api/v1/ask", Route::Ask),
            ("GET", "/api/v1/ask", Route::OtherApi),
            ("GET", "/api/v1/requests/1", Route::Lookup),
            ("GET", "/api/v1/requests/1/events", Route::Events),
            ("POST", "/api/v1/requests/1/cancel", Route::Cancel),
            ("GET", "/api/v1/conversations", Route::Conversation),
            ("GET", "/", Route::Page),
            ("GET", "/chat/index.html", Route::Page),
            ("GET", "/holdfast-0a_bg.wasm", Route::Wasm),
            ("GET", "/holdfast-0a_viewing.wasm", Route::LaterPart),
            ("GET", "/holdfast-0a.js", Route::Script),
            ("GET", "/main.css", Route::Asset),
            ("GET", "/readyz", Route::OtherApi),
        ] {
            assert_eq!(Route::of(method, path), route, "{method} {path}");
        }
    }

    #[test]
    fn a_rule_passes_over_some_and_then_falls_on_some() {
        let mut rule =
            Rule::on(Route::Ask, Fault::CutBeforeReply).containing("marked").after(1).times(2);
        assert!(!rule.takes(Route::Lookup, "/marked", b""), "another route");
        assert!(!rule.takes(Route::Ask, "/", b"other"), "no marker");
        let taken: Vec<bool> =
            (0..5).map(|_| rule.takes(Route::Ask, "/", b"a marked one")).collect();
        assert_eq!(taken, [false, true, true, false, false]);
    }

    #[test]
    fn a_rule_falls_once_on_each_ask() {
        let mut rule = Rule::on(Route::Ask, Fault::CutBeforeReply).once_each();
        let taken: Vec<bool> = ["1", "2", "1", "3", "3"]
            .map(|id| format!(r#"{{"request_id":"{id}"}}"#))
            .iter()
            .map(|body| rule.takes(Route::Ask, "/", body.as_bytes()))
            .collect();
        assert_eq!(taken, [true, true, false, true, false]);
    }
}
