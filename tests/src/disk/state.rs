//! A disk as a whole: its files under their names, who has them open, what fails, and the chance that
//! decides what neither SQLite nor a test does. Not here: SQLite's side of it, which is `ffi`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use fastrand::Rng;

use super::faults::{Failure, Faults, Operation};
use super::file::{AfterFailedSync, Change, File};
use super::folder::{FileId, Folder};
use super::locks::{Handle, Hold, Level, Locks, Slots};
use super::power::{Loss, Mood, Survivors};

/// Why an operation did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// A fault struck.
    Fault(Operation, Failure),
    /// The machine is down, or this connection is of a time before it went down.
    Down(Operation),
    /// Another connection is in the way.
    Busy,
    /// There is no such file.
    Missing,
}

/// A piece of memory that the connections to a file share.
pub(super) type Region = Arc<[AtomicU64]>;

/// The index of a write-ahead log, as the connections to a file share it.
#[derive(Debug, Default)]
struct Shared {
    regions: Vec<Region>,
    slots: Slots,
    mapped: Vec<Handle>,
}

#[derive(Debug, Default)]
struct Entry {
    file: File,
    locks: Locks,
    shared: Shared,
    open: Vec<Handle>,
}

/// A file that a connection has open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opened {
    pub(super) handle: Handle,
    file: FileId,
    /// The life of the machine it was opened in.
    life: u64,
}

#[derive(Debug)]
pub(super) struct State {
    folder: Folder,
    files: BTreeMap<FileId, Entry>,
    pub(super) faults: Faults,
    chance: Rng,
    /// Counts handles, files and changes.
    last: u64,
    life: u64,
    /// How many changes are made before the machine goes down in the midst of one.
    changes_left: Option<u64>,
    /// A fault brings the machine down.
    goes_down_with_fault: bool,
    is_down: bool,
}

