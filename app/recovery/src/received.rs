//! What a reply changes.

use holdfast_protocol::reply::{Exchange, Verdict, WAIT_MOST};
use holdfast_protocol::{Code, Outcome, RequestId, Status};

use crate::ask::{Ask, Flight, Parting, Phase};
use crate::rules::{Unheard, unheard};
use crate::text::Taken;
use crate::{Announcement, Effect, ExchangeId, Notice, Returned, Trouble};

impl super::Recovery {
    pub(crate) fn received(&mut self, exchange: ExchangeId, verdict: Verdict) {
        // A reply to an exchange that was given up is late, not wrong: but what it could tell is
        // being asked again already.
        let Some((request_id, flight)) = self.flying(exchange) else { return };
        if let Some(ask) = self.asks.get_mut(&request_id) {
            ask.flight = None;
        }
        match verdict {
            Verdict::Outcome(outcome) => {
                self.nudge_session();
                self.outcome(request_id, flight, outcome);
            }
            // The lookup says what is refused: the ask, or but the stream, as by an older server.
            Verdict::Refused { .. } if flight.kind == Exchange::Events => {
                self.without_streams = true;
                self.send(request_id, Exchange::Lookup, 0, false);
            }
            Verdict::Refused { code, detail } => {
                self.refused(request_id, flight.kind, code, detail);
            }
            Verdict::SignIn { .. } => {
                self.session.owner = None;
                self.rest(request_id, Phase::Held, Some(Trouble::SignIn));
                self.effects.push(Effect::Notice(Notice::SignInRequired));
            }
            Verdict::Gone { detail } => {
                self.drop_pointer(request_id);
                self.rest(request_id, Phase::Refused, Some(Trouble::Refused(detail)));
            }
            Verdict::Retried(other) => self.retried(request_id, other),
            Verdict::Wait { after, code, detail } => {
                self.wait(request_id, flight, after, code, detail);
            }
            Verdict::Unknown { timed_out, replied } if flight.kind == Exchange::Events => {
                self.count_mute(flight, timed_out);
                self.stream_ended(request_id, flight, replied);
            }
            Verdict::Unknown { timed_out, replied } => {
                if let Some(ask) = self.asks.get_mut(&request_id)
                    && timed_out
                {
                    ask.halve_wait();
                }
                self.unknown(request_id, flight, replied);
            }
        }
    }

    fn outcome(&mut self, request_id: RequestId, flight: Flight, outcome: Box<Outcome>) {
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.failures = 0;
        if outcome.is_unknown() {
            ask.waits = 0;
            self.unheard_first(request_id);
            return;
        }
        if flight.kind == Exchange::Cancel {
            // Acknowledged: whatever it is now, there is nothing left to cancel.
            ask.stopping = false;
            if let Some(pointer) = &mut ask.pointer {
                pointer.cancel = false;
            }
        }
        let by_lookup = !matches!(flight.kind, Exchange::Ask | Exchange::Cancel);
        match self.learned(request_id, outcome, by_lookup) {
            // There is more text, it said, and sent none of it.
            Taken::Stuck => return self.unknown(request_id, flight, true),
            Taken::Whole => self.pace(request_id, flight),
            Taken::Part => {}
        }
        if let Some(ask) = self.asks.get_mut(&request_id) {
            ask.waits = 0;
        }
    }

    /// The journal knows the ask: shows it, and follows it or is done with it.
    fn learned(&mut self, request_id: RequestId, outcome: Box<Outcome>, by_lookup: bool) -> Taken {
        let Some(ask) = self.asks.get_mut(&request_id) else { return Taken::Whole };
        let was_lost = ask.is_lost();
        let taken = ask.learn(outcome);
        self.stands(request_id, was_lost, by_lookup);
        taken
    }

