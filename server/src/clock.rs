//! The wall clock, as a parameter.
//!
//! Times that are stored or shown come from a [`Clock`]; waits and deadlines use tokio's timers. So a
//! simulation owns both. Nothing else in this crate may ask the operating system what time it is.

use std::time::{SystemTime, UNIX_EPOCH};

use holdfast_protocol::Timestamp;

/// Says what time it is.
pub trait Clock: Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// The operating system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // A clock before 1970 is a clock that was never set.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}
