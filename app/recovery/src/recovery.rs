//! The machine: its state, the way in for events, and the ways out for effects.

use std::collections::BTreeMap;

use holdfast_protocol::reply::Exchange;
use holdfast_protocol::{CancelBody, ConversationId, Owner, RecoveryPolicy, RequestId};
use serde_json::Value;

use crate::ask::{Ask, Flight, Origin, Phase};
use crate::backoff::Jitter;
use crate::session::SessionState;
use crate::{
    Effect, Event, ExchangeId, Millis, Pointer, Pointers, Returned, Sending, TimerId, Trouble,
};

/// How long a submission or a cancel may be without a reply.
const SUBMIT_DEADLINE: Millis = 30_000;
/// How long a lookup may be without a reply beyond what it lets the server wait.
const LOOKUP_DEADLINE: Millis = 10_000;
/// How long a stream may be silent. The server says that it is there every 3 s.
const STREAM_SILENCE: Millis = 10_000;

/// The browser's side of the promise.
#[derive(Debug)]
pub struct Recovery {
    /// By id; ids made later sort later, so this is the order they were asked in.
    pub(crate) asks: BTreeMap<RequestId, Ask>,
    /// Asks that are shown as they settled, and of which nothing else is kept.
    pub(crate) settled: Vec<RequestId>,
    /// Pointers of other principals, or of nobody known yet: only kept.
    pub(crate) kept: Vec<Pointer>,
    /// Other tabs' asks, until it is known whose session this is.
    pub(crate) mirrored: Vec<Pointer>,
    pub(crate) unreadable: Vec<Value>,
    pub(crate) session: SessionState,
    pub(crate) remembered: Option<Owner>,
    pub(crate) policy: RecoveryPolicy,
    /// When something between page and server was last seen to hold back a stream.
    pub(crate) buffering: Option<Millis>,
    /// Streams are refused here.
    pub(crate) without_streams: bool,
    /// Streams in a row that never said anything.
    pub(crate) mute: u32,
    pub(crate) visible: bool,
    pub(crate) online: bool,
    pub(crate) viewing: Option<ConversationId>,
    pub(crate) jitter: Jitter,
    pub(crate) last_exchange: ExchangeId,
    pub(crate) now: Millis,
    pub(crate) effects: Vec<Effect>,
}

impl Recovery {
    /// A machine that has heard of nothing yet; `seed` spreads its pauses.
    pub fn new(seed: u64) -> Self {
        Self {
            asks: BTreeMap::new(),
            settled: Vec::new(),
            kept: Vec::new(),
            mirrored: Vec::new(),
            unreadable: Vec::new(),
            session: SessionState::default(),
            remembered: None,
            policy: RecoveryPolicy::default(),
            buffering: None,
            without_streams: false,
            mute: 0,
            visible: true,
            online: true,
            viewing: None,
            jitter: Jitter::new(seed),
            last_exchange: 0,
            now: 0,
            effects: Vec::new(),
        }
    }

    /// Takes what happened at `now`; returns what to do, in order.
    pub fn handle(&mut self, now: Millis, event: Event) -> Vec<Effect> {
        self.now = now;
        match event {
            Event::Started(start) => self.started(start),
            Event::Session(exchange, reply) => self.session_received(exchange, reply),
            Event::Submitted(body) => self.submitted(body),
            Event::Received { exchange, verdict } => self.received(exchange, verdict),
            Event::Followed { exchange, followed } => self.followed(exchange, followed),
            Event::Buffered(exchange) => self.buffered(exchange),
            Event::Timer(TimerId::Ask(request_id, timer)) => self.timer(request_id, timer),
            Event::Timer(TimerId::Session(timer)) => self.session_timer(timer),
            Event::Nudged(nudge) => self.nudged(nudge),
            Event::WentOffline => self.online = false,
            Event::Hidden => self.visible = false,
            Event::Viewing(conversation) => self.viewing = conversation,
            Event::Seen(outcome) => self.seen(outcome),
            Event::Stopped(request_id) => self.stopped(request_id),
            Event::CheckedAgain(request_id) => self.checked_again(request_id),
            Event::TakenBack(request_id) => self.taken_back(request_id),
            Event::Discarded(request_id) => self.discarded(request_id),
            Event::Deleted(conversation_id) => self.deleted(conversation_id),
        }
        self.follow();
        std::mem::take(&mut self.effects)
    }

    pub(crate) fn next_exchange(&mut self) -> ExchangeId {
        self.last_exchange += 1;
        self.last_exchange
    }

    /// Has the driver keep what must be kept now.
    pub(crate) fn store(&mut self) {
        let own = self.asks.values().filter_map(|ask| {
            // Another tab's ask is that tab's to point at, until this one cancels it.
            let ours = ask.origin != Origin::Mirrored || ask.stopping;
            ask.pointer.clone().filter(|_| ours)
        });
        let readable = own.chain(self.kept.iter().cloned()).collect();
        self.effects
            .push(Effect::Store(Pointers { readable, unreadable: self.unreadable.clone() }));
    }

