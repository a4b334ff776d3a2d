//! One file: what its readers see, what the platter holds, and what a loss of power makes of the
//! difference. Not here: names, locks, faults.
//!
//! The difference is kept as the writes that made it. What reaches the platter does so in sectors, as
//! the page cache writes them: a sector survives as one of the contents it had since the last sync,
//! never as a mixture of them.

use std::ops::Range;

/// What a disk writes whole or not at all, in bytes.
pub(super) const SECTOR: usize = 512;

/// A change that no sync has covered yet.
#[derive(Debug)]
pub(super) struct Change {
    /// Its place among all changes of the disk.
    pub(super) at: u64,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Write { offset: usize, bytes: Vec<u8> },
    Resize { size: usize },
}

/// What becomes of a change when the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was on the platter.
    Kept,
    /// It was not.
    Dropped,
    /// Some of its sectors were.
    Torn,
}

/// What a sync that fails leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterFailedSync {
    /// Everything is durable all the same.
    Durable,
    /// Nothing is, and the next sync will try again.
    Dirty,
    /// Nothing is, and the cache calls it clean: no later sync will write it.
    Clean,
    /// The same, and the cache has dropped it too: readers see what the platter holds.
    Evicted,
}

/// A file's content.
#[derive(Debug, Default)]
pub(super) struct File {
    /// As its readers see it.
    visible: Vec<u8>,
    /// As it is after a loss of power that drops every change.
    platter: Vec<u8>,
    /// What the cache calls clean, where that is not what the platter holds.
    clean: Option<Vec<u8>>,
    changes: Vec<Change>,
}

impl File {
    pub(super) fn visible(&self) -> &[u8] {
        &self.visible
    }

    pub(super) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Reads as much as there is at `offset`, and fills the rest with zeros. Returns how much there
    /// was.
    pub(super) fn read(&self, offset: usize, into: &mut [u8]) -> usize {
        let there = self.visible.get(offset..).unwrap_or_default();
        let count = there.len().min(into.len());
        let (found, missing) = into.split_at_mut(count);
        found.copy_from_slice(there.get(..count).unwrap_or_default());
        missing.fill(0);
        count
    }

    pub(super) fn write(&mut self, at: u64, offset: usize, bytes: &[u8]) {
        self.change(at, Kind::Write { offset, bytes: bytes.to_vec() });
    }

    pub(super) fn resize(&mut self, at: u64, size: usize) {
        if size != self.visible.len() {
            self.change(at, Kind::Resize { size });
        }
    }

    fn change(&mut self, at: u64, kind: Kind) {
        kind.apply(&mut self.visible);
        self.changes.push(Change { at, kind });
    }

    /// Makes everything durable that is known to be dirty.
    pub(super) fn sync(&mut self) {
        let mut cache = self.clean.take();
        for Change { kind, .. } in self.changes.drain(..) {
            match &mut cache {
                // The cache and the platter hold the same, apart from the changes.
                None => kind.apply(&mut self.platter),
                Some(cache) => kind.write_back(cache, &mut self.platter, |_| true),
            }
        }
        self.clean = cache.filter(|cache| *cache != self.platter);
    }

    /// A sync that fails.
    pub(super) fn fail_to_sync(&mut self, after: AfterFailedSync) {
        match after {
            AfterFailedSync::Durable => self.sync(),
            AfterFailedSync::Dirty => {}
            AfterFailedSync::Clean => {
                self.changes.clear();
                self.clean = (self.visible != self.platter).then(|| self.visible.clone());
            }
            AfterFailedSync::Evicted => {
                self.changes.clear();
                self.clean = None;
                self.visible.clone_from(&self.platter);
            }
        }
    }

    /// The power goes. `fate` decides about each change, `keeps` about each sector of a torn one.
    pub(super) fn lose_power(
        &mut self,
        mut fate: impl FnMut(&Change) -> Fate,
        mut keeps: impl FnMut() -> bool,
    ) {
        let mut cache = self.clean.take().unwrap_or_else(|| self.platter.clone());
        for change in std::mem::take(&mut self.changes) {
            match fate(&change) {
                Fate::Kept => change.kind.write_back(&mut cache, &mut self.platter, |_| true),
                Fate::Dropped => change.kind.apply(&mut cache),
                Fate::Torn => change.kind.write_back(&mut cache, &mut self.platter, |_| keeps()),
            }
        }
        self.visible.clone_from(&self.platter);
    }
}

