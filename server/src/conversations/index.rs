//! Writing the index of the search, behind what settles.
//!
//! What has just settled is found without it, so that it can wait for company: many asks are indexed
//! together for little more than one. A stop in between loses nothing, for the journal keeps what is to be
//! indexed.

use std::time::Duration;

use tokio::time::sleep;

use super::Conversations;

/// How long an ask that has settled waits for others that do.
const BEHIND: Duration = Duration::from_secs(1);
/// The wait after something failed.
const AGAIN: Duration = Duration::from_secs(5);

impl Conversations {
    /// Indexes for as long as the server runs.
    pub(super) async fn index(&self) {
        // Whoever waits for the server to start comes first.
        if !self.serving().await {
            return;
        }
        let journal = &self.0.journal;
        loop {
            match journal.index().await {
                Ok(true) => {}
                Ok(false) => {
                    journal.unindexed().await;
                    sleep(BEHIND).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "what has settled cannot be indexed yet");
                    sleep(AGAIN).await;
                }
            }
        }
    }
}
