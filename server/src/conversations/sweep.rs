//! Taking away for good what was deleted.
//!
//! A purge takes the content out of the journal, and a scrub what is left of it in the files. A scrub
//! writes the archive anew, during which nothing else is written; so one that took long is not repeated
//! before many times as long has passed, and several deletions share it. Whatever fails is tried again;
//! nothing of it is kept in memory alone, so that a stop in between only delays it.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::Conversations;
use crate::journal::{Purge, Result};

/// How often it is looked whether a deletion has become final: timers stand still while a machine
/// sleeps, its clock does not.
const LOOK: Duration = Duration::from_secs(1);
/// The wait after something failed.
const AGAIN: Duration = Duration::from_secs(5);
/// For so many times as long as a scrub took there is no other.
const REST: u32 = 50;

impl Conversations {
    /// Sweeps for as long as the server runs.
    pub(super) async fn sweep(&self) {
        // Before that, what waits in a deleted conversation has not been cancelled.
        if !self.serving().await {
            return;
        }
        let mut scrub_after = Instant::now();
        loop {
            match self.sweep_once(&mut scrub_after).await {
                Ok(true) => sleep(LOOK).await,
                Ok(false) => self.0.deleted.notified().await,
                Err(error) => {
                    tracing::warn!(%error, "what was deleted cannot be taken away yet");
                    // Somebody may be deleting something else meanwhile: all the same.
                    let _ = timeout(AGAIN, self.0.deleted.notified()).await;
                }
            }
        }
    }

    /// Takes away what has become final. Whether anything is left to be done later.
    async fn sweep_once(&self, scrub_after: &mut Instant) -> Result<bool> {
        let journal = &self.0.journal;
        let mut is_left = false;
        for deletion in journal.deletions().await?.iter().filter(|deletion| !deletion.is_purged) {
            let is_final = deletion.is_final(self.now());
            let is_done =
                is_final && journal.purge(deletion.conversation).await? != Purge::UnderWay;
            is_left |= !is_done;
        }
        let begun = Instant::now();
        if begun < *scrub_after {
            return Ok(true);
        }
        let is_scrubbed = journal.scrub().await?;
        *scrub_after = Instant::now() + begun.elapsed() * REST;
        Ok(is_left || !is_scrubbed)
    }
}