impl State {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            folder: Folder::default(),
            files: BTreeMap::new(),
            faults: Faults::default(),
            chance: Rng::with_seed(seed),
            last: 0,
            life: 0,
            changes_left: None,
            goes_down_with_fault: false,
            is_down: false,
        }
    }

    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Whether the machine goes down in the midst of the change that begins.
    fn goes_down(&mut self) -> bool {
        match &mut self.changes_left {
            Some(0) => {
                self.is_down = true;
                true
            }
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        }
    }

    fn begin(&mut self, operation: Operation) -> Result<(), Refused> {
        if self.is_down {
            return Err(Refused::Down(operation));
        }
        let Some(failure) = self.faults.begin(operation) else { return Ok(()) };
        self.is_down = self.goes_down_with_fault;
        Err(Refused::Fault(operation, failure))
    }

    fn entry(&mut self, opened: Opened, operation: Operation) -> Result<&mut Entry, Refused> {
        if self.is_down || opened.life != self.life {
            return Err(Refused::Down(operation));
        }
        self.files.get_mut(&opened.file).ok_or(Refused::Missing)
    }

    /// Opens a file, or makes one where `creates`; `None` is a file without a name.
    pub(super) fn open(&mut self, name: Option<&str>, creates: bool) -> Result<Opened, Refused> {
        self.begin(Operation::Open)?;
        let found = name.and_then(|name| self.folder.find(name));
        let file = match found {
            Some(file) => file,
            None if creates && self.goes_down() => return Err(Refused::Down(Operation::Open)),
            None if creates || name.is_none() => {
                let file = self.next();
                if let Some(name) = name {
                    self.folder.create(name, file);
                }
                file
            }
            None => return Err(Refused::Missing),
        };
        let handle = self.next();
        self.files.entry(file).or_default().open.push(handle);
        Ok(Opened { handle, file, life: self.life })
    }

    pub(super) fn close(&mut self, opened: Opened) {
        if opened.life != self.life {
            return;
        }
        self.unmap(opened);
        if let Some(entry) = self.files.get_mut(&opened.file) {
            entry.locks.unlock(opened.handle, Level::None);
            entry.open.retain(|handle| *handle != opened.handle);
        }
        self.forget();
    }

    /// Drops files that nobody can reach any more.
    fn forget(&mut self) {
        let folder = &self.folder;
        self.files.retain(|file, entry| !entry.open.is_empty() || folder.may_find(*file));
    }

    pub(super) fn read(
        &mut self,
        opened: Opened,
        offset: usize,
        into: &mut [u8],
    ) -> Result<usize, Refused> {
        let read = self.entry(opened, Operation::Read).map(drop);
        read.and_then(|()| self.begin(Operation::Read))?;
        Ok(self.entry(opened, Operation::Read)?.file.read(offset, into))
    }

    pub(super) fn write(
        &mut self,
        opened: Opened,
        offset: usize,
        bytes: &[u8],
    ) -> Result<(), Refused> {
        self.entry(opened, Operation::Write)?;
        let begun = match self.begin(Operation::Write) {
            Ok(()) if self.goes_down() => Err(Refused::Down(Operation::Write)),
            begun => begun,
        };
        let written = match begun {
            Ok(()) => bytes.len(),
            // A disk without permission writes nothing; otherwise a first part may have got there.
            Err(Refused::Fault(_, Failure::ReadOnly)) => 0,
            Err(_) => self.chance.usize(..bytes.len().max(1)),
        };
        let at = self.next();
        if let (Some(bytes), Some(entry)) = (bytes.get(..written), self.files.get_mut(&opened.file))
            && written > 0
        {
            entry.file.write(at, offset, bytes);
        }
        begun
    }

    pub(super) fn truncate(&mut self, opened: Opened, size: usize) -> Result<(), Refused> {
        self.entry(opened, Operation::Truncate)?;
        self.begin(Operation::Truncate)?;
        let goes_down = self.goes_down();
        let at = self.next();
        if let Some(entry) = self.files.get_mut(&opened.file)
            && !(goes_down && self.chance.bool())
        {
            entry.file.resize(at, size);
        }
        if goes_down { Err(Refused::Down(Operation::Truncate)) } else { Ok(()) }
    }

    /// Makes a file durable, and the folder too where `with_folder`.
    pub(super) fn sync(&mut self, opened: Opened, with_folder: bool) -> Result<(), Refused> {
        self.entry(opened, Operation::Sync)?;
        let begun = match self.begin(Operation::Sync) {
            Ok(()) if self.goes_down() => Err(Refused::Down(Operation::Sync)),
            begun => begun,
        };
        let after = match begun {
            Ok(()) => AfterFailedSync::Durable,
            // The machine went down before the sync ended: a loss of power decides about the rest.
            Err(Refused::Down(_)) => AfterFailedSync::Dirty,
            Err(_) => match self.chance.u8(..4) {
                0 => AfterFailedSync::Durable,
                1 => AfterFailedSync::Dirty,
                2 => AfterFailedSync::Clean,
                _ => AfterFailedSync::Evicted,
            },
        };
        if let Some(entry) = self.files.get_mut(&opened.file) {
            entry.file.fail_to_sync(after);
        }
        begun?;
        if with_folder {
            self.sync_folder();
        }
        Ok(())
    }

    fn sync_folder(&mut self) {
        let failed = self.faults.begin(Operation::SyncFolder);
        debug_assert!(failed.is_none(), "SQLite does not heed a folder that cannot be synced");
        self.folder.sync();
        self.forget();
    }

    /// Makes everything durable, at once and without a fault.
    pub(super) fn sync_all(&mut self) {
        self.folder.sync();
        for entry in self.files.values_mut() {
            entry.file.sync();
        }
        self.forget();
    }

    pub(super) fn size(&mut self, opened: Opened) -> Result<usize, Refused> {
        Ok(self.entry(opened, Operation::Read)?.file.visible().len())
    }

    pub(super) fn delete(&mut self, name: &str, with_folder: bool) -> Result<(), Refused> {
        self.begin(Operation::Delete)?;
        if self.folder.find(name).is_none() {
            return Err(Refused::Missing);
        }
        let goes_down = self.goes_down();
        if !(goes_down && self.chance.bool()) {
            self.folder.delete(name);
        }
        if goes_down {
            return Err(Refused::Down(Operation::Delete));
        }
        if with_folder {
            self.sync_folder();
        }
        self.forget();
        Ok(())
    }

    /// A file's size, if there is one.
    pub(super) fn look(&self, name: &str) -> Option<usize> {
        let file = self.folder.find(name)?;
        self.files.get(&file).map(|entry| entry.file.visible().len())
    }

    /// Every file's name and content.
    pub(super) fn contents(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.folder.names().filter_map(|(name, file)| {
            let entry = self.files.get(&file)?;
            Some((name, entry.file.visible()))
        })
    }

    pub(super) fn lock(&mut self, opened: Opened, level: Level) -> Result<(), Refused> {
        let entry = self.entry(opened, Operation::Open)?;
        entry.locks.lock(opened.handle, level).map_err(|_| Refused::Busy)
    }

    pub(super) fn unlock(&mut self, opened: Opened, level: Level) {
        if let Ok(entry) = self.entry(opened, Operation::Open) {
            entry.locks.unlock(opened.handle, level);
        }
    }

    pub(super) fn is_reserved(&mut self, opened: Opened) -> Result<bool, Refused> {
        Ok(self.entry(opened, Operation::Open)?.locks.is_reserved())
    }

    /// The shared region of this number and size, made where it is missing and `extends`.
    pub(super) fn map(
        &mut self,
        opened: Opened,
        number: usize,
        size: usize,
        extends: bool,
    ) -> Result<Option<Region>, Refused> {
        let shared = &mut self.entry(opened, Operation::Open)?.shared;
        if !shared.mapped.contains(&opened.handle) {
            shared.mapped.push(opened.handle);
        }
        if extends {
            while shared.regions.len() <= number {
                let words = size.div_ceil(size_of::<u64>());
                shared.regions.push((0..words).map(|_| AtomicU64::new(0)).collect());
            }
        }
        Ok(shared.regions.get(number).map(Arc::clone))
    }

    pub(super) fn lock_slots(
        &mut self,
        opened: Opened,
        slots: Range<usize>,
        hold: Hold,
    ) -> Result<(), Refused> {
        let shared = &mut self.entry(opened, Operation::Open)?.shared;
        shared.slots.lock(opened.handle, slots, hold).map_err(|_| Refused::Busy)
    }

    pub(super) fn unlock_slots(&mut self, opened: Opened, slots: Range<usize>) {
        if let Ok(entry) = self.entry(opened, Operation::Open) {
            entry.shared.slots.unlock(opened.handle, slots);
        }
    }

    /// A connection leaves the shared memory; it goes with the last one.
    pub(super) fn unmap(&mut self, opened: Opened) {
        if opened.life != self.life {
            return;
        }
        let Some(entry) = self.files.get_mut(&opened.file) else { return };
        let shared = &mut entry.shared;
        shared.slots.unlock(opened.handle, 0..usize::MAX);
        shared.mapped.retain(|handle| *handle != opened.handle);
        if shared.mapped.is_empty() {
            shared.regions.clear();
        }
    }

    /// After so many more changes the machine goes down in the midst of one.
    pub(super) fn go_down_after(&mut self, changes: u64) {
        self.changes_left = Some(changes);
    }

    /// The next fault is the last thing that happens.
    pub(super) fn go_down_with_fault(&mut self) {
        self.goes_down_with_fault = true;
    }

    pub(super) const fn is_down(&self) -> bool {
        self.is_down
    }

    /// Every process is gone, with its locks and its memory; what was written stays.
    pub(super) fn crash(&mut self) {
        self.life += 1;
        self.is_down = false;
        self.changes_left = None;
        self.goes_down_with_fault = false;
        for entry in self.files.values_mut() {
            entry.open.clear();
            entry.locks = Locks::default();
            entry.shared = Shared::default();
        }
        self.forget();
    }

    /// A crash, with what was not synced at the mercy of `loss`.
    pub(super) fn lose_power(&mut self, loss: Loss) -> Survivors {
        self.crash();
        let mood = Mood::of(loss, &mut self.chance, self.files.values().map(|entry| &entry.file));
        let chance = RefCell::new(&mut self.chance);
        let mut survivors = Survivors::default();
        for entry in self.files.values_mut() {
            let fate = |change: &Change| {
                let fate = mood.fate(change.at, &mut chance.borrow_mut());
                survivors.count(fate);
                fate
            };
            entry.file.lose_power(fate, || chance.borrow_mut().bool());
        }
        self.folder.lose_power(|changes| mood.names(changes, &mut chance.borrow_mut()));
        self.forget();
        survivors
    }

    /// How many changes a loss of power may undo.
    pub(super) fn unsynced(&self) -> usize {
        let changes = self.files.values().map(|entry| entry.file.changes().len());
        changes.sum::<usize>() + self.folder.unsynced()
    }
}