    /// Where an ask stands by what has just been learned of it.
    pub(crate) fn stands(&mut self, request_id: RequestId, was_lost: bool, by_lookup: bool) {
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        let status = ask.status().unwrap_or(Status::Pending);
        if !status.is_settled() {
            ask.phase = Phase::Following;
            self.unmirror(request_id);
            self.show(request_id);
            if was_lost {
                self.effects.push(Effect::Announce(Announcement::StillWorking));
            }
            return;
        }
        // Now it is sure that it will not run behind the person's back; or that it has.
        match ask.parting.take().filter(|_| status == Status::Cancelled) {
            Some(Parting::TakeBack) => return self.give_back(request_id, Returned::TakenBack),
            Some(Parting::Discard) => return self.forget(request_id),
            None => {}
        }
        ask.phase = Phase::Settled;
        ask.stopping = false;
        ask.recovered = ask.troubled && by_lookup;
        let recovered = ask.recovered;
        // Whatever else was under way has nothing more to say.
        self.quiet(request_id);
        // On the screen first, out of storage after.
        self.show(request_id);
        self.drop_pointer(request_id);
        self.effects.push(Effect::Announce(match status {
            Status::Cancelled => Announcement::Stopped,
            Status::Failed | Status::Interrupted => Announcement::Failed,
            Status::Completed | Status::Pending if recovered => Announcement::Recovered,
            Status::Completed | Status::Pending => Announcement::Completed,
        }));
    }

    /// An outcome that came with a conversation rather than with a reply.
    pub(crate) fn seen(&mut self, outcome: Box<Outcome>) {
        let request_id = outcome.request_id;
        let is_pending = !outcome.status.is_settled();
        match self.asks.get_mut(&request_id) {
            // What was loaded before an ask settled says less than what is known; nor does it say more
            // of one that is followed. One that was refused is only what one reply made of it: the
            // journal knows better.
            Some(Ask { phase: Phase::Settled | Phase::Following, .. }) if is_pending => {
                self.show(request_id);
            }
            Some(ask) if ask.phase == Phase::Settled || (is_pending && ask.stopping) => {
                ask.learn(outcome);
                self.show(request_id);
            }
            Some(_) => drop(self.learned(request_id, outcome, true)),
            None if !is_pending => {
                if !self.settled.contains(&request_id) {
                    self.settled.push(request_id);
                }
                self.effects.push(Effect::Show(Box::new(crate::Turn::of_outcome(*outcome))));
            }
            None => {
                let attempts = self.policy.startup_attempts;
                let ask = Ask::of_ids(request_id, outcome.conversation_id, attempts);
                self.asks.insert(request_id, ask);
                self.learned(request_id, outcome, true);
            }
        }
    }

    /// Nothing is sent again before a fresh session has said that this is still the archive the ask
    /// was made for: it may have been restored from a backup in between.
    fn unheard_first(&mut self, request_id: RequestId) {
        self.await_session(request_id);
    }

    /// Decides about an ask the journal of this session has never heard of.
    pub(crate) fn unheard(&mut self, request_id: RequestId) {
        let (Some(ask), Some(owner)) = (self.asks.get(&request_id), &self.session.owner) else {
            return;
        };
        match unheard(self.now, ask, owner, self.policy.resubmissions) {
            Unheard::Resubmit => {
                let before = ask.resubmissions;
                if before == 0 {
                    self.resubmit(request_id);
                } else {
                    let millis = self.jitter.pause(before);
                    if let Some(ask) = self.asks.get_mut(&request_id) {
                        ask.resubmissions += 1;
                        ask.phase = Phase::Sending;
                    }
                    self.pause(request_id, Exchange::Resubmission, millis);
                    self.show(request_id);
                }
            }
            Unheard::LookAgain(millis) => {
                if let Some(ask) = self.asks.get_mut(&request_id) {
                    ask.phase = Phase::Checking;
                }
                self.pause(request_id, Exchange::Lookup, millis);
            }
            Unheard::Offer(trouble) => self.rest(request_id, Phase::Offered, Some(trouble)),
            Unheard::Expire => self.give_back(request_id, Returned::Expired),
        }
    }

    /// Submits the very same body once more.
    pub(crate) fn resubmit(&mut self, request_id: RequestId) {
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.resubmissions += 1;
        ask.phase = Phase::Sending;
        ask.trouble = None;
        self.send(request_id, Exchange::Resubmission, 0, false);
        self.show(request_id);
    }

