//! What a person does: ask, stop, check again, take a question back, discard it, delete a conversation.

use holdfast_protocol::reply::Exchange;
use holdfast_protocol::{AskBody, ConversationId, Question, RequestId, Timestamp};

use crate::ask::{Ask, Origin, Parting, Phase};
use crate::{Announcement, Effect, Pointer, Returned, Trouble};

impl super::Recovery {
    /// The pointer is kept before anything leaves.
    pub(crate) fn submitted(&mut self, body: AskBody) {
        let request_id = body.request_id;
        if self.asks.contains_key(&request_id) {
            return;
        }
        let question = Question::parse(&body.question)
            .map_or_else(|_| body.question.clone(), Question::into_string);
        let pointer = Pointer {
            request_id,
            conversation_id: body.conversation_id,
            question,
            asked_at: Timestamp::from_millis(self.now),
            owner: self.session.owner.clone().or_else(|| self.remembered.clone()),
            ask: body,
            cancel: false,
        };
        self.effects.push(Effect::Mirror(Box::new(pointer.clone())));
        let ask = Ask::of_pointer(pointer, Origin::Here, self.policy.submit_attempts);
        self.asks.insert(request_id, ask);
        self.store();
        if self.online && self.session.owner.is_some() {
            self.submit(request_id);
        } else {
            self.show(request_id);
            self.nudge_session();
        }
    }

    /// Sends an ask for the first time.
    pub(crate) fn submit(&mut self, request_id: RequestId) {
        let owner = self.session.owner.clone();
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.phase = Phase::Sending;
        ask.trouble = None;
        // It has never been sent: it is the ask of whoever's session it is now.
        let moved = ask.pointer.as_mut().is_some_and(|pointer| {
            let moved = pointer.owner != owner;
            pointer.owner.clone_from(&owner);
            moved
        });
        if moved {
            self.store();
        }
        self.send(request_id, Exchange::Ask, 0, false);
        self.show(request_id);
        self.effects.push(Effect::Announce(Announcement::Sent));
    }

    pub(crate) fn stopped(&mut self, request_id: RequestId) {
        match self.asks.get(&request_id).map(|ask| ask.phase) {
            Some(Phase::Queued) => self.give_back(request_id, Returned::Withdrawn),
            None | Some(Phase::Settled | Phase::Refused | Phase::Offered) => {}
            Some(_) => self.cancel(request_id, None),
        }
    }

    /// Marks the pointer, frees the line, and cancels.
    fn cancel(&mut self, request_id: RequestId, parting: Option<Parting>) {
        self.end_long_exchange();
        let attempts = self.policy.submit_attempts;
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        if ask.stopping && ask.flight.is_some() {
            ask.parting = parting.or(ask.parting);
            return;
        }
        ask.stopping = true;
        ask.parting = parting;
        ask.phase = Phase::Cancelling;
        ask.trouble = None;
        ask.failures = 0;
        ask.waits = 0;
        ask.attempts = attempts;
        if let Some(pointer) = &mut ask.pointer {
            pointer.cancel = true;
        }
        self.store();
        if self.session.owner.is_some() {
            self.send(request_id, Exchange::Cancel, 0, false);
            self.show(request_id);
        } else {
            self.quiet(request_id);
            self.await_session(request_id);
        }
    }

    pub(crate) fn checked_again(&mut self, request_id: RequestId) {
        let attempts = self.policy.startup_attempts;
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.failures = 0;
        ask.waits = 0;
        ask.attempts = attempts;
        match ask.phase {
            Phase::Queued if self.session.owner.is_some() => self.submit(request_id),
            Phase::Queued => {
                // Whatever the browser says of the network, a person wants it tried.
                self.online = true;
                ask.trouble = None;
                self.show(request_id);
                self.retry_session();
            }
            // Told to wait for long, and a person says now: the ask itself, not a lookup.
            Phase::Held if ask.next == Exchange::Resubmission && !ask.stopping => {
                self.resubmit(request_id);
            }
            Phase::Settled | Phase::Refused => {}
            _ => self.look(request_id, false),
        }
    }

    /// Gives the question back, once it is sure that the ask will never run behind the person's
    /// back: the server is told to cancel it, even if it has never heard of it.
    pub(crate) fn taken_back(&mut self, request_id: RequestId) {
        match self.asks.get(&request_id) {
            Some(ask) if ask.phase == Phase::Queued => {
                self.give_back(request_id, Returned::TakenBack);
            }
            Some(ask) if ask.trouble == Some(Trouble::MayHaveBeenPaid) => {
                self.give_back(request_id, Returned::TakenBack);
            }
            Some(ask) if !ask.is_over() => self.cancel(request_id, Some(Parting::TakeBack)),
            _ => {}
        }
    }

    /// What arrived is gone with its conversation; what did not is refused when it does, and given back.
    pub(crate) fn deleted(&mut self, conversation_id: ConversationId) {
        let gone: Vec<_> = self
            .asks
            .values()
            .filter(|ask| ask.conversation_id == conversation_id && ask.accepted)
            .map(|ask| ask.request_id)
            .collect();
        for request_id in gone {
            self.forget(request_id);
        }
    }

    pub(crate) fn discarded(&mut self, request_id: RequestId) {
        match self.asks.get(&request_id) {
            Some(ask)
                if ask.phase == Phase::Queued || ask.trouble == Some(Trouble::MayHaveBeenPaid) =>
            {
                self.forget(request_id);
            }
            Some(ask) if ask.phase == Phase::Offered => {
                self.cancel(request_id, Some(Parting::Discard));
            }
            _ => {}
        }
    }
}
