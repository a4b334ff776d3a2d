//! The line between page and server, and everything that can stand on it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use holdfast_protocol::reply::{Exchange, Received, Reply, Verdict, classify};
use holdfast_protocol::{AskBody, Outcome};
use holdfast_recovery::Sending;
use tokio::sync::watch;

use crate::http::{Whole, request, send};
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
            Some(Fault::MidBody) => whole(fate.end).await,
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
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let reply = Reply {
            status,
            content_type: text(header::CONTENT_TYPE),
            retry_after: text(header::RETRY_AFTER),
            date: text(header::DATE),
            body: &body,
        };
        judge(sending, Received::Reply(reply))
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
        self.call(written(sending)).await
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

/// The request as the page would write it.
fn written(sending: &Sending) -> Request<Body> {
    let (id, conversation) = (sending.request_id, sending.conversation_id);
    let (path, body) = match sending.kind {
        Exchange::Ask | Exchange::Resubmission => {
            ("/api/v1/ask".to_owned(), serde_json::to_string(&sending.ask).ok())
        }
        Exchange::Lookup => (format!("/api/v1/requests/{id}?conversation_id={conversation}"), None),
        Exchange::Cancel => {
            (format!("/api/v1/requests/{id}/cancel"), serde_json::to_string(&sending.cancel).ok())
        }
    };
    request(&path, body, sending.wait)
}
