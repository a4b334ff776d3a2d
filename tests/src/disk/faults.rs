//! What is done to a disk, counted, and which of it fails. Not here: what a failure leaves behind.

use std::collections::BTreeMap;

/// What SQLite does with a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Opens or creates a file.
    Open,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Makes a file durable.
    Sync,
    /// Makes the folder durable: which files there are, and their names. Never fails, as SQLite
    /// would not heed it.
    SyncFolder,
    /// Changes a file's size.
    Truncate,
    /// Deletes a file.
    Delete,
}

/// How an operation fails, as SQLite is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The device reports an error: `SQLITE_IOERR_WRITE`, `_FSYNC`, `_READ` …
    Io,
    /// No room: `SQLITE_FULL`.
    Full,
    /// `SQLITE_READONLY`.
    ReadOnly,
    /// `SQLITE_CANTOPEN`.
    CannotOpen,
}

/// A fault to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Operations of this kind fail,
    pub operation: Operation,
    /// the n-th from now, counted from 1,
    pub nth: u64,
    /// and every later one, until the faults are lifted,
    pub lasts: bool,
    /// like this.
    pub failure: Failure,
}

impl Fault {
    /// The n-th operation of a kind from now fails once.
    pub const fn once(operation: Operation, nth: u64, failure: Failure) -> Self {
        Self { operation, nth, lasts: false, failure }
    }

    /// Every operation of a kind fails from now on, until the faults are lifted.
    pub const fn lasting(operation: Operation, failure: Failure) -> Self {
        Self { operation, nth: 1, lasts: true, failure }
    }
}

/// The counts, and the faults to come.
#[derive(Debug, Default)]
pub(super) struct Faults {
    counts: BTreeMap<Operation, u64>,
    struck: u64,
    waiting: Vec<Fault>,
}

impl Faults {
    pub(super) fn add(&mut self, fault: Fault) {
        self.waiting.push(fault);
    }

    pub(super) fn lift(&mut self) {
        self.waiting.clear();
    }

    pub(super) const fn are_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn count(&self, operation: Operation) -> u64 {
        self.counts.get(&operation).copied().unwrap_or(0)
    }

    /// How many operations were made to fail.
    pub(super) const fn struck(&self) -> u64 {
        self.struck
    }

    /// Counts an operation that begins, and says whether it fails.
    pub(super) fn begin(&mut self, operation: Operation) -> Option<Failure> {
        *self.counts.entry(operation).or_default() += 1;
        let mut struck = None;
        self.waiting.retain_mut(|fault| {
            if fault.operation != operation {
                return true;
            }
            if fault.nth > 1 {
                fault.nth -= 1;
                return true;
            }
            struck = struck.or(Some(fault.failure));
            fault.lasts
        });
        self.struck += u64::from(struck.is_some());
        struck
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_strikes_the_nth_of_its_kind() {
        let mut faults = Faults::default();
        faults.add(Fault::once(Operation::Write, 2, Failure::Full));
        assert_eq!(faults.begin(Operation::Write), None);
        assert_eq!(faults.begin(Operation::Sync), None);
        assert_eq!(faults.begin(Operation::Write), Some(Failure::Full));
        assert_eq!(faults.begin(Operation::Write), None);
        assert_eq!((faults.count(Operation::Write), faults.struck()), (3, 1));
    }

    #[test]
    fn a_lasting_one_strikes_until_it_is_lifted() {
        let mut faults = Faults::default();
        faults.add(Fault { nth: 2, ..Fault::lasting(Operation::Sync, Failure::Io) });
        assert_eq!(faults.begin(Operation::Sync), None);
        assert_eq!(faults.begin(Operation::Sync), Some(Failure::Io));
        assert_eq!(faults.begin(Operation::Sync), Some(Failure::Io));
        faults.lift();
        assert_eq!(faults.begin(Operation::Sync), None);
    }
}