    fn refused(&mut self, request_id: RequestId, kind: Exchange, code: Code, detail: String) {
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        let (conversation_id, question) = (ask.conversation_id, ask.question.clone());
        if kind == Exchange::Cancel {
            // It cannot be cancelled, so it is not: what became of it is still to be found out.
            ask.stopping = false;
            ask.parting = None;
            if let Some(pointer) = &mut ask.pointer {
                pointer.cancel = false;
            }
            self.store();
            self.begin(request_id, Exchange::Lookup);
            return;
        }
        let accepted = ask.accepted;
        self.rest(request_id, Phase::Refused, Some(Trouble::Refused(detail.clone())));
        self.drop_pointer(request_id);
        if !accepted {
            let why = Returned::Refused { code, detail };
            self.effects.push(Effect::Return { request_id, conversation_id, question, why });
        }
        self.effects.push(Effect::Announce(Announcement::Failed));
    }

    fn retried(&mut self, request_id: RequestId, other: RequestId) {
        let Some(ask) = self.asks.get(&request_id) else { return };
        let (conversation_id, question) = (ask.conversation_id, ask.question.clone());
        self.forget(request_id);
        if !self.asks.contains_key(&other) && !self.settled.contains(&other) {
            let mut ask = Ask::of_ids(other, conversation_id, self.policy.submit_attempts);
            ask.question = question;
            self.asks.insert(other, ask);
            self.begin(other, Exchange::Lookup);
        }
    }

    fn wait(
        &mut self,
        request_id: RequestId,
        flight: Flight,
        after: std::time::Duration,
        code: Option<Code>,
        detail: String,
    ) {
        let most = self.policy.submit_attempts;
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.waits += 1;
        if code.is_none() && matches!(flight.kind, Exchange::Lookup | Exchange::Events) {
            ask.failures += 1;
        }
        ask.next = match flight.kind {
            Exchange::Ask => Exchange::Resubmission,
            Exchange::Events => Exchange::Lookup,
            kind => kind,
        };
        if after > WAIT_MOST {
            self.rest(request_id, Phase::Held, Some(Trouble::LongWait(after)));
            return;
        }
        if ask.waits > most || ask.failures >= ask.attempts {
            self.give_up(request_id);
            return;
        }
        ask.trouble = Some(Trouble::Waiting(detail));
        let next = ask.next;
        let millis = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        // A little more than was asked for, so that many pages do not come back at once.
        let spread = self.jitter.between(0, millis / 10);
        self.pause(request_id, next, millis + spread);
        self.show(request_id);
    }

    fn unknown(&mut self, request_id: RequestId, flight: Flight, replied: bool) {
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        let was_well = ask.trouble != Some(Trouble::Checking);
        ask.troubled = true;
        ask.trouble = Some(Trouble::Checking);
        if was_well {
            self.effects.push(Effect::Announce(Announcement::ConnectionLost));
        }
        match flight.kind {
            Exchange::Ask | Exchange::Resubmission => {
                self.begin(request_id, Exchange::Lookup);
            }
            Exchange::Lookup | Exchange::Events | Exchange::Cancel => {
                self.missed(request_id, flight, replied);
            }
        }
    }

    /// A lookup or a cancel brought nothing: once more after a pause, while attempts are left. What
    /// Holdfast itself replied costs no attempt, but it is not waited for without end either.
    fn missed(&mut self, request_id: RequestId, flight: Flight, replied: bool) {
        let most = self.policy.submit_attempts;
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        if ask.phase == Phase::Following {
            ask.phase = Phase::Checking;
        }
        if replied {
            ask.waits += 1;
        } else if !flight.free {
            ask.failures += 1;
        }
        let spent = ask.failures >= ask.attempts || ask.waits > most;
        if spent || ask.phase == Phase::Unreachable {
            self.give_up(request_id);
            return;
        }
        let millis = self.jitter.pause(ask.failures.max(ask.waits).max(1));
        self.pause(request_id, flight.kind, millis);
        self.show(request_id);
    }

    /// Attempts are spent: a person, or an event, gets it on.
    fn give_up(&mut self, request_id: RequestId) {
        let is_news = self.asks.get(&request_id).is_some_and(|ask| ask.phase != Phase::Unreachable);
        self.rest(request_id, Phase::Unreachable, Some(Trouble::Unreachable));
        if is_news {
            self.effects.push(Effect::Announce(Announcement::Unreachable));
        }
    }
}
