//! Settling: the final write, for as long as it takes.

use std::time::Duration;

use holdfast_protocol::{Outcome, State};
use tokio::time::sleep;

use super::Runs;
use super::end::End;
use super::live::Live;
use crate::journal::{JournalError, Key, Mark};

/// The wait before the first repetition; it doubles from there …
const AGAIN_FIRST: Duration = Duration::from_millis(100);
/// … up to this.
const AGAIN_MOST: Duration = Duration::from_secs(5);

impl Runs {
    /// Settles an ask. Where the journal fails, the ask is shown as archiving, with its whole text,
    /// and the write is tried again until it succeeds or the process ends.
    pub(super) async fn settle(&self, live: &Live, end: End) {
        let outcome = end.outcome(live.outcome(), live.submissions(), self.0.clock.now());
        live.enter(State::Archiving);
        let mut pause = AGAIN_FIRST;
        loop {
            match self.0.journal.settle(live.key(), outcome.clone()).await {
                Ok(stored) => return live.settle(stored),
                // Whoever has taken the archive over has put an end to this ask.
                Err(JournalError::Stale)
                    if let Some(outcome) = self.settled_by_another(live.key()).await =>
                {
                    return live.settle(outcome);
                }
                Err(error) if pause == AGAIN_FIRST => {
                    tracing::error!(%error, "an answer cannot be archived yet");
                }
                Err(_) => {}
            }
            sleep(pause).await;
            pause = (pause * 2).min(AGAIN_MOST);
        }
    }

    async fn settled_by_another(&self, key: Key) -> Option<Outcome> {
        let found = self.0.journal.find(key).await.ok()??;
        (found.mark == Mark::Settled).then_some(found.outcome)
    }
}
