//! Finding out what a claimed id is, and making it durable where it is new.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use holdfast_protocol::{RequestId, State};

use super::classify::{Verdict, verdict};
use super::end::End;
use super::line::Place;
use super::live::{Live, Stop};
use super::slots::Slot;
use super::{Cancellation, Phase, Refusal, Runs, Submission};
use crate::journal::{
    Accept, CancelledUnheard, JournalError, Key, Mark, PrincipalId, Record, Start,
};

/// How far towards its run an unsettled ask is.
pub(super) enum Standing {
    /// Accepted, no more.
    Waiting,
    /// Marked as calling, and still without a slot.
    Marked,
    /// Marked as calling, with a slot.
    Begun(Slot),
}

impl Runs {
    /// The task behind a submission: from its admission to its settlement.
    pub(super) async fn admit(self, live: Arc<Live>, submission: Submission) {
        let admission = AssertUnwindSafe(self.admission(submission)).catch_unwind().await;
        self.see_through(&live, admission.unwrap_or_else(|_| Err(panicked()))).await;
    }

    /// The task behind the cancel of an id that nobody has under way.
    pub(super) async fn cancel_unheard(self, live: Arc<Live>, cancellation: Cancellation) {
        let admission = AssertUnwindSafe(self.cancelled_unheard(cancellation)).catch_unwind().await;
        let admission = admission.unwrap_or_else(|_| Err(panicked()));
        self.see_through(&live, admission.map(|record| (record, Standing::Waiting))).await;
    }

    /// Publishes what an id turned out to be, and runs it to its end where it has none yet.
    pub(super) async fn see_through(
        &self,
        live: &Live,
        admission: Result<(Record, Standing), Refusal>,
    ) {
        // Also where something below panics: an id that nobody lets go of could never be asked again.
        let release = self.0.registry.release_at_last(live.key());
        let (record, standing) = match admission {
            Ok(admitted) => admitted,
            Err(refusal) => {
                // First, so that whoever hears of it can claim the id anew.
                drop(release);
                live.refuse(refusal);
                return;
            }
        };
        let place = self.publish(live, &record);
        self.run_out(live, &record, place, standing).await;
    }

    /// Lets everybody see an ask as the journal has it. An unsettled one stands in its line before
    /// anybody can ask how many are before it.
    pub(super) fn publish(&self, live: &Live, record: &Record) -> Option<Place> {
        let unsettled = (record.mark != Mark::Settled).then_some(record.outcome.seq).flatten();
        let place = unsettled.map(|seq| self.0.registry.lines.enter(record.conversation(), seq));
        if let Some(place) = &place {
            live.stand(place.position());
        }
        live.know(record.outcome.clone(), record.fingerprint, record.submissions);
        // It may have been deleted while it was being admitted.
        if self.is_deleted(record.conversation()) {
            live.stop(Stop::Cancel);
        }
        place
    }

    /// Runs an ask that was published to its end, if it has none yet.
    pub(super) async fn run_out(
        &self,
        live: &Live,
        record: &Record,
        place: Option<Place>,
        standing: Standing,
    ) {
        if record.mark == Mark::Settled {
            return;
        }
        let run = AssertUnwindSafe(self.conduct(live, record, place, standing));
        if run.catch_unwind().await.is_err() {
            // The panic hook has logged where. An ask must not be left running with nobody
            // running it.
            let provider = &self.0.provider;
            // Before its mark it cannot have called anybody.
            let has_begun = live.outcome().state == Some(State::Running);
            let called = has_begun && !provider.is_in_process();
            let provider = has_begun.then(|| provider.name().to_owned());
            self.settle(live, End::lost(provider, called)).await;
        }
    }

