//! What a loss of power does to what was not synced. Not here: what a sector is, which files there are.

use std::cmp::Ordering;

use fastrand::Rng;

use super::file::{Fate, File};

/// What a loss of power does to what was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It is all gone.
    Everything,
    /// It was all written in time.
    Nothing,
    /// The seed decides: all or nothing, everything up to a moment, or each write for itself, whole,
    /// not at all, or torn between two sectors; file names likewise.
    Chance,
}

/// How many unsynced writes a loss of power left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survivors {
    /// Whole.
    pub kept: u64,
    /// Not at all.
    pub dropped: u64,
    /// In some of their sectors.
    pub torn: u64,
}

impl Survivors {
    pub(super) const fn count(&mut self, fate: Fate) {
        match fate {
            Fate::Kept => self.kept += 1,
            Fate::Dropped => self.dropped += 1,
            Fate::Torn => self.torn += 1,
        }
    }
}

/// How one loss of power treats what was not synced.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mood {
    Dropped,
    Kept,
    /// The disk wrote in order, up to this change.
    UpTo(u64),
    /// The disk wrote in any order.
    Each,
}

impl Mood {
    pub(super) fn of<'a>(
        loss: Loss,
        chance: &mut Rng,
        files: impl Iterator<Item = &'a File>,
    ) -> Self {
        match loss {
            Loss::Everything => Self::Dropped,
            Loss::Nothing => Self::Kept,
            Loss::Chance => match chance.u8(..8) {
                0 => Self::Dropped,
                1 => Self::Kept,
                2..5 => {
                    let changes = files.flat_map(File::changes);
                    let mut at: Vec<_> = changes.map(|change| change.at).collect();
                    at.sort_unstable();
                    chance.choice(&at).map_or(Self::Each, |at| Self::UpTo(*at))
                }
                _ => Self::Each,
            },
        }
    }

    pub(super) fn fate(self, at: u64, chance: &mut Rng) -> Fate {
        match self {
            Self::Dropped => Fate::Dropped,
            Self::Kept => Fate::Kept,
            Self::UpTo(last) => match at.cmp(&last) {
                Ordering::Less => Fate::Kept,
                Ordering::Equal => Fate::Torn,
                Ordering::Greater => Fate::Dropped,
            },
            Self::Each => match chance.u8(..4) {
                0 => Fate::Dropped,
                1 => Fate::Torn,
                _ => Fate::Kept,
            },
        }
    }

    /// How many of the changes of a file's name were durable.
    pub(super) fn names(self, changes: usize, chance: &mut Rng) -> usize {
        match self {
            Self::Dropped => 0,
            Self::Kept => changes,
            Self::UpTo(_) | Self::Each => chance.usize(..=changes),
        }
    }
}

impl std::ops::AddAssign for Survivors {
    fn add_assign(&mut self, more: Self) {
        self.kept += more.kept;
        self.dropped += more.dropped;
        self.torn += more.torn;
    }
}
