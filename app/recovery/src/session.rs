//! Whose session it is, and therefore whose pointers are taken up.
//!
//! A pointer of another principal is never looked up, sent or shown; it is only kept, seven days at
//! the most. Until there has been a session in this life of the page, the one remembered from the life
//! before decides what may be shown and looked up; sending waits for the session itself.

use holdfast_protocol::reply::Exchange;
use holdfast_protocol::{Owner, RequestId};

use crate::ask::{Ask, Origin, Phase};
use crate::rules::is_expired;
use crate::{Effect, ExchangeId, Millis, Notice, Pointer, SessionReply, Start, TimerId, Trouble};

const DEADLINE: Millis = 15_000;

/// What is known of the session.
#[derive(Debug, Default)]
pub(crate) struct SessionState {
    /// Who is signed in, by the last reply.
    pub(crate) owner: Option<Owner>,
    under_way: Option<ExchangeId>,
    timer: u64,
    sleeping: bool,
    failures: u32,
    /// The person was told that the server cannot be reached.
    told: bool,
}

impl super::Recovery {
    pub(crate) fn started(&mut self, start: Start) {
        self.visible = start.visible;
        self.online = start.online;
        self.remembered = start.remembered;
        self.buffering = start.buffering;
        self.unreadable = start.pointers.unreadable;
        self.kept = start.pointers.readable;
        let held = |pointer: &Pointer| self.kept.iter().any(|k| k.request_id == pointer.request_id);
        self.mirrored = start.mirrored.into_iter().filter(|pointer| !held(pointer)).collect();
        self.take_up();
        self.fetch_session();
    }

    fn principal(&self) -> Option<&str> {
        self.session.owner.as_ref().or(self.remembered.as_ref()).map(Owner::principal)
    }

    /// Takes up the kept pointers that are this principal's.
    fn take_up(&mut self) {
        let Some(principal) = self.principal().map(str::to_owned) else { return };
        let is_own = |pointer: &Pointer| {
            pointer.owner.as_ref().is_none_or(|owner| owner.principal() == principal)
        };
        let (own, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.kept).into_iter().partition(is_own);
        self.kept = others;
        for pointer in own {
            self.check(pointer, Origin::Restored);
        }
    }

    fn check(&mut self, pointer: Pointer, origin: Origin) {
        let request_id = pointer.request_id;
        if self.asks.contains_key(&request_id) {
            return;
        }
        let ask = Ask::of_pointer(pointer, origin, self.policy.startup_attempts);
        self.asks.insert(request_id, ask);
        self.begin(request_id, self.errand(request_id));
    }

    /// What is to be sent when nothing else is said. A cancel may carry the question, so it waits
    /// until it is known whose session this is.
    pub(crate) fn errand(&self, request_id: RequestId) -> Exchange {
        let stopping = self.asks.get(&request_id).is_some_and(|ask| ask.stopping);
        if stopping && self.session.owner.is_some() { Exchange::Cancel } else { Exchange::Lookup }
    }

    /// Begins to look up or to cancel, with the trouble shown beside the question.
    pub(crate) fn begin(&mut self, request_id: RequestId, errand: Exchange) {
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.phase = if errand == Exchange::Cancel { Phase::Cancelling } else { Phase::Checking };
        ask.trouble = Some(Trouble::Checking);
        self.send(request_id, errand, 0, false);
        self.show(request_id);
    }

    /// Asks for the session unless that is under way.
    pub(crate) fn fetch_session(&mut self) {
        if self.session.under_way.is_some() {
            return;
        }
        self.session.timer += 1;
        self.session.sleeping = false;
        let exchange = self.next_exchange();
        self.session.under_way = Some(exchange);
        self.effects.push(Effect::FetchSession { exchange, deadline: DEADLINE });
    }

    pub(crate) fn session_timer(&mut self, timer: u64) {
        if self.session.sleeping && self.session.timer == timer {
            self.fetch_session();
        }
    }

    /// An event suggests that the line is back: ask at once if there is something to learn.
    pub(crate) fn nudge_session(&mut self) {
        let wanted = self.session.owner.is_none()
            || self.asks.values().any(|ask| ask.phase == Phase::AwaitingSession);
        if wanted {
            self.fetch_session();
        }
    }

    /// What comes next hangs on a session reply to a request that has not been sent yet.
    pub(crate) fn await_session(&mut self, request_id: RequestId) {
        let asked = self.last_exchange;
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.phase = Phase::AwaitingSession;
        ask.trouble = Some(Trouble::Checking);
        ask.session_after = asked;
        self.show(request_id);
        self.retry_session();
    }

