//! Going down: running asks may end, the rest is honest about it.

use std::time::Duration;

use tokio::time::timeout;

use super::live::Stop;
use super::{Phase, Runs};

/// How long the final writes of interrupted asks may take.
const LAST_WRITES: Duration = Duration::from_secs(5);

impl Runs {
    /// Takes no new asks, gives those that run until `patience` is over, and interrupts the rest.
    /// Those that wait for their turn stay accepted. Returns how many answers could not be archived.
    pub async fn drain(&self, patience: impl Future<Output = ()>) -> usize {
        // What a crash left is put right first, or whoever looks meanwhile would see it as it was.
        let mut phase = self.0.phase.subscribe();
        let _ = timeout(LAST_WRITES, phase.wait_for(|phase| *phase >= Phase::Serving)).await;
        self.0.phase.send_replace(Phase::Draining);
        tokio::select! {
            () = self.0.slots.idle() => {}
            () = patience => {
                tracing::warn!(asks = self.0.slots.taken(), "interrupting asks that still run");
                for live in self.0.registry.all() {
                    // One that waits for its turn does not heed it.
                    live.stop(Stop::Interrupt);
                }
                // What is left after this is reported.
                let _ = timeout(LAST_WRITES, self.0.slots.idle()).await;
            }
        }
        let unarchived = self.0.slots.taken();
        self.0.phase.send_replace(Phase::Closed);
        unarchived
    }

    /// Ends every task, whatever it is doing.
    pub async fn abort(&self) {
        let mut tasks = {
            let mut tasks = self.0.tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        tasks.shutdown().await;
    }
}