    pub(crate) fn show(&mut self, request_id: RequestId) {
        let Some(ask) = self.asks.get(&request_id) else { return };
        // Another tab's ask is nobody's business here, unless the journal has it or has not.
        let elsewhere = ask.origin == Origin::Mirrored
            && !ask.accepted
            && !matches!(ask.phase, Phase::Offered | Phase::Cancelling);
        if !elsewhere {
            self.effects.push(Effect::Show(Box::new(ask.turn())));
        }
    }

    /// Sends something about an ask, in place of whatever was under way or would have been sent.
    pub(crate) fn send(&mut self, request_id: RequestId, kind: Exchange, wait: u32, free: bool) {
        self.quiet(request_id);
        let exchange = self.next_exchange();
        let now = self.now;
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        let mark = ask.progress();
        if kind == Exchange::Events {
            // Every stream tells it from its beginning.
            ask.thought = 0;
        }
        ask.flight = Some(Flight { exchange, kind, since: now, wait, free, mark });
        ask.next_attempt = None;
        let submits = matches!(kind, Exchange::Ask | Exchange::Resubmission);
        let body = ask.pointer.as_ref().map(|pointer| pointer.ask.clone());
        let sending = Sending {
            exchange,
            kind,
            request_id,
            conversation_id: ask.conversation_id,
            ask: body.clone().filter(|_| submits).map(Box::new),
            cancel: (kind == Exchange::Cancel).then(|| {
                // A stopped question is kept with its turn; one that is taken back leaves no turn.
                let ask_body = body.filter(|_| !ask.accepted && ask.parting.is_none());
                Box::new(CancelBody { conversation_id: ask.conversation_id, ask: ask_body })
            }),
            wait,
            after: ask.shown.held(),
            deadline: match kind {
                Exchange::Lookup => LOOKUP_DEADLINE + Millis::from(wait) * 1_000,
                Exchange::Events => STREAM_SILENCE,
                Exchange::Ask | Exchange::Resubmission | Exchange::Cancel => SUBMIT_DEADLINE,
            },
        };
        self.effects.push(Effect::Send(sending));
    }

    /// The ask that an exchange under way is about.
    pub(crate) fn flying(&self, exchange: ExchangeId) -> Option<(RequestId, Flight)> {
        self.asks.values().find_map(|ask| {
            let flight = ask.flight.filter(|flight| flight.exchange == exchange)?;
            Some((ask.request_id, flight))
        })
    }

    /// Ends what is under way about an ask, and makes its timer void.
    pub(crate) fn quiet(&mut self, request_id: RequestId) {
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.timer += 1;
        ask.sleeping = false;
        ask.patient = false;
        if let Some(flight) = ask.flight.take() {
            self.effects.push(Effect::Abort(flight.exchange));
        }
    }

    /// Sends `next` after a pause, in place of whatever was under way.
    pub(crate) fn pause(&mut self, request_id: RequestId, next: Exchange, millis: Millis) {
        self.quiet(request_id);
        let now = self.now;
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.sleeping = true;
        ask.patient = true;
        ask.next = next;
        ask.next_attempt = ask.trouble.as_ref().map(|_| now.saturating_add(millis));
        let timer = TimerId::Ask(request_id, ask.timer);
        self.effects.push(Effect::Sleep { timer, millis });
    }

    /// Stops expecting anything by itself, and says what is the matter.
    pub(crate) fn rest(&mut self, request_id: RequestId, phase: Phase, trouble: Option<Trouble>) {
        self.quiet(request_id);
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.phase = phase;
        ask.trouble = trouble;
        ask.next_attempt = None;
        self.show(request_id);
    }

    /// Drops the pointer and its mirror: the ask is settled, refused or given back.
    pub(crate) fn drop_pointer(&mut self, request_id: RequestId) {
        self.unmirror(request_id);
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        if ask.pointer.take().is_some() {
            self.store();
        }
    }

    pub(crate) fn unmirror(&mut self, request_id: RequestId) {
        if let Some(ask) = self.asks.get_mut(&request_id)
            && std::mem::take(&mut ask.mirrored)
        {
            self.effects.push(Effect::Unmirror(request_id));
        }
    }

    /// Gives the question back and forgets the ask, in this order.
    pub(crate) fn give_back(&mut self, request_id: RequestId, why: Returned) {
        if let Some(ask) = self.asks.get(&request_id) {
            let (conversation_id, question) = (ask.conversation_id, ask.question.clone());
            self.effects.push(Effect::Return { request_id, conversation_id, question, why });
        }
        self.forget(request_id);
    }

    /// Takes the ask off the screen and out of memory.
    pub(crate) fn forget(&mut self, request_id: RequestId) {
        self.quiet(request_id);
        self.drop_pointer(request_id);
        self.effects.push(Effect::Hide(request_id));
        self.asks.remove(&request_id);
    }
}