impl Kind {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes } => {
                let end = offset + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                if let Some(place) = content.get_mut(*offset..end) {
                    place.copy_from_slice(bytes);
                }
            }
            Self::Resize { size } => content.resize(*size, 0),
        }
    }

    /// Changes the cache, and copies the sectors that this touches from there to the platter, those
    /// that `keeps`.
    fn write_back(
        &self,
        cache: &mut Vec<u8>,
        platter: &mut Vec<u8>,
        mut keeps: impl FnMut(usize) -> bool,
    ) {
        self.apply(cache);
        match self {
            Self::Write { offset, bytes } => {
                for sector in offset / SECTOR..(offset + bytes.len()).div_ceil(SECTOR) {
                    if keeps(sector) {
                        copy_sector(cache, platter, sector);
                    }
                }
            }
            // A size is one thing in one place: there or not.
            Self::Resize { size } => {
                if keeps(size / SECTOR) {
                    platter.resize(*size, 0);
                }
            }
        }
    }
}

fn copy_sector(cache: &[u8], platter: &mut Vec<u8>, sector: usize) {
    let range: Range<usize> = sector * SECTOR..cache.len().min((sector + 1) * SECTOR);
    if platter.len() < range.end {
        platter.resize(range.end, 0);
    }
    if let (Some(from), Some(to)) = (cache.get(range.clone()), platter.get_mut(range)) {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &[u8]) -> File {
        let mut file = File::default();
        file.write(0, 0, content);
        file.sync();
        file
    }

    #[test]
    fn what_was_synced_stays_and_the_rest_goes() {
        let mut file = file(&[1; 1_000]);
        file.write(1, 500, &[2; 1_000]);
        file.resize(2, 100);
        assert_eq!(file.visible(), [1; 100]);
        file.lose_power(|_| Fate::Dropped, || false);
        assert_eq!(file.visible(), [1; 1_000]);
        assert!(file.changes().is_empty());
    }

    #[test]
    fn a_write_tears_between_sectors_and_takes_what_was_in_them_along() {
        let mut file = file(&[1; 2_048]);
        file.write(1, 10, &[2; 10]);
        file.write(2, 100, &[3; 1_000]);
        let mut sector = 0;
        let keeps = || {
            sector += 1;
            sector != 2
        };
        file.lose_power(|change| if change.at == 1 { Fate::Dropped } else { Fate::Torn }, keeps);
        let seen = file.visible();
        assert_eq!(seen.get(9..21), Some(&[1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1][..]), "one sector");
        assert_eq!(seen.get(100..512), Some(&[3; 412][..]));
        assert_eq!(seen.get(512..1_024), Some(&[1; 512][..]), "the middle one was not written");
        assert_eq!(seen.get(1_024..1_100), Some(&[3; 76][..]));
        assert_eq!(seen.get(1_100..), Some(&[1; 948][..]));
    }

    #[test]
    fn a_hole_is_zeros() {
        let mut file = file(b"a");
        file.resize(1, 0);
        file.write(2, 3, b"b");
        assert_eq!(file.visible(), b"\0\0\0b");
        file.sync();
        file.lose_power(|_| Fate::Dropped, || false);
        assert_eq!(file.visible(), b"\0\0\0b");
    }

    #[test]
    fn a_sync_that_fails_leaves_one_of_four_things() {
        let after = |after, syncs: bool| {
            let mut file = file(&[1; 512]);
            file.write(1, 0, &[2; 512]);
            file.fail_to_sync(after);
            let seen = file.visible().first().copied();
            file.write(2, 512, &[3; 512]);
            if syncs {
                file.sync();
            }
            file.lose_power(|_| Fate::Dropped, || false);
            (seen, file.visible().first().copied(), file.visible().len())
        };
        assert_eq!(after(AfterFailedSync::Durable, false), (Some(2), Some(2), 512));
        assert_eq!(after(AfterFailedSync::Dirty, false), (Some(2), Some(1), 512));
        assert_eq!(after(AfterFailedSync::Dirty, true), (Some(2), Some(2), 1_024));
        assert_eq!(after(AfterFailedSync::Clean, false), (Some(2), Some(1), 512));
        assert_eq!(after(AfterFailedSync::Clean, true), (Some(2), Some(1), 1_024), "it is lost");
        assert_eq!(after(AfterFailedSync::Evicted, true), (Some(1), Some(1), 1_024));
    }

    #[test]
    fn what_was_lost_is_written_when_its_sector_is_dirty_again() {
        let mut file = file(&[1; 1_024]);
        file.write(1, 0, &[2; 1_024]);
        file.fail_to_sync(AfterFailedSync::Clean);
        file.write(2, 0, &[3]);
        file.sync();
        file.lose_power(|_| Fate::Dropped, || false);
        let seen = file.visible();
        assert_eq!((seen.first(), seen.get(1), seen.get(511)), (Some(&3), Some(&2), Some(&2)));
        assert_eq!(seen.get(512..), Some(&[1; 512][..]));
    }
}
