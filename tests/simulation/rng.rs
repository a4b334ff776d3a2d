//! The one source of chance. A seed gives the same choices in the same order.

use std::cell::RefCell;
use std::time::Duration;

/// Chance, shared by everything in one world.
#[derive(Debug)]
pub(crate) struct Chance(RefCell<fastrand::Rng>);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(RefCell::new(fastrand::Rng::with_seed(seed)))
    }

    /// Evenly from `low` to `high`, both included.
    pub(crate) fn between(&self, low: u64, high: u64) -> u64 {
        self.0.borrow_mut().u64(low..=high)
    }

    /// Once in `n` times.
    pub(crate) fn once_in(&self, n: u64) -> bool {
        self.between(1, n) == 1
    }

    /// So many milliseconds, from `low` to `high`.
    pub(crate) fn millis(&self, low: u64, high: u64) -> Duration {
        Duration::from_millis(self.between(low, high))
    }

    /// A version 4 UUID.
    pub(crate) fn uuid(&self) -> uuid::Uuid {
        uuid::Builder::from_random_bytes(self.0.borrow_mut().u128(..).to_be_bytes()).into_uuid()
    }

    /// One of them.
    pub(crate) fn pick<'a, T>(&self, from: &'a [T]) -> Option<&'a T> {
        let last = from.len().checked_sub(1)?;
        from.get(self.0.borrow_mut().usize(0..=last))
    }
}
