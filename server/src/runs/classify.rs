//! What a crash left, decided before the server is ready.

use std::time::Duration;

use futures_util::future::try_join_all;
use holdfast_protocol::Timestamp;
use tokio::time::sleep;

use super::admit::Standing;
use super::end::End;
use super::registry::Claim;
use super::{Phase, Runs};
use crate::journal::{Mark, Record, Result};

/// An ask that waited longer than this is not sent any more.
const STALE: Duration = Duration::from_hours(1);
/// An ask whose run was begun so often without an end is not begun again.
const STARTS_MOST: u32 = 3;
/// How long to wait before the journal is read again.
const AGAIN: Duration = Duration::from_secs(1);

/// What is to be done about an unsettled ask that nobody runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// It waits for its turn.
    Keep,
    /// Its run may be repeated.
    Requeue,
    /// It settles like this.
    Settle(Box<End>),
}

/// Decides about an unsettled ask that nobody runs.
pub(super) fn verdict(record: &Record, now: Timestamp) -> Verdict {
    let settle = |end| Verdict::Settle(Box::new(end));
    let waited = now.millis().saturating_sub(record.outcome.asked_at.map_or(0, Timestamp::millis));
    let is_stale = u128::from(waited) > STALE.as_millis();
    match record.mark {
        // It may have been billed: never again unasked.
        Mark::Calling { billable: true } => settle(End::cut_off(record.provider.clone())),
        Mark::Calling { billable: false } if record.starts >= STARTS_MOST => {
            settle(End::given_up(record.starts, record.provider.clone()))
        }
        Mark::Unconfirmed => settle(End::unconfirmed()),
        Mark::Accepted | Mark::Calling { billable: false } if is_stale => settle(End::stale()),
        Mark::Calling { billable: false } => Verdict::Requeue,
        Mark::Accepted | Mark::Settled => Verdict::Keep,
    }
}

impl Runs {
    /// Classifies what a crash left, and begins to serve. What waits runs afterwards.
    pub(super) async fn take_up(&self) {
        let waiting = loop {
            match self.classify().await {
                Ok(waiting) => break waiting,
                Err(error) => tracing::error!(%error, "the archive cannot be classified yet"),
            }
            sleep(AGAIN).await;
        };
        if !waiting.is_empty() {
            tracing::info!(asks = waiting.len(), "taking up asks that waited");
        }
        for record in waiting {
            if let Claim::Mine(live) = self.0.registry.claim(record.key()) {
                let runs = self.clone();
                // Before anybody can look.
                let place = self.publish(&live, &record);
                self.spawn(async move {
                    let _release = runs.0.registry.release_at_last(live.key());
                    runs.run_out(&live, &record, place, Standing::Waiting).await;
                });
            }
        }
        self.0.phase.send_if_modified(|phase| {
            let starting = *phase == Phase::Starting;
            if starting {
                *phase = Phase::Serving;
            }
            starting
        });
    }

    /// Puts every unsettled ask right; returns those that wait for their turn.
    async fn classify(&self) -> Result<Vec<Record>> {
        let now = self.0.clock.now();
        self.learn_deletions().await?;
        let unsettled = self.0.journal.unsettled().await?;
        let judged: Vec<_> =
            unsettled.into_iter().map(|record| (self.verdict(&record, now), record)).collect();
        let ends = judged.iter().filter(|(verdict, _)| matches!(verdict, Verdict::Settle(_)));
        let ends = ends.count();
        // Side by side, so that they share their commits.
        try_join_all(
            judged.iter().map(|(verdict, record)| self.put_right(record, verdict.clone())),
        )
        .await?;
        if ends > 0 {
            tracing::warn!(asks = ends, "settled asks that the last stop of the server cut off");
        }
        self.0.journal.unsettled().await
    }

    /// The same, where nothing is run of a deleted conversation.
    fn verdict(&self, record: &Record, now: Timestamp) -> Verdict {
        match verdict(record, now) {
            Verdict::Keep | Verdict::Requeue if self.is_deleted(record.conversation()) => {
                Verdict::Settle(Box::new(End::cancelled_in_line()))
            }
            verdict => verdict,
        }
    }

    pub(super) async fn put_right(&self, record: &Record, verdict: Verdict) -> Result<()> {
        match verdict {
            Verdict::Keep => Ok(()),
            Verdict::Requeue => self.0.journal.requeue(record.key()).await,
            Verdict::Settle(end) => {
                let now = self.0.clock.now();
                let outcome = end.outcome(record.outcome.clone(), record.submissions, now);
                self.0.journal.settle(record.key(), outcome).await.map(drop)
            }
        }
    }
}
