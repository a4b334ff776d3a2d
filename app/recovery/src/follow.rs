//! Following pending asks, and looking at once when there is reason to.
//!
//! A tab has at most one long exchange, for the conversation in view, and none while it is hidden: a
//! stream, or where streams do not pass a lookup that waits. Every other pending ask is looked up now
//! and then with `wait=0`. Not here: what a stream brings.

use holdfast_protocol::reply::Exchange;
use holdfast_protocol::{Outcome, RequestId, State};

use crate::ask::{Flight, Phase};
use crate::{Effect, Millis, Nudge, TimerId, Trouble};

/// Between short lookups of a pending ask, while the page can be seen.
const POLL: Millis = 2_000;
/// The same for the ask in view, where another tab has the long exchange.
pub(crate) const POLL_IN_VIEW: Millis = 1_000;
/// The same while it cannot.
const POLL_HIDDEN: Millis = 15_000;
/// The long poll while text is growing, in seconds: each reply brings what has come so far.
const WAIT_GROWING: u32 = 1;
/// A stream that brings nothing for so long is held against a lookup: whoever keeps the line alive may
/// know nothing of the ask.
const RECONCILE: Millis = 25_000;
/// Signs of one return to the page (seen, shown, awake) come within this.
const TOGETHER: Millis = 500;

impl super::Recovery {
    /// Makes the one long exchange the right one, and keeps every followed ask looked after.
    pub(crate) fn follow(&mut self) {
        let focus = self.focus();
        for request_id in self.following(|ask| ask.flight.is_some_and(|flight| flight.is_long())) {
            if Some(request_id) != focus {
                self.quiet(request_id);
            }
        }
        for request_id in self.following(|ask| ask.flight.is_none() && !ask.patient) {
            if self.asks.get(&request_id).is_some_and(|ask| ask.is_short) {
                // The rest is there: no reason to wait for it.
                self.send(request_id, Exchange::Lookup, 0, false);
            } else if Some(request_id) == focus {
                self.look_long(request_id);
            } else if self.asks.get(&request_id).is_some_and(|ask| !ask.sleeping) {
                self.poll(request_id);
            }
        }
    }

    fn following(&self, which: impl Fn(&crate::ask::Ask) -> bool) -> Vec<RequestId> {
        self.asks
            .values()
            .filter(|ask| ask.phase == Phase::Following && which(ask))
            .map(|ask| ask.request_id)
            .collect()
    }

    /// The ask that deserves the long exchange: the first pending one of the conversation in view.
    fn focus(&self) -> Option<RequestId> {
        let viewing = self.viewing.filter(|_| self.visible)?;
        self.asks
            .values()
            .filter(|ask| ask.phase == Phase::Following && ask.conversation_id == viewing)
            .min_by_key(|ask| (ask.place(), ask.request_id))
            .map(|ask| ask.request_id)
    }

    fn look_long(&mut self, request_id: RequestId) {
        if self.may_stream() {
            self.send(request_id, Exchange::Events, 0, false);
            return self.reconcile_later(request_id);
        }
        let Some(ask) = self.asks.get(&request_id) else { return };
        let growing = ask.outcome.as_deref().is_some_and(may_grow);
        let wait = if growing { ask.long_wait().min(WAIT_GROWING) } else { ask.long_wait() };
        self.send(request_id, Exchange::Lookup, wait, false);
    }

    fn reconcile_later(&mut self, request_id: RequestId) {
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.sleeping = true;
        let timer = TimerId::Ask(request_id, ask.timer);
        self.effects.push(Effect::Sleep { timer, millis: RECONCILE });
    }

    /// A pause that an ask which comes into view need not sit out.
    fn poll(&mut self, request_id: RequestId) {
        let millis = if self.visible { POLL } else { POLL_HIDDEN };
        self.pause(request_id, Exchange::Events, millis);
        if let Some(ask) = self.asks.get_mut(&request_id) {
            ask.patient = false;
        }
    }

    /// A long lookup that came back early was cut short by somebody (the driver, for one, where
    /// another tab follows the ask), and so was a stream that was none: the next one waits a little.
    pub(crate) fn pace(&mut self, request_id: RequestId, flight: Flight) {
        let early = flight.kind == Exchange::Events
            || self.now.saturating_sub(flight.since) < Millis::from(flight.wait) * 500;
        let pending = self.asks.get(&request_id).is_some_and(|ask| ask.phase == Phase::Following);
        if early && pending {
            self.pause(request_id, Exchange::Events, POLL_IN_VIEW);
        }
    }