    async fn admission(&self, submission: Submission) -> Result<(Record, Standing), Refusal> {
        let journal = &self.0.journal;
        let principal = submission.key.principal;
        let known = journal.find(submission.key).await?;
        match &known {
            Some(known) if !known.lacks_question() => return self.taken_up(known.clone()).await,
            None if !self.offers(submission.terms.model.as_deref()) => {
                return Err(Refusal::UnknownModel);
            }
            None if self.is_deleted(submission.conversation()) => {
                return Err(Refusal::ConversationDeleted);
            }
            None if *self.0.phase.borrow() >= Phase::Draining => return Err(Refusal::ShuttingDown),
            _ => {}
        }
        let slot = self.0.slots.try_take();
        // What cannot be billed is marked with its arrival, slot or no slot: a crash only runs it
        // again, and a commit of its own for the mark would cost more than many such runs.
        let is_marked = slot.is_some() || self.0.provider.is_in_process();
        let start = is_marked.then(|| self.mark());
        let repeated = submission.retry_of;
        let ask = submission.arriving(self.0.clock.now(), start);
        let accepted = journal.accept(ask).await;
        self.forget(principal, repeated);
        match (accepted, known) {
            (Ok(Accept::New(mut record)), _) if matches!(record.mark, Mark::Calling { .. }) => {
                let Some(slot) = slot else {
                    record.outcome.state = Some(State::Accepted);
                    return Ok((record, Standing::Marked));
                };
                Ok((record, Standing::Begun(slot)))
            }
            (Ok(Accept::New(record)), _) => Ok((record, Standing::Waiting)),
            (Ok(Accept::Known(record)), _) => self.taken_up(record).await,
            (Ok(Accept::Deleted), _) => Err(Refusal::ConversationDeleted),
            (Ok(Accept::InvalidRetryOf), _) => Err(Refusal::InvalidRetryOf),
            (Ok(Accept::AlreadyRetried(first)), _) => Err(Refusal::AlreadyRetried(first)),
            // Cancelled before it arrived, and settled: that its question could not be added
            // changes nothing about it.
            (Err(_), Some(known)) => Ok((known, Standing::Waiting)),
            (Err(error), None) => Err(error.into()),
        }
    }

    async fn cancelled_unheard(&self, cancellation: Cancellation) -> Result<Record, Refusal> {
        let key = cancellation.key;
        if let Some(known) = self.0.journal.find(key).await? {
            return Ok(self.taken_up(known).await?.0);
        }
        // Nothing comes into being in a deleted conversation.
        self.check_kept(key, cancellation.conversation_id)?;
        let now = self.0.clock.now();
        let repeated = cancellation.ask.as_ref().and_then(|ask| ask.retry_of);
        let cancelled = CancelledUnheard {
            principal: key.principal,
            outcome: End::cancelled_unheard(key.request_id, cancellation.conversation_id, now),
            ask: cancellation.ask.map(|ask| ask.arriving(now, None)),
        };
        let record = self.0.journal.cancel_unheard(cancelled).await;
        self.forget(key.principal, repeated);
        Ok(record?)
    }

    /// An ask that is repeated has a successor from now on, perhaps: a failed write proves nothing.
    fn forget(&self, principal: PrincipalId, repeated: Option<RequestId>) {
        if let Some(request_id) = repeated {
            self.0.settled.forget(Key::new(principal, request_id));
        }
    }

    /// A known ask that nobody has under way. It has settled; should it not have, it is treated as
    /// one that a crash left.
    async fn taken_up(&self, record: Record) -> Result<(Record, Standing), Refusal> {
        if record.mark == Mark::Settled {
            return Ok((record, Standing::Waiting));
        }
        match verdict(&record, self.0.clock.now()) {
            Verdict::Keep => Ok((record, Standing::Waiting)),
            verdict => {
                self.put_right(&record, verdict).await?;
                let key = record.key();
                let record = self.0.journal.find(key).await?.unwrap_or(record);
                Ok((record, Standing::Waiting))
            }
        }
    }

    fn offers(&self, model: Option<&str>) -> bool {
        model.is_none_or(|model| self.0.provider.offers(model))
    }

    /// What the journal is told before a provider is called.
    pub(super) fn mark(&self) -> Start {
        let provider = &self.0.provider;
        Start {
            provider: provider.name().to_owned(),
            billable: !provider.is_in_process(),
            deadlines: self.0.settings.limits.from(self.0.clock.uptime()),
        }
    }
}

/// The panic hook has logged where.
fn panicked() -> Refusal {
    Refusal::Journal(JournalError::Broken("an admission panicked".to_owned()))
}
