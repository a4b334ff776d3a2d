//! The line between page and server, and everything that can stand on it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Request, header};
use holdfast_protocol::event_stream::{Reader, is_event_stream};
use holdfast_protocol::following::{EVENT_BYTES, Followed};
use holdfast_protocol::reply::{Exchange, Received, Reply, Verdict, classify};
use holdfast_protocol::{AskBody, Outcome};
use holdfast_recovery::Sending;
use http_body_util::BodyExt as _;
use tokio::sync::watch;

use crate::http::{Whole, open, request, send, whole};
use crate::rng::Chance;

const HTML: &str = "<html><h1>504 Gateway Time-out</h1></html>";
const FOREIGN: &str = r#"{"error":{"code":502,"message":"upstream connect error"}}"#;

/// What can happen to one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// Cut before the request leaves.
    BeforeAccept,
    /// The server has it; the connection dies while it works.
    WhileServing,
    /// The server has answered; the reply is lost.
    AfterAccept,
    /// The body breaks off at some byte.
    MidBody,
    /// A stream breaks off at some byte.
    MidStream,
    /// The head of a stream comes, and nothing of its body.
    Buffering,
    /// A proxy answers with its own page, the server having seen the request or not.
    Gateway,
    /// Another server's JSON.
    ForeignJson,
    /// The request arrives twice.
    Duplicate,
    /// The request arrives late.
    Delay,
    /// Nothing comes back until patience ends.
    Silence,
}

/// Every kind.
pub(crate) const FAULTS: &[Fault] = &[
    Fault::BeforeAccept,
    Fault::WhileServing,
    Fault::AfterAccept,
    Fault::MidBody,
    Fault::MidStream,
    Fault::Buffering,
    Fault::Gateway,
    Fault::ForeignJson,
    Fault::Duplicate,
    Fault::Delay,
    Fault::Silence,
];

/// What is to befall one exchange.
struct Fate {
    fault: Option<Fault>,
    /// How long the request and the reply are on their way.
    there: Duration,
    back: Duration,
    /// How long a connection lasts that dies while the server works.
    life: Duration,
    delay: Duration,
    /// Where the body breaks off.
    end: usize,
    /// Another tab follows the ask.
    is_followed: bool,
    /// A gateway's status, and whether the request got past it.
    status: u16,
    arrives: bool,
}

/// The weather over one world.
pub(crate) struct Weather {
    chance: Rc<Chance>,
    /// One exchange in so many meets a fault; 0: none does.
    pub(crate) rough: Cell<u64>,
    /// Nothing passes at all.
    pub(crate) outage: Cell<bool>,
    /// The server, while it is up.
    server: watch::Sender<Option<axum::Router>>,
    /// Something happened in some tab.
    pub(crate) news: tokio::sync::Notify,
    /// How often each fault happened.
    pub(crate) fired: RefCell<BTreeMap<Fault, u64>>,
    /// How often a stream told an outcome.
    pub(crate) told: Cell<u64>,
}

/// How a stream ended.
pub(crate) enum Ended {
    /// With a reply, or with none.
    Said(Verdict),
    /// The head came, and then nothing.
    Buffered,
    /// With the outcome, which was told.
    Told,
}

impl Weather {
    pub(crate) fn new(chance: Rc<Chance>) -> Self {
        Self {
            chance,
            rough: Cell::new(0),
            outage: Cell::new(false),
            server: watch::Sender::new(None),
            news: tokio::sync::Notify::new(),
            fired: RefCell::new(BTreeMap::new()),
            told: Cell::new(0),
        }
    }

    /// The server is reached from now on.
    pub(crate) fn server_up(&self, router: axum::Router) {
        self.server.send_replace(Some(router));
    }

    /// The server is gone, and with it every connection to it.
    pub(crate) async fn server_down(&self) {
        self.server.send_replace(None);
        // Requests under way notice as soon as they are polled.
        for _ in 0..8 {
            tokio::task::yield_now().await;
        }
    }

    /// What is to befall an exchange. All of it is drawn when the exchange begins: whoever waits for
    /// the same thing is woken in no certain order, which must not decide who draws what.
    fn fate(&self) -> Fate {
        let chance = &self.chance;
        let rough = self.rough.get();
        let fault = if rough > 0 && chance.once_in(rough) { chance.pick(FAULTS) } else { None };
        let statuses = [500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 200];
        Fate {
            fault: fault.copied(),
            there: chance.millis(5, 60),
            back: chance.millis(5, 60),
            life: chance.millis(0, 40),
            delay: chance.millis(500, 20_000),
            end: usize::try_from(chance.between(0, 400)).unwrap_or(0),
            is_followed: chance.once_in(5),
            status: *chance.pick(&statuses).unwrap_or(&502),
            arrives: chance.once_in(2),
        }
    }

    /// Counts a fault that has struck, not one that was only planned.
    fn struck(&self, fault: Fault) {
        *self.fired.borrow_mut().entry(fault).or_default() += 1;
    }

