//! The clocks of one machine: they move with tokio's paused time, jump, and count through sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use holdfast::clock::Uptime;
use holdfast_protocol::Timestamp;
use holdfast_recovery::Millis;
use tokio::time::Instant;

/// The moment every world begins: 2026-01-31T09:00:00Z.
pub(crate) const BEGINNING: Millis = 1_769_850_000_000;

/// One machine's clocks. Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Clock(Arc<Hands>);

#[derive(Debug)]
struct Hands {
    beginning: Instant,
    /// How long it has slept, in milliseconds.
    slept: AtomicU64,
    /// How far the wall clock was set wrong, in milliseconds.
    off: AtomicI64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let (slept, off) = (AtomicU64::new(0), AtomicI64::new(0));
        Self(Arc::new(Hands { beginning: Instant::now(), slept, off }))
    }

    /// How long the machine is up, its sleep included.
    pub(crate) fn up(&self) -> Duration {
        self.0.beginning.elapsed() + Duration::from_millis(self.0.slept.load(Ordering::Relaxed))
    }

    /// What its wall clock says.
    pub(crate) fn now(&self) -> Millis {
        let up = u64::try_from(self.up().as_millis()).unwrap_or(u64::MAX);
        (BEGINNING + up).saturating_add_signed(self.0.off.load(Ordering::Relaxed))
    }

    /// The machine sleeps for so long: timers stand still.
    pub(crate) fn sleep(&self, duration: Duration) {
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.0.slept.fetch_add(millis, Ordering::Relaxed);
    }

    /// Somebody sets the wall clock, so much forward or back.
    pub(crate) fn jump(&self, millis: i64) {
        self.0.off.fetch_add(millis, Ordering::Relaxed);
    }
}

impl holdfast::clock::Clock for Clock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(Self::now(self))
    }

    fn uptime(&self) -> Uptime {
        Uptime::default().after(self.up())
    }
}
