//! Locks between the connections to one file, as SQLite defines them. Not here: what they protect.

use std::collections::BTreeMap;

/// A connection's open file.
pub(super) type Handle = u64;

/// How much of a file a connection has claimed, from nothing to everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Nothing.
    #[default]
    None,
    /// It reads.
    Shared,
    /// It means to write.
    Reserved,
    /// It waits for the readers to leave.
    Pending,
    /// It writes.
    Exclusive,
}

/// Another connection is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy;

/// The locks on a whole file.
#[derive(Debug, Default)]
pub(super) struct Locks(BTreeMap<Handle, Level>);

impl Locks {
    /// Raises a connection's claim.
    pub(super) fn lock(&mut self, handle: Handle, level: Level) -> Result<(), Busy> {
        if self.of(handle) >= level {
            return Ok(());
        }
        let others = self.others(handle);
        match level {
            Level::Shared if others >= Level::Pending => return Err(Busy),
            Level::Reserved | Level::Pending | Level::Exclusive if others >= Level::Reserved => {
                return Err(Busy);
            }
            Level::Exclusive if others == Level::Shared => {
                // No new reader comes in until this one has had its turn.
                self.0.insert(handle, Level::Pending);
                return Err(Busy);
            }
            _ => {}
        }
        self.0.insert(handle, level);
        Ok(())
    }

    /// Lowers a connection's claim.
    pub(super) fn unlock(&mut self, handle: Handle, level: Level) {
        if level == Level::None {
            self.0.remove(&handle);
        } else if self.of(handle) > level {
            self.0.insert(handle, level);
        }
    }

    /// Whether anybody means to write.
    pub(super) fn is_reserved(&self) -> bool {
        self.0.values().any(|level| *level >= Level::Reserved)
    }

    fn of(&self, handle: Handle) -> Level {
        self.0.get(&handle).copied().unwrap_or_default()
    }

    fn others(&self, handle: Handle) -> Level {
        let others = self.0.iter().filter(|(other, _)| **other != handle);
        others.map(|(_, level)| *level).max().unwrap_or_default()
    }
}

/// The numbered locks beside the index of a write-ahead log: each is held by one connection alone, or
/// by any number together.
#[derive(Debug, Default)]
pub(super) struct Slots(BTreeMap<(usize, Handle), Hold>);

/// How a slot is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    Together,
    Alone,
}

impl Slots {
    /// Takes all the slots of a range, or none.
    pub(super) fn lock(
        &mut self,
        handle: Handle,
        slots: std::ops::Range<usize>,
        hold: Hold,
    ) -> Result<(), Busy> {
        let in_the_way = |(&(slot, other), &held): (&(usize, Handle), &Hold)| {
            slots.contains(&slot) && other != handle && (hold == Hold::Alone || held == Hold::Alone)
        };
        if self.0.iter().any(in_the_way) {
            return Err(Busy);
        }
        self.0.extend(slots.map(|slot| ((slot, handle), hold)));
        Ok(())
    }

    /// Lets go of them.
    pub(super) fn unlock(&mut self, handle: Handle, slots: std::ops::Range<usize>) {
        self.0.retain(|(slot, holder), _| *holder != handle || !slots.contains(slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_writes_when_nobody_reads() {
        let mut locks = Locks::default();
        for reader in 1..=3 {
            assert_eq!(locks.lock(reader, Level::Shared), Ok(()));
        }
        assert_eq!(locks.lock(1, Level::Reserved), Ok(()));
        assert_eq!(locks.lock(2, Level::Reserved), Err(Busy));
        assert_eq!(locks.lock(4, Level::Shared), Ok(()), "a reader may come still");
        assert_eq!(locks.lock(1, Level::Exclusive), Err(Busy));
        assert_eq!(locks.lock(5, Level::Shared), Err(Busy), "no more: the writer waits");
        for reader in 2..=4 {
            locks.unlock(reader, Level::None);
        }
        assert_eq!(locks.lock(1, Level::Exclusive), Ok(()));
        assert!(locks.is_reserved());
        locks.unlock(1, Level::Shared);
        assert_eq!(locks.lock(2, Level::Shared), Ok(()));
        assert!(!locks.is_reserved());
    }

    #[test]
    fn a_slot_is_held_together_or_alone() {
        let mut slots = Slots::default();
        assert_eq!(slots.lock(1, 0..1, Hold::Together), Ok(()));
        assert_eq!(slots.lock(2, 0..1, Hold::Together), Ok(()));
        assert_eq!(slots.lock(3, 0..3, Hold::Alone), Err(Busy));
        assert_eq!(slots.lock(3, 1..3, Hold::Alone), Ok(()));
        assert_eq!(slots.lock(1, 2..3, Hold::Together), Err(Busy));
        slots.unlock(1, 0..8);
        slots.unlock(2, 0..1);
        assert_eq!(slots.lock(3, 0..1, Hold::Alone), Ok(()));
        slots.unlock(3, 0..8);
        assert_eq!(slots.lock(1, 0..8, Hold::Alone), Ok(()));
    }
}