    /// Carries one exchange there and back, as far as the weather lets it.
    pub(crate) async fn exchange(&self, sending: &Sending) -> Verdict {
        let patience = Duration::from_millis(sending.deadline);
        match tokio::time::timeout(patience, self.pass(sending)).await {
            Ok(verdict) => verdict,
            Err(_) => judge(sending, Received::Nothing { timed_out: true }),
        }
    }

    async fn pass(&self, sending: &Sending) -> Verdict {
        let nothing = || judge(sending, Received::Nothing { timed_out: false });
        let fate = self.fate();
        tokio::time::sleep(fate.there).await;
        if self.outage.get() {
            return nothing();
        }
        let whole = |end| self.whole(sending, fate.back, end);
        match fate.fault {
            None => whole(usize::MAX).await,
            Some(fault @ Fault::BeforeAccept) => {
                self.struck(fault);
                nothing()
            }
            Some(fault @ Fault::WhileServing) => {
                if tokio::time::timeout(fate.life, self.serve(sending)).await.is_err() {
                    self.struck(fault);
                }
                nothing()
            }
            Some(fault @ Fault::AfterAccept) => {
                if self.serve(sending).await.is_some() {
                    self.struck(fault);
                }
                nothing()
            }
            Some(Fault::MidBody | Fault::MidStream | Fault::Buffering) => whole(fate.end).await,
            Some(fault @ Fault::Gateway) => {
                self.struck(fault);
                if fate.arrives {
                    self.serve(sending).await;
                }
                foreign(sending, fate.status, "text/html", HTML)
            }
            Some(fault @ Fault::ForeignJson) => {
                self.struck(fault);
                if fate.arrives {
                    self.serve(sending).await;
                }
                foreign(sending, 502, "application/json", FOREIGN)
            }
            Some(fault @ Fault::Duplicate) => {
                self.struck(fault);
                let (_, verdict) = tokio::join!(self.serve(sending), whole(usize::MAX));
                verdict
            }
            Some(fault @ Fault::Delay) => {
                self.struck(fault);
                tokio::time::sleep(fate.delay).await;
                whole(usize::MAX).await
            }
            Some(fault @ Fault::Silence) => {
                if self.serve(sending).await.is_some() {
                    self.struck(fault);
                }
                std::future::pending().await
            }
        }
    }

    /// Carries a stream, event by event, as far as the weather lets it.
    pub(crate) async fn follow(&self, sending: &Sending, tell: &dyn Fn(Followed)) -> Ended {
        let fate = self.fate();
        if fate.is_followed {
            return Ended::Said(self.exchange(sending).await);
        }
        let nothing = |timed_out| Ended::Said(judge(sending, Received::Nothing { timed_out }));
        tokio::time::sleep(fate.there).await;
        if self.outage.get() {
            return nothing(false);
        }
        let mut end = usize::MAX;
        match fate.fault {
            None | Some(Fault::Duplicate) => {}
            Some(Fault::MidBody | Fault::MidStream) => end = fate.end,
            Some(fault @ Fault::Delay) => {
                self.struck(fault);
                tokio::time::sleep(fate.delay).await;
            }
            Some(fault @ Fault::Buffering) => {
                self.struck(fault);
                tokio::time::sleep(Duration::from_millis(Sending::FIRST_BYTE)).await;
                return Ended::Buffered;
            }
            Some(fault @ Fault::Silence) => {
                self.struck(fault);
                tokio::time::sleep(Duration::from_millis(sending.deadline)).await;
                return nothing(true);
            }
            Some(fault @ (Fault::BeforeAccept | Fault::WhileServing | Fault::AfterAccept)) => {
                self.struck(fault);
                return nothing(false);
            }
            Some(fault @ Fault::Gateway) => {
                self.struck(fault);
                return Ended::Said(foreign(sending, fate.status, "text/html", HTML));
            }
            Some(fault @ Fault::ForeignJson) => {
                self.struck(fault);
                return Ended::Said(foreign(sending, 502, "application/json", FOREIGN));
            }
        }
        self.stream(sending, fate.back, end, tell).await
    }