    pub(crate) fn timer(&mut self, request_id: RequestId, timer: u64) {
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        if !ask.sleeping || ask.timer != timer {
            return;
        }
        ask.sleeping = false;
        ask.patient = false;
        let progress = ask.progress();
        if let Some(flight) = &mut ask.flight {
            // Timers run beside streams only.
            return if std::mem::replace(&mut flight.mark, progress) == progress {
                self.look(request_id, true);
            } else {
                self.reconcile_later(request_id);
            };
        }
        let (phase, next, is_awaited) = (ask.phase, ask.next, ask.next_attempt.is_some());
        let next = match next {
            // Its turn to have the long exchange.
            Exchange::Events if phase == Phase::Following && self.focus() == Some(request_id) => {
                return;
            }
            Exchange::Events => Exchange::Lookup,
            next => next,
        };
        self.send(request_id, next, 0, false);
        if is_awaited {
            // Nobody should be told to wait for what is under way, or be offered what fits a pause.
            self.show(request_id);
        }
    }

    /// Looks up once at once whatever could use it; that costs no attempt.
    pub(crate) fn nudged(&mut self, nudge: Nudge) {
        match nudge {
            Nudge::Online => self.online = true,
            Nudge::Visible | Nudge::PageShow => self.visible = true,
            Nudge::Woke => {}
        }
        self.mute = 0;
        self.nudge_session();
        // After these a connection that looks open may be dead; becoming visible says nothing of it.
        let line_is_new = nudge != Nudge::Visible;
        let now = self.now;
        // Back at the page, what one sign of it began the next one need not begin anew. What was begun
        // while there was no network has no chance.
        let is_begun = |flight: &Flight| {
            nudge != Nudge::Online && flight.free && now.saturating_sub(flight.since) < TOGETHER
        };
        let asks: Vec<_> = self
            .asks
            .values()
            .filter(|ask| !ask.flight.as_ref().is_some_and(is_begun))
            .map(|ask| (ask.request_id, ask.phase, ask.flight.is_some()))
            .collect();
        for (request_id, phase, in_flight) in asks {
            match phase {
                Phase::Queued if self.online && self.session.owner.is_some() => {
                    self.submit(request_id);
                }
                Phase::Sending if in_flight && line_is_new => {
                    if let Some(ask) = self.asks.get_mut(&request_id) {
                        ask.troubled = true;
                    }
                    self.look(request_id, true);
                }
                Phase::Checking | Phase::Unreachable | Phase::Following | Phase::Cancelling
                    if (line_is_new || !in_flight) && !self.is_told_to_wait(request_id) =>
                {
                    self.look(request_id, true);
                }
                _ => {}
            }
        }
    }

    fn is_told_to_wait(&self, request_id: RequestId) -> bool {
        let ask = self.asks.get(&request_id);
        ask.is_some_and(|ask| matches!(ask.trouble, Some(Trouble::Waiting(_))))
    }

    /// Looks up now, or goes on cancelling. `free`: if it fails, that costs nothing.
    pub(crate) fn look(&mut self, request_id: RequestId, free: bool) {
        let errand = self.errand(request_id);
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.phase = match (ask.phase, errand) {
            (Phase::Unreachable, _) if free => Phase::Unreachable,
            (_, Exchange::Cancel) => Phase::Cancelling,
            (Phase::Following, _) => Phase::Following,
            _ => Phase::Checking,
        };
        if matches!(ask.phase, Phase::Checking | Phase::Cancelling) {
            ask.trouble = Some(Trouble::Checking);
        }
        self.send(request_id, errand, 0, free);
        self.show(request_id);
    }

    /// Stop goes first: it may be waiting for the connection that a long lookup holds.
    pub(crate) fn end_long_exchange(&mut self) {
        let long: Vec<_> = self
            .asks
            .values()
            .filter(|ask| ask.flight.is_some_and(|flight| flight.is_long()))
            .map(|ask| ask.request_id)
            .collect();
        for request_id in long {
            self.poll(request_id);
        }
    }
}

/// Whether the next reply may bring more text: not while others are before it, nor when all of it
/// is there.
fn may_grow(outcome: &Outcome) -> bool {
    outcome.queue.unwrap_or(0) == 0 && outcome.state != Some(State::Archiving)
}
