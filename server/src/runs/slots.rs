//! How many conversations run side by side, and whether any still do.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::Phase;

/// The slots of the process.
pub(super) struct Slots {
    permits: Arc<Semaphore>,
    taken: watch::Sender<usize>,
    phase: watch::Receiver<Phase>,
}

/// The right to run, given up when dropped.
pub(super) struct Slot {
    permit: Option<OwnedSemaphorePermit>,
    taken: watch::Sender<usize>,
}

impl Slots {
    pub(super) fn new(count: usize, phase: watch::Receiver<Phase>) -> Self {
        Self { permits: Arc::new(Semaphore::new(count)), taken: watch::Sender::new(0), phase }
    }

    /// A slot, if one is free and the server is not going down.
    pub(super) fn try_take(&self) -> Option<Slot> {
        self.admit(Arc::clone(&self.permits).try_acquire_owned().ok()?)
    }

    /// A slot, as soon as one is free. Never, once the server is going down: then what waits stays
    /// accepted.
    pub(super) async fn take(&self) -> Slot {
        if let Ok(permit) = Arc::clone(&self.permits).acquire_owned().await
            && let Some(slot) = self.admit(permit)
        {
            return slot;
        }
        std::future::pending().await
    }

    /// Counts first and looks at the phase then: a drain, which does the reverse, either sees the
    /// slot taken or is seen here.
    fn admit(&self, permit: OwnedSemaphorePermit) -> Option<Slot> {
        self.taken.send_modify(|taken| *taken += 1);
        let slot = Slot { permit: Some(permit), taken: self.taken.clone() };
        (*self.phase.borrow() < Phase::Draining).then_some(slot)
    }

    /// Resolves when a slot is taken.
    pub(super) async fn busy(&self) {
        let _ = self.taken.subscribe().wait_for(|taken| *taken > 0).await;
    }

    /// Resolves when no slot is taken.
    pub(super) async fn idle(&self) {
        // The sender is held here, so it cannot be gone.
        let _ = self.taken.subscribe().wait_for(|taken| *taken == 0).await;
    }

    /// How many slots are taken.
    pub(super) fn taken(&self) -> usize {
        *self.taken.borrow()
    }
}

impl Slot {
    /// Lets another one run. It counts as taken until it is dropped: what it ran is not archived yet.
    pub(super) fn make_room(&mut self) {
        self.permit = None;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.taken.send_modify(|taken| *taken -= 1);
    }
}