    /// The stream itself, up to `end` bytes of it.
    async fn stream(
        &self,
        sending: &Sending,
        back: Duration,
        end: usize,
        tell: &dyn Fn(Followed),
    ) -> Ended {
        let nothing = |timed_out| Ended::Said(judge(sending, Received::Nothing { timed_out }));
        let mut server = self.server.subscribe();
        let Some(router) = server.borrow_and_update().clone() else { return nothing(false) };
        let mut response = tokio::select! {
            biased;
            _ = server.changed() => return nothing(false),
            response = open(router, written(sending, true)) => match response {
                Some(response) => response,
                None => return nothing(false),
            },
        };
        tokio::time::sleep(back).await;
        let content_type = response.headers().get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        if !content_type.is_some_and(is_event_stream) {
            let Some((status, headers, body)) = whole(response).await else {
                return nothing(false);
            };
            return Ended::Said(judge(sending, Received::Reply(reply(status, &headers, &body))));
        }
        let (mut reader, mut events, mut come) = (Reader::new(EVENT_BYTES), Vec::new(), 0);
        let patience = Duration::from_millis(sending.deadline);
        loop {
            let frame = tokio::select! {
                biased;
                _ = server.changed() => return nothing(false),
                frame = tokio::time::timeout(patience, response.body_mut().frame()) => frame,
            };
            if self.outage.get() {
                tokio::time::sleep(patience).await;
                return nothing(true);
            }
            let bytes = match frame {
                Err(_) => return nothing(true),
                Ok(None) => return Ended::Said(Verdict::STREAM_ENDED),
                Ok(Some(frame)) => match frame.ok().and_then(|frame| frame.into_data().ok()) {
                    Some(bytes) => bytes,
                    None => return nothing(false),
                },
            };
            let kept = bytes.get(..end.saturating_sub(come).min(bytes.len())).unwrap_or_default();
            come += bytes.len();
            let read = reader.push(kept, &mut events);
            for followed in events.drain(..).filter_map(|event| Followed::from_event(&event)) {
                let is_end = matches!(followed, Followed::Outcome(_));
                tell(followed);
                if is_end {
                    self.told.set(self.told.get() + 1);
                    return Ended::Told;
                }
            }
            if come > end || read.is_err() {
                self.struck(Fault::MidStream);
                return Ended::Said(Verdict::STREAM_BROKEN);
            }
        }
    }

    /// The request arrives; the reply is brought back up to `end` bytes of its body.
    async fn whole(&self, sending: &Sending, back: Duration, end: usize) -> Verdict {
        let Some((status, headers, body)) = self.serve(sending).await else {
            return judge(sending, Received::Nothing { timed_out: false });
        };
        tokio::time::sleep(back).await;
        if body.len() > end {
            self.struck(Fault::MidBody);
        }
        if body.len() > end || self.outage.get() {
            return judge(sending, Received::Nothing { timed_out: false });
        }
        judge(sending, Received::Reply(reply(status, &headers, &body)))
    }

    /// The body of a simple read, in the same weather but for the single faults.
    pub(crate) async fn get(&self, path: &str) -> Option<Vec<u8>> {
        self.known(request(path, None, 0)).await
    }

    /// Submits an ask as a program would, in the same weather but for the single faults. Nothing: it
    /// was refused, or nobody knows.
    pub(crate) async fn post(&self, ask: &AskBody) -> Option<Outcome> {
        let body = serde_json::to_string(ask).ok()?;
        serde_json::from_slice(&self.known(request("/api/v1/ask", Some(body), 0)).await?).ok()
    }

    /// The body of a reply that is no refusal.
    async fn known(&self, request: Request<Body>) -> Option<Vec<u8>> {
        tokio::time::sleep(self.chance.millis(5, 60)).await;
        if self.outage.get() {
            return None;
        }
        let (status, _, body) = self.call(request).await?;
        matches!(status, 200 | 202).then_some(body)
    }

    /// The server's reply, or nothing while it is down or if it goes down meanwhile.
    async fn serve(&self, sending: &Sending) -> Option<Whole> {
        self.call(written(sending, false)).await
    }

    async fn call(&self, request: Request<Body>) -> Option<Whole> {
        let mut server = self.server.subscribe();
        let router = server.borrow_and_update().clone()?;
        tokio::select! {
            biased;
            _ = server.changed() => None,
            reply = send(router, request) => reply,
        }
    }
}

fn reply<'a>(status: u16, headers: &'a HeaderMap, body: &'a [u8]) -> Reply<'a> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    Reply {
        status,
        content_type: text(header::CONTENT_TYPE),
        retry_after: text(header::RETRY_AFTER),
        date: text(header::DATE),
        body,
    }
}

fn judge(sending: &Sending, received: Received<'_>) -> Verdict {
    classify(sending.request_id, sending.conversation_id, sending.kind, received)
}

fn foreign(sending: &Sending, status: u16, content_type: &str, body: &str) -> Verdict {
    let reply = Reply {
        status,
        content_type: Some(content_type),
        retry_after: None,
        date: None,
        body: body.as_bytes(),
    };
    judge(sending, Received::Reply(reply))
}

/// The request as the page would write it: a lookup in place of a stream, unless it is the stream.
fn written(sending: &Sending, is_stream: bool) -> Request<Body> {
    let (id, conversation) = (sending.request_id, sending.conversation_id);
    let (path, body) = match sending.kind {
        Exchange::Ask | Exchange::Resubmission => {
            ("/api/v1/ask".to_owned(), serde_json::to_string(&sending.ask).ok())
        }
        Exchange::Lookup | Exchange::Events => {
            let below = if is_stream { "/events" } else { "" };
            let after = sending.after;
            let query = format!("conversation_id={conversation}&after={after}");
            (format!("/api/v1/requests/{id}{below}?{query}"), None)
        }
        Exchange::Cancel => {
            (format!("/api/v1/requests/{id}/cancel"), serde_json::to_string(&sending.cancel).ok())
        }
    };
    request(&path, body, sending.wait)
}
