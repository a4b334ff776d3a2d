//! The operating system's own VFS, with its syncs counted, and with them left out.
//!
//! ```
//! # use holdfast_tests::disk::system::{Syncs, count, vfs};
//! # use rusqlite::{Connection, OpenFlags};
//! # let folder = tempfile::tempdir()?;
//! let file = folder.path().join("holdfast.db");
//! let before = count(Syncs::Done);
//! let flags = OpenFlags::default();
//! let connection = Connection::open_with_flags_and_vfs(&file, flags, vfs(Syncs::Done))?;
//! connection.execute_batch("CREATE TABLE t (x)")?;
//! assert!(count(Syncs::Done) > before);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! A file that is opened through it is one of SQLite's own VFS in every method but `xSync`, so nothing
//! else is any slower. Not here: files in memory, faults.
//!
//! What makes the unsafe code sound: SQLite's methods get the very memory they filled in themselves,
//! with a table of methods that differs from theirs in one place.

#![expect(unsafe_code, reason = "SQLite's interface to a file system is one of C")]

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use rusqlite::ffi;

/// What is done where SQLite wants to sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syncs {
    /// It is counted and done.
    Done,
    /// It is counted and left out: `synchronous=OFF` without a change in what is under test.
    Skipped,
}

/// One kind of [`Syncs`].
struct Kind {
    name: &'static CStr,
    registered: Once,
    syncs: AtomicU64,
}

static DONE: Kind =
    Kind { name: c"holdfast-counting", registered: Once::new(), syncs: AtomicU64::new(0) };
static SKIPPED: Kind =
    Kind { name: c"holdfast-skipping", registered: Once::new(), syncs: AtomicU64::new(0) };

const fn kind(skips: bool) -> &'static Kind {
    if skips { &SKIPPED } else { &DONE }
}

/// The name of the VFS, registered with the first call.
pub fn vfs(syncs: Syncs) -> &'static str {
    match syncs {
        Syncs::Done => register::<false>(),
        Syncs::Skipped => register::<true>(),
    }
}

/// How often SQLite has synced a file through this VFS, or a folder because it deleted one, in this
/// process so far. (The first sync of a log takes its folder along, and counts once.)
pub fn count(syncs: Syncs) -> u64 {
    kind(syncs == Syncs::Skipped).syncs.load(Ordering::Relaxed)
}

fn register<const SKIPS: bool>() -> &'static str {
    let kind = kind(SKIPS);
    kind.registered.call_once(|| {
        // SAFETY: SQLite's own VFS lives as long as the process; a copy of it, which does too, differs
        // in its name and in two functions that call the original's.
        let code = unsafe {
            let mut vfs = base().read();
            vfs.pNext = ptr::null_mut();
            vfs.zName = kind.name.as_ptr();
            vfs.xOpen = Some(open::<SKIPS>);
            vfs.xDelete = Some(delete::<SKIPS>);
            ffi::sqlite3_vfs_register(Box::leak(Box::new(vfs)), 0)
        };
        assert_eq!(code, ffi::SQLITE_OK, "SQLite takes no VFS");
    });
    kind.name.to_str().unwrap_or_default()
}

/// SQLite's own VFS for this operating system.
fn base() -> *mut ffi::sqlite3_vfs {
    // SAFETY: any name may be asked for.
    let base = unsafe { ffi::sqlite3_vfs_find(c"unix".as_ptr()) };
    assert!(!base.is_null(), "SQLite has no VFS for Unix");
    base
}

/// SQLite's methods of a file, with ours in one place.
#[repr(C)]
struct Methods {
    ours: ffi::sqlite3_io_methods,
    theirs: *const ffi::sqlite3_io_methods,
}

/// The table made from one of SQLite's, each made once: a handful, and never freed.
fn methods<const SKIPS: bool>(
    theirs: *const ffi::sqlite3_io_methods,
) -> *const ffi::sqlite3_io_methods {
    static TABLES: Mutex<BTreeMap<(usize, bool), usize>> = Mutex::new(BTreeMap::new());
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    let table = *tables.entry((theirs.expose_provenance(), SKIPS)).or_insert_with(|| {
        // SAFETY: SQLite's table, which lives as long as the process.
        let ours = ffi::sqlite3_io_methods { xSync: Some(sync::<SKIPS>), ..unsafe { *theirs } };
        let table: *const Methods = Box::leak(Box::new(Methods { ours, theirs }));
        table.expose_provenance()
    });
    ptr::with_exposed_provenance(table)
}

unsafe extern "C" fn open<const SKIPS: bool>(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: the arguments are as SQLite gave them; the copy of the VFS holds what the original does.
    unsafe {
        let Some(open) = (*base()).xOpen else { return ffi::SQLITE_CANTOPEN };
        let code = open(vfs, name, file, flags, flags_out);
        if !(*file).pMethods.is_null() {
            (*file).pMethods = methods::<SKIPS>((*file).pMethods);
        }
        code
    }
}

unsafe extern "C" fn sync<const SKIPS: bool>(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    kind(SKIPS).syncs.fetch_add(1, Ordering::Relaxed);
    if SKIPS {
        return ffi::SQLITE_OK;
    }
    // SAFETY: only `open` puts this function into a file, with the table that it is a part of.
    unsafe {
        let methods = (*file).pMethods.cast::<Methods>();
        (*(*methods).theirs).xSync.map_or(ffi::SQLITE_OK, |sync| sync(file, flags))
    }
}

unsafe extern "C" fn delete<const SKIPS: bool>(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    syncs_folder: c_int,
) -> c_int {
    let syncs_folder = if syncs_folder == 0 {
        0
    } else {
        kind(SKIPS).syncs.fetch_add(1, Ordering::Relaxed);
        c_int::from(!SKIPS)
    };
    // SAFETY: the arguments are as SQLite gave them.
    unsafe { (*base()).xDelete.map_or(ffi::SQLITE_OK, |delete| delete(vfs, name, syncs_folder)) }
}
