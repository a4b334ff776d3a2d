//! A disk for SQLite that can lose power, fill up and fail, owned by a seed.
//!
//! ```
//! # use holdfast_tests::disk::{self, Disk, Fault, Failure, Loss, Operation};
//! # use rusqlite::{Connection, OpenFlags};
//! let disk = Disk::new(1);
//! let file = disk.folder().join("holdfast.db");
//! let connection = Connection::open_with_flags_and_vfs(&file, OpenFlags::default(), disk::vfs())?;
//! connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x)")?;
//!
//! disk.fail(Fault::once(Operation::Sync, 1, Failure::Io));
//! connection.execute_batch("PRAGMA synchronous = FULL; INSERT INTO t VALUES (1)").unwrap_err();
//!
//! disk.lose_power(Loss::Chance); // whatever was not synced is at the seed's mercy
//! drop(connection); // of a machine that is down: it changes nothing any more
//! # Ok::<_, rusqlite::Error>(())
//! ```
//!
//! Here belong the disk itself ([`Disk`], all in memory, with one VFS for all disks of the process)
//! and a thin layer over the operating system's VFS that counts syncs and can leave them out
//! ([`system`]). Not here: what a journal must do about any of it.
//!
//! *Architecture invariant:* the same seed and the same operations give the same disk: no wall clock,
//! and no chance but the disk's own. (SQLite draws the salts of its log from a generator of its own,
//! one for the process, which no disk can seed; nothing a disk decides depends on them.)
//!
//! *Architecture invariant:* only `ffi` and [`system`] are unsafe, and they decide nothing.

mod faults;
mod ffi;
mod file;
mod folder;
mod locks;
mod power;
mod state;
pub mod system;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tempfile::TempDir;

pub use faults::{Failure, Fault, Operation};
pub use ffi::vfs;
pub use power::{Loss, Survivors};

use self::state::State;

/// A disk. Clones are the same; its files go with the last one.
#[derive(Clone, Debug)]
pub struct Disk(Arc<Platter>);

#[derive(Debug)]
struct Platter {
    state: Mutex<State>,
    folder: PathBuf,
    /// The folder itself, where it is the disk's own.
    _folder: Option<TempDir>,
}

/// Every disk there is, by its folder.
static DISKS: Mutex<BTreeMap<PathBuf, Weak<Platter>>> = Mutex::new(BTreeMap::new());

impl Disk {
    /// A disk with a folder of its own, which exists and stays empty unless somebody goes past
    /// SQLite, as whoever takes a lock on the data folder does.
    ///
    /// # Panics
    /// If no folder can be made.
    pub fn new(seed: u64) -> Self {
        // In memory where there is such a place: thousands of simulated worlds have one each.
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = tempfile::Builder::new().prefix("holdfast-disk-").tempdir_in(place);
        let folder = folder.unwrap_or_else(|error| panic!("no folder for a disk: {error}"));
        Self::mount(folder.path().to_owned(), Some(folder), seed)
    }

    /// A disk that holds what SQLite keeps in this folder, and in those below it.
    pub fn at(folder: &Path, seed: u64) -> Self {
        Self::mount(folder.to_owned(), None, seed)
    }

    fn mount(folder: PathBuf, own: Option<TempDir>, seed: u64) -> Self {
        let state = Mutex::new(State::new(seed));
        let platter = Arc::new(Platter { state, folder: folder.clone(), _folder: own });
        let mut disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
        disks.retain(|_, disk| disk.strong_count() > 0);
        disks.insert(folder, Arc::downgrade(&platter));
        Self(platter)
    }

    /// The disk that a path lies on.
    fn of(path: &Path) -> Option<Self> {
        let disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
        path.ancestors().find_map(|folder| disks.get(folder)?.upgrade()).map(Self)
    }

    /// A disk for files without a name, which nothing ever happens to.
    fn nameless() -> Self {
        let state = Mutex::new(State::new(0));
        Self(Arc::new(Platter { state, folder: PathBuf::new(), _folder: None }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is whole between any two of its changes.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder whose files are on this disk.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// As `kill -9` leaves it: what was written is there, synced or not, and locks are gone.
    /// Connections opened before are dead: whatever they do fails, and changes nothing.
    pub fn crash(&self) {
        self.state().crash();
    }

    /// As a loss of power leaves it: a crash, and what was not synced is gone as `loss` says.
    pub fn lose_power(&self, loss: Loss) -> Survivors {
        self.state().lose_power(loss)
    }

    /// Makes everything durable, as `sync(1)` does.
    pub fn sync(&self) {
        self.state().sync_all();
    }

    /// The machine goes down in the midst of a change (a write, a sync, a file made, deleted or cut)
    /// after so many more have been made. From then on everything fails, until [`Disk::crash`] or
    /// [`Disk::lose_power`] says what is left.
    pub fn go_down_after(&self, changes: u64) {
        self.state().go_down_after(changes);
    }

    /// The next fault that strikes is the last thing that happens: after it everything fails, until
    /// [`Disk::crash`] or [`Disk::lose_power`] says what is left.
    pub fn go_down_with_fault(&self) {
        self.state().go_down_with_fault();
    }

    /// Whether the machine has gone down.
    pub fn is_down(&self) -> bool {
        self.state().is_down()
    }

    /// Makes an operation fail. A write that fails may have left a first part of itself, unless the
    /// disk is read-only. A sync that fails has left everything durable, or nothing; and if nothing,
    /// a later one writes it, or not, as the cache takes it for clean and may even have dropped it.
    pub fn fail(&self, fault: Fault) {
        self.state().faults.add(fault);
    }

    /// Nothing fails any more, also not what was to fail later.
    pub fn lift(&self) {
        self.state().faults.lift();
    }

    /// Whether anything is to fail.
    pub fn is_troubled(&self) -> bool {
        self.state().faults.are_waiting()
    }

    /// How often SQLite has done this so far, failures included.
    pub fn count(&self, operation: Operation) -> u64 {
        self.state().faults.count(operation)
    }

    /// How many operations have been made to fail so far.
    pub fn struck(&self) -> u64 {
        self.state().faults.struck()
    }

    /// How many changes a loss of power may undo.
    pub fn unsynced(&self) -> usize {
        self.state().unsynced()
    }

    /// The names of the files, and how long they are.
    pub fn files(&self) -> Vec<(String, usize)> {
        let state = self.state();
        state.contents().map(|(name, content)| (name.to_owned(), content.len())).collect()
    }

    /// Copies the files, as they are now, to a folder of the operating system: for tools that know no
    /// simulated disk.
    ///
    /// # Errors
    /// If they cannot be written there.
    pub fn copy_to(&self, folder: &Path) -> io::Result<()> {
        for (name, content) in self.state().contents() {
            let name = Path::new(name).strip_prefix(&self.0.folder).unwrap_or(Path::new(name));
            std::fs::write(folder.join(name), content)?;
        }
        Ok(())
    }
}
