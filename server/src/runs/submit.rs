//! Submitting an ask: claiming its id, or attaching to whoever has it.
//!
//! Not here: what a claimed id turns out to be (`admit`).

use std::sync::Arc;

use holdfast_protocol::Outcome;

use super::live::Live;
use super::registry::Claim;
use super::{Refusal, Runs, Submission, Until};

impl Runs {
    /// Takes an ask, or attaches to it where its id is known, and waits for its end. The outcome is
    /// durable as far as it says.
    pub async fn submit(&self, submission: Submission, until: Until) -> Result<Outcome, Refusal> {
        let conversation = submission.conversation();
        let live = self.attach(submission, until).await?;
        let outcome = self.wait(&live, until).await.outcome();
        self.check_open(conversation)?;
        Ok(outcome)
    }

    /// Takes an ask, or attaches to it where its id is known. It is durable.
    pub(super) async fn attach(
        &self,
        submission: Submission,
        until: Until,
    ) -> Result<Arc<Live>, Refusal> {
        let key = submission.key;
        let conversation = submission.conversation();
        loop {
            let (live, is_mine) = match self.0.registry.claim(key) {
                Claim::Mine(live) => {
                    self.spawn(self.clone().admit(Arc::clone(&live), submission.clone()));
                    (live, true)
                }
                Claim::Theirs(live) => (live, false),
            };
            match until.in_time(live.admitted()).await? {
                Ok(()) => {}
                Err(refusal) if is_mine => return Err(refusal),
                // It was another submission that was refused; this one may fare better.
                Err(_) => continue,
            }
            if !live.is_same_ask(submission.conversation_id, Some(submission.fingerprint)) {
                return Err(Refusal::Mismatch);
            }
            self.check_open(conversation)?;
            if !is_mine && live.lacks_question() {
                // It met its own cancel, which is about to let go of the id: it has to arrive.
                tokio::task::yield_now().await;
                continue;
            }
            if !is_mine {
                live.count_submission();
            }
            return Ok(live);
        }
    }
}
