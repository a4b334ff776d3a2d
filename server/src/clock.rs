//! Clocks, as a parameter.
//!
//! Times that are stored or shown, and the deadlines of runs, come from a [`Clock`]; waits use tokio's
//! timers. So a simulation owns both. Nothing else in this crate may ask the operating system what
//! time it is.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use holdfast_protocol::Timestamp;

/// Says what time it is.
pub trait Clock: Send + Sync + 'static {
    /// The present moment, as people tell it. It may jump either way.
    fn now(&self) -> Timestamp;

    /// How long the machine has been up. It never goes back, and counts through sleep, where tokio's
    /// timers stand still: a deadline by it passes while a laptop is shut.
    fn uptime(&self) -> Uptime;
}

/// Milliseconds since the machine was started, sleep included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uptime(u64);

impl Uptime {
    /// So many milliseconds after the start.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// In milliseconds since the start.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// So much later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
    }
}

/// The operating system's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // A clock before 1970 is a clock that was never set.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    fn uptime(&self) -> Uptime {
        // Only Linux needs another clock for this: elsewhere the monotonic one counts through sleep.
        #[cfg(target_os = "linux")]
        let clock = rustix::time::ClockId::Boottime;
        #[cfg(not(target_os = "linux"))]
        let clock = rustix::time::ClockId::Monotonic;
        let up = Duration::try_from(rustix::time::clock_gettime(clock)).unwrap_or_default();
        Uptime::default().after(up)
    }
}
