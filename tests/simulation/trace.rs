//! Everything that happens, in order: shown to whoever replays a seed, or summed up, so that two runs
//! of one seed can be compared.

use std::cell::Cell;
use std::fmt::Arguments;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// What becomes of each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing: to write it would take most of the time.
    Off,
    /// It goes to standard error.
    Shown,
    /// It is added to the sum.
    Summed,
}

/// The trace of one world.
#[derive(Debug)]
pub(crate) struct Trace {
    mode: Mode,
    lines: Cell<u64>,
    sum: Cell<u64>,
}

impl Trace {
    pub(crate) const fn new(mode: Mode) -> Self {
        Self { mode, lines: Cell::new(0), sum: Cell::new(0) }
    }

    pub(crate) fn line(&self, line: Arguments<'_>) {
        match self.mode {
            Mode::Off => {}
            Mode::Shown => eprintln!("{line}"),
            Mode::Summed => {
                let mut hasher = DefaultHasher::new();
                self.sum.get().hash(&mut hasher);
                line.to_string().hash(&mut hasher);
                self.sum.set(hasher.finish());
                self.lines.set(self.lines.get() + 1);
            }
        }
    }

    /// How many lines, and what they come to.
    pub(crate) fn sum(&self) -> (u64, u64) {
        (self.lines.get(), self.sum.get())
    }
}
