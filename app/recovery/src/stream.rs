//! What a stream brings, and what its end means.
//!
//! Only the outcome ends a turn. Any other end leaves the outcome unknown, so the ask is looked up, which
//! says too where the next stream is to go on. Not here: when there is a stream.

use holdfast_protocol::following::Followed;
use holdfast_protocol::reply::Exchange;
use holdfast_protocol::{Outcome, RequestId};

use crate::ask::{Flight, take_reasoning};
use crate::follow::POLL_IN_VIEW;
use crate::text::Taken;
use crate::{Effect, ExchangeId, Millis};

/// For how long it is remembered that streams are held back.
const BUFFERING: Millis = 60 * 60 * 1_000;
/// A stream that gave up its silence by then never said anything.
const MUTE: Millis = 11_000;
/// So many of them in a row are held back, head and all.
const MUTES: u32 = 2;

impl super::Recovery {
    /// Whether streams pass, as far as is known.
    pub(crate) fn may_stream(&self) -> bool {
        let is_past = |seen: Millis| self.now.abs_diff(seen) >= BUFFERING;
        !self.without_streams && self.mute < MUTES && self.buffering.is_none_or(is_past)
    }

    pub(crate) fn followed(&mut self, exchange: ExchangeId, followed: Followed) {
        let Some((request_id, flight)) = self.flying(exchange) else { return };
        self.mute = 0;
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        let joins = match followed {
            Followed::Delta { offset, text } => ask.shown.join(offset, &text),
            Followed::Reasoning { text } => {
                let joins = ask.reasoning.join(ask.thought, &text);
                ask.thought += text.len() as u64;
                joins
            }
            Followed::State(outcome) => {
                let joins =
                    ask.is_of(&outcome) && !outcome.status.is_settled() && !outcome.is_unknown();
                if joins {
                    ask.know(outcome, Taken::Whole);
                }
                joins
            }
            Followed::Outcome(outcome) if ask.is_of(&outcome) && outcome.status.is_settled() => {
                return self.end_of_stream(request_id, outcome);
            }
            Followed::Outcome(_) => false,
        };
        if joins {
            ask.failures = 0;
            self.show(request_id);
        } else {
            self.stream_ended(request_id, flight, false);
        }
    }

    /// The one end there is. What is missing of the text is looked up.
    fn end_of_stream(&mut self, request_id: RequestId, mut outcome: Box<Outcome>) {
        self.quiet(request_id);
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        let bytes = outcome.answer.as_ref().map_or(0, |answer| answer.bytes);
        let is_whole = ask.shown.end(bytes, outcome.status);
        take_reasoning(&mut ask.reasoning, &mut outcome);
        ask.know(outcome, if is_whole { Taken::Whole } else { Taken::Part });
        self.stands(request_id, false, true);
    }

    /// Any other end. The lookup follows at once, but for streams that end one like the other before
    /// they have brought anything to speak of.
    pub(crate) fn stream_ended(&mut self, request_id: RequestId, flight: Flight, replied: bool) {
        let lasted = self.now.saturating_sub(flight.since);
        let Some(ask) = self.asks.get_mut(&request_id) else { return };
        ask.troubled |= !replied;
        let stumbled = lasted < POLL_IN_VIEW || ask.progress() == flight.mark;
        ask.stumbles = if stumbled { ask.stumbles + 1 } else { 0 };
        if ask.stumbles > 1 {
            self.pause(request_id, Exchange::Lookup, POLL_IN_VIEW);
        } else {
            self.send(request_id, Exchange::Lookup, 0, false);
        }
    }

    /// Somebody in between holds streams back, and will go on to.
    pub(crate) fn buffered(&mut self, exchange: ExchangeId) {
        let Some((request_id, _)) = self.flying(exchange) else { return };
        self.buffering = Some(self.now);
        self.effects.push(Effect::RememberBuffering(self.now));
        self.send(request_id, Exchange::Lookup, 0, false);
    }

    /// Where not even the head comes, while lookups pass, the stream is held back as well; or the line
    /// was dead each time, so that is not kept for long.
    pub(crate) fn count_mute(&mut self, flight: Flight, timed_out: bool) {
        if timed_out && self.now.saturating_sub(flight.since) <= MUTE {
            self.mute += 1;
        }
    }
}