    /// A person asks: count anew.
    pub(crate) fn retry_session(&mut self) {
        self.session.failures = 0;
        self.fetch_session();
    }

    pub(crate) fn session_received(&mut self, exchange: ExchangeId, reply: SessionReply) {
        if self.session.under_way != Some(exchange) {
            return;
        }
        self.session.under_way = None;
        match reply {
            SessionReply::SignedIn { owner, policy } => {
                self.session.failures = 0;
                self.policy = policy;
                for ask in self.asks.values_mut() {
                    ask.attempts = match ask.origin {
                        Origin::Here => policy.submit_attempts,
                        _ => policy.startup_attempts,
                    };
                }
                if std::mem::take(&mut self.session.told) {
                    self.effects.push(Effect::Notice(Notice::ServerReached));
                }
                self.signed_in(exchange, &owner);
            }
            SessionReply::SignedOut => {
                self.session.owner = None;
                self.effects.push(Effect::Notice(Notice::SignInRequired));
            }
            SessionReply::Nothing => self.session_missed(),
        }
    }

    fn signed_in(&mut self, exchange: ExchangeId, owner: &Owner) {
        if self.remembered.as_ref() != Some(owner) {
            self.effects.push(Effect::Remember(owner.clone()));
        }
        self.remembered = Some(owner.clone());
        self.session.owner = Some(owner.clone());
        self.set_aside(owner);
        self.take_up();
        self.take_up_mirrored(owner);
        let mut is_stale = false;
        let waiting: Vec<_> = self
            .asks
            .values()
            .map(|ask| (ask.request_id, ask.phase, ask.stopping, ask.session_after))
            .collect();
        for (request_id, phase, stopping, session_after) in waiting {
            match phase {
                Phase::Queued if self.online => self.submit(request_id),
                Phase::Settled | Phase::Refused | Phase::Queued | Phase::Cancelling => {}
                _ if stopping => self.begin(request_id, Exchange::Cancel),
                Phase::AwaitingSession if exchange > session_after => self.unheard(request_id),
                Phase::AwaitingSession => is_stale = true,
                Phase::Held if self.is_signing_in(request_id) => self.look(request_id, false),
                _ => {}
            }
        }
        if is_stale {
            self.fetch_session();
        }
    }

    fn is_signing_in(&self, request_id: RequestId) -> bool {
        self.asks.get(&request_id).is_some_and(|ask| ask.trouble == Some(Trouble::SignIn))
    }

    /// Puts away what belongs to another principal, and what nobody came back for.
    fn set_aside(&mut self, owner: &Owner) {
        let foreign: Vec<_> = self
            .asks
            .values()
            .filter(|ask| {
                let of = ask.pointer.as_ref().and_then(|pointer| pointer.owner.as_ref());
                of.is_some_and(|of| of.principal() != owner.principal())
            })
            .map(|ask| ask.request_id)
            .collect();
        for request_id in foreign {
            self.quiet(request_id);
            self.effects.push(Effect::Hide(request_id));
            if let Some(ask) = self.asks.remove(&request_id) {
                self.kept.extend(ask.pointer);
            }
        }
        let (now, before) = (self.now, self.kept.len());
        self.kept.retain(|pointer| {
            let own = pointer.owner.as_ref().is_none_or(|of| of.principal() == owner.principal());
            own || !is_expired(now, pointer.asked_at.millis())
        });
        if self.kept.len() != before {
            self.store();
        }
    }

    fn take_up_mirrored(&mut self, owner: &Owner) {
        for pointer in std::mem::take(&mut self.mirrored) {
            match &pointer.owner {
                Some(of) if of.principal() != owner.principal() => {}
                _ => self.check(pointer, Origin::Mirrored),
            }
        }
    }

    fn session_missed(&mut self) {
        self.session.failures += 1;
        if self.session.failures < self.policy.startup_attempts {
            let millis = self.jitter.pause(self.session.failures);
            self.session.sleeping = true;
            let timer = TimerId::Session(self.session.timer);
            self.effects.push(Effect::Sleep { timer, millis });
            return;
        }
        if !std::mem::replace(&mut self.session.told, true) {
            self.effects.push(Effect::Notice(Notice::ServerUnreachable));
        }
        let waiting: Vec<_> = self
            .asks
            .values()
            .filter(|ask| matches!(ask.phase, Phase::Queued | Phase::AwaitingSession))
            .map(|ask| ask.request_id)
            .collect();
        for request_id in waiting {
            if let Some(ask) = self.asks.get_mut(&request_id) {
                if ask.phase == Phase::AwaitingSession {
                    ask.phase = Phase::Unreachable;
                }
                ask.trouble = Some(Trouble::Unreachable);
            }
            self.show(request_id);
        }
    }
}
