//! Cancelling an ask, also before anything was heard of it.

use std::sync::Arc;

use holdfast_protocol::Outcome;

use super::live::Stop;
use super::registry::Claim;
use super::{Cancellation, Refusal, Runs, Until};

impl Runs {
    /// Cancels an ask in whatever state it is, and returns what became of it, which may be what it
    /// had settled as before.
    pub async fn cancel(
        &self,
        cancellation: Cancellation,
        until: Until,
    ) -> Result<Outcome, Refusal> {
        let key = cancellation.key;
        loop {
            let (live, is_mine) = match self.0.registry.claim(key) {
                Claim::Mine(live) => {
                    self.spawn(
                        self.clone().cancel_unheard(Arc::clone(&live), cancellation.clone()),
                    );
                    (live, true)
                }
                Claim::Theirs(live) => (live, false),
            };
            match until.in_time(live.admitted()).await? {
                Ok(()) => {}
                Err(refusal) if is_mine => return Err(refusal),
                Err(_) => continue,
            }
            if !live.is_same_ask(cancellation.conversation_id, None) {
                return Err(Refusal::Mismatch);
            }
            self.check_kept(key, cancellation.conversation_id)?;
            live.stop(Stop::Cancel);
            let outcome = self.wait(&live, until).await.outcome();
            self.check_kept(key, cancellation.conversation_id)?;
            return Ok(outcome);
        }
    }
}
