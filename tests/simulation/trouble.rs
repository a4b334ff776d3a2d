//! What a disk does to a server that is up.

use holdfast_tests::disk::{Disk, Failure, Fault, Operation};

use crate::rng::Chance;

/// A kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    /// No room, until somebody makes some.
    Full,
    /// Mounted read-only after an error.
    ReadOnly,
    /// Every write fails.
    Writes,
    /// Every sync fails, and what it leaves behind is anybody's guess.
    Syncs,
    /// Nothing can be read.
    Reads,
    /// Files cannot be opened.
    Opens,
    /// One write fails, soon.
    OneWrite,
    /// One sync fails, soon.
    OneSync,
}

/// Every kind.
pub(crate) const TROUBLES: &[Trouble] = &[
    Trouble::Full,
    Trouble::ReadOnly,
    Trouble::Writes,
    Trouble::Syncs,
    Trouble::Reads,
    Trouble::Opens,
    Trouble::OneWrite,
    Trouble::OneSync,
];

impl Trouble {
    /// Lets it begin. It ends when the disk's faults are lifted.
    pub(crate) fn befall(self, disk: &Disk, chance: &Chance) {
        let lasting = |operation, failure| disk.fail(Fault::lasting(operation, failure));
        match self {
            Self::Full => lasting(Operation::Write, Failure::Full),
            Self::ReadOnly => {
                for operation in [Operation::Write, Operation::Truncate, Operation::Delete] {
                    lasting(operation, Failure::ReadOnly);
                }
            }
            Self::Writes => lasting(Operation::Write, Failure::Io),
            Self::Syncs => lasting(Operation::Sync, Failure::Io),
            Self::Reads => lasting(Operation::Read, Failure::Io),
            Self::Opens => lasting(Operation::Open, Failure::CannotOpen),
            Self::OneWrite => {
                disk.fail(Fault::once(Operation::Write, chance.between(1, 9), Failure::Io));
            }
            Self::OneSync => {
                disk.fail(Fault::once(Operation::Sync, chance.between(1, 3), Failure::Io));
            }
        }
    }
}
