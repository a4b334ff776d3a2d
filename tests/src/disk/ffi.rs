//! The one VFS of all simulated disks: SQLite's functions on one side, [`State`]'s on the other.
//!
//! Here belongs nothing but the crossing: pointers to values, [`Refused`] to SQLite's codes. Why not a
//! crate: those there are cannot tell a folder's sync from none, leave chance and time to the operating
//! system, or need a C compiler's library to build.
//!
//! What makes the unsafe code sound: SQLite calls a file's methods only between a successful `xOpen`
//! and its `xClose`, with the very memory that `xOpen` was given, which is as large as `szOsFile` says;
//! buffers are as long as it says; and memory from `xShmMap` is not used after the file is closed, until
//! when the [`Open`] keeps it.

#![expect(unsafe_code, reason = "SQLite's interface to a file system is one of C")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::slice;
use std::sync::Once;
use std::time::Duration;

use rusqlite::ffi;

use super::Disk;
use super::faults::{Failure, Operation};
use super::locks::{Hold, Level};
use super::state::{Opened, Refused, Region, State};

/// Its name, with the zero that SQLite wants.
const NAME: &CStr = c"holdfast-disk";
/// The longest path.
const LONGEST: c_int = 1024;
/// So much shorter than asked are waits for a lock: on a runtime with one thread none would help, on
/// several a moment is enough.
const HURRY: u64 = 100;
/// What SQLite takes for now, whenever it is: 1 January 2026 as a Julian day, and in milliseconds.
const NOW_DAYS: f64 = 2_461_041.5;
const NOW: i64 = 212_633_985_600_000;

/// The name of the VFS that [`Disk`]s are reached by, registered with the first call.
///
/// # Panics
/// If SQLite does not take it, as it does.
pub fn vfs() -> &'static str {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let vfs = Box::leak(Box::new(ffi::sqlite3_vfs {
            iVersion: 2,
            szOsFile: size_of::<OnDisk>().try_into().unwrap_or(c_int::MAX),
            mxPathname: LONGEST,
            pNext: ptr::null_mut(),
            zName: NAME.as_ptr(),
            pAppData: ptr::null_mut(),
            xOpen: Some(open),
            xDelete: Some(delete),
            xAccess: Some(access),
            xFullPathname: Some(full_pathname),
            xDlOpen: None,
            xDlError: None,
            xDlSym: None,
            xDlClose: None,
            xRandomness: Some(randomness),
            xSleep: Some(sleep),
            xCurrentTime: Some(current_time),
            xGetLastError: Some(last_error),
            xCurrentTimeInt64: Some(current_time_millis),
            xSetSystemCall: None,
            xGetSystemCall: None,
            xNextSystemCall: None,
        }));
        // SAFETY: it is whole, and never freed.
        let code = unsafe { ffi::sqlite3_vfs_register(vfs, 0) };
        assert_eq!(code, ffi::SQLITE_OK, "SQLite takes no VFS");
    });
    NAME.to_str().unwrap_or_default()
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// What is in the memory that SQLite keeps for an open file.
#[repr(C)]
struct OnDisk {
    base: ffi::sqlite3_file,
    open: *mut Open,
}

/// An open file.
struct Open {
    disk: Disk,
    opened: Opened,
    /// The folder has to be synced with it the first time, as its name may be new.
    syncs_folder: bool,
    /// Deleted when it is closed.
    deletes: Option<String>,
    /// Memory that SQLite has pointers to.
    regions: Vec<Region>,
}

impl Open {
    fn with<T>(&self, act: impl FnOnce(&mut State, Opened) -> T) -> T {
        act(&mut self.disk.state(), self.opened)
    }
}

/// The open file behind SQLite's pointer.
///
/// # Safety
/// `file` must come from SQLite, in one of the methods of an open file.
unsafe fn of<'a>(file: *mut ffi::sqlite3_file) -> &'a mut Open {
    // SAFETY: `open` put the pointer there, and `close`, after which no method is called, frees it. A
    // connection is used by one thread at a time.
    unsafe { &mut *(*file.cast::<OnDisk>()).open }
}

/// A path as SQLite hands it over.
///
/// # Safety
/// `name` must be null or a string of C that outlives the call.
unsafe fn path<'a>(name: *const c_char) -> Option<&'a str> {
    // SAFETY: as promised.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })?;
    name.to_str().ok()
}

fn code(done: Result<(), Refused>) -> c_int {
    done.map_or_else(code_of, |()| ffi::SQLITE_OK)
}

const fn code_of(refused: Refused) -> c_int {
    match refused {
        Refused::Fault(operation, Failure::Io) | Refused::Down(operation) => match operation {
            Operation::Open => ffi::SQLITE_CANTOPEN,
            Operation::Read => ffi::SQLITE_IOERR_READ,
            Operation::Write => ffi::SQLITE_IOERR_WRITE,
            Operation::Sync | Operation::SyncFolder => ffi::SQLITE_IOERR_FSYNC,
            Operation::Truncate => ffi::SQLITE_IOERR_TRUNCATE,
            Operation::Delete => ffi::SQLITE_IOERR_DELETE,
        },
        Refused::Fault(_, Failure::Full) => ffi::SQLITE_FULL,
        Refused::Fault(_, Failure::ReadOnly) => ffi::SQLITE_READONLY,
        Refused::Fault(_, Failure::CannotOpen) | Refused::Missing => ffi::SQLITE_CANTOPEN,
        Refused::Busy => ffi::SQLITE_BUSY,
    }
}

const fn level(level: c_int) -> Level {
    match level {
        ffi::SQLITE_LOCK_NONE => Level::None,
        ffi::SQLITE_LOCK_SHARED => Level::Shared,
        ffi::SQLITE_LOCK_RESERVED => Level::Reserved,
        ffi::SQLITE_LOCK_PENDING => Level::Pending,
        _ => Level::Exclusive,
    }
}

/// A count or a place, which SQLite never makes negative.
fn size(number: impl TryInto<usize>) -> usize {
    number.try_into().unwrap_or_default()
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite's memory for the file, as large as this; no method may be called if this fails.
    unsafe { (*file).pMethods = ptr::null() };
    // SAFETY: SQLite's string.
    let name = unsafe { path(name) };
    let disk = match name {
        Some(name) => Disk::of(Path::new(name)),
        None => Some(Disk::nameless()),
    };
    let Some(disk) = disk else { return ffi::SQLITE_CANTOPEN };
    let creates = flags & ffi::SQLITE_OPEN_CREATE != 0;
    let opened = disk.state().open(name, creates);
    let opened = match opened {
        Ok(opened) => opened,
        Err(refused) => return code_of(refused),
    };
    let journals =
        ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL;
    let deletes = name.filter(|_| flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0);
    let open = Box::new(Open {
        disk,
        opened,
        // As the VFS for Unix does.
        syncs_folder: creates && flags & journals != 0,
        deletes: deletes.map(str::to_owned),
        regions: Vec::new(),
    });
    let on_disk = OnDisk {
        base: ffi::sqlite3_file { pMethods: &raw const METHODS },
        open: Box::into_raw(open),
    };
    // SAFETY: as above; `flags_out` may be null.
    unsafe {
        file.cast::<OnDisk>().write(on_disk);
        if !flags_out.is_null() {
            *flags_out = flags;
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: made in `open`, and SQLite closes a file once.
    let open = unsafe { Box::from_raw((*file.cast::<OnDisk>()).open) };
    open.with(|state, opened| {
        state.close(opened);
        if let Some(name) = &open.deletes {
            // Whether it is gone already or cannot be deleted: nobody looks for it.
            let _ = state.delete(name, false);
        }
    });
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    into: *mut c_void,
    count: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite's buffer, of `count` bytes.
    let (open, into) =
        unsafe { (of(file), slice::from_raw_parts_mut(into.cast::<u8>(), size(count))) };
    match open.with(|state, opened| state.read(opened, size(offset), into)) {
        Ok(read) if read == into.len() => ffi::SQLITE_OK,
        Ok(_) => ffi::SQLITE_IOERR_SHORT_READ,
        Err(refused) => code_of(refused),
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    from: *const c_void,
    count: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite's buffer, of `count` bytes.
    let (open, from) = unsafe { (of(file), slice::from_raw_parts(from.cast::<u8>(), size(count))) };
    code(open.with(|state, opened| state.write(opened, size(offset), from)))
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, to: ffi::sqlite3_int64) -> c_int {
    // SAFETY: a method of an open file.
    let open = unsafe { of(file) };
    code(open.with(|state, opened| state.truncate(opened, size(to))))
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: a method of an open file.
    let open = unsafe { of(file) };
    let synced = open.with(|state, opened| state.sync(opened, open.syncs_folder));
    open.syncs_folder &= synced.is_err();
    code(synced)
}

unsafe extern "C" fn file_size(
    file: *mut ffi::sqlite3_file,
    into: *mut ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: a method of an open file.
    let open = unsafe { of(file) };
    match open.with(State::size) {
        Ok(size) => {
            // SAFETY: SQLite's number.
            unsafe { *into = size.try_into().unwrap_or(i64::MAX) };
            ffi::SQLITE_OK
        }
        Err(_) => ffi::SQLITE_IOERR_FSTAT,
    }
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, to: c_int) -> c_int {
    // SAFETY: a method of an open file.
    let open = unsafe { of(file) };
    match open.with(|state, opened| state.lock(opened, level(to))) {
        Err(Refused::Down(_)) => ffi::SQLITE_IOERR_LOCK,
        locked => code(locked),
    }
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, to: c_int) -> c_int {
    // SAFETY: a method of an open file.
    let open = unsafe { of(file) };
    open.with(|state, opened| state.unlock(opened, level(to)));
    ffi::SQLITE_OK
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, into: *mut c_int) -> c_int {
    // SAFETY: a method of an open file.
    let open = unsafe { of(file) };
    match open.with(State::is_reserved) {
        Ok(is_reserved) => {
            // SAFETY: SQLite's number.
            unsafe { *into = c_int::from(is_reserved) };
            ffi::SQLITE_OK
        }
        Err(_) => ffi::SQLITE_IOERR_CHECKRESERVEDLOCK,
    }
}

unsafe extern "C" fn file_control(_: *mut ffi::sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_: *mut ffi::sqlite3_file) -> c_int {
    4096
}

/// As the VFS for Unix says, so that SQLite does on both what it does on the other.
unsafe extern "C" fn device_characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE | ffi::SQLITE_IOCAP_SUBPAGE_READ
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    number: c_int,
    bytes: c_int,
    extends: c_int,
    into: *mut *mut c_void,
) -> c_int {
    // SAFETY: a method of an open file.
    let open = unsafe { of(file) };
    let mapped =
        open.with(|state, opened| state.map(opened, size(number), size(bytes), extends != 0));
    let Ok(region) = mapped else { return ffi::SQLITE_IOERR_SHMMAP };
    let address = region.as_deref().and_then(<[_]>::first).map_or(ptr::null_mut(), |first| {
        // The atomics may be changed through this; all of the slice, as the pointer is the slice's.
        ptr::from_ref(first).cast_mut().cast()
    });
    // SAFETY: SQLite's pointer.
    unsafe { *into = address };
    open.regions.extend(region);
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    first: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: a method of an open file.
    let open = unsafe { of(file) };
    let slots = size(first)..size(first + count);
    if flags & ffi::SQLITE_SHM_UNLOCK != 0 {
        open.with(|state, opened| state.unlock_slots(opened, slots));
        return ffi::SQLITE_OK;
    }
    let alone = flags & ffi::SQLITE_SHM_EXCLUSIVE != 0;
    let hold = if alone { Hold::Alone } else { Hold::Together };
    match open.with(|state, opened| state.lock_slots(opened, slots, hold)) {
        Err(Refused::Down(_)) => ffi::SQLITE_IOERR_SHMLOCK,
        locked => code(locked),
    }
}

unsafe extern "C" fn shm_barrier(_: *mut ffi::sqlite3_file) {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, _deletes: c_int) -> c_int {
    // SAFETY: a method of an open file.
    let open = unsafe { of(file) };
    open.with(State::unmap);
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    syncs_folder: c_int,
) -> c_int {
    // SAFETY: SQLite's string.
    let Some(name) = (unsafe { path(name) }) else { return ffi::SQLITE_CANTOPEN };
    let Some(disk) = Disk::of(Path::new(name)) else { return ffi::SQLITE_CANTOPEN };
    match disk.state().delete(name, syncs_folder != 0) {
        Err(Refused::Missing) => ffi::SQLITE_IOERR_DELETE_NOENT,
        deleted => code(deleted),
    }
}

unsafe extern "C" fn access(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    into: *mut c_int,
) -> c_int {
    // SAFETY: SQLite's string.
    let Some(name) = (unsafe { path(name) }) else { return ffi::SQLITE_CANTOPEN };
    let found = Disk::of(Path::new(name)).and_then(|disk| disk.state().look(name));
    // The VFS for Unix takes an empty file for none where it is asked whether there is one.
    let is_there = found.is_some_and(|size| size > 0 || flags != ffi::SQLITE_ACCESS_EXISTS);
    // SAFETY: SQLite's number.
    unsafe { *into = c_int::from(is_there) };
    ffi::SQLITE_OK
}

/// Disks are found by the path as it was given.
unsafe extern "C" fn full_pathname(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    into: *mut c_char,
) -> c_int {
    // SAFETY: SQLite's string, and its buffer of `room` bytes.
    unsafe {
        let bytes = CStr::from_ptr(name).to_bytes_with_nul();
        if bytes.len() > size(room) {
            return ffi::SQLITE_CANTOPEN;
        }
        ptr::copy_nonoverlapping(bytes.as_ptr().cast(), into, bytes.len());
    }
    ffi::SQLITE_OK
}

/// The same every time. SQLite asks the process's default VFS, once; another one is not to bring
/// chance in.
unsafe extern "C" fn randomness(
    _: *mut ffi::sqlite3_vfs,
    count: c_int,
    into: *mut c_char,
) -> c_int {
    // SAFETY: SQLite's buffer, of `count` bytes.
    unsafe { ptr::write_bytes(into, 7, size(count)) };
    count
}

unsafe extern "C" fn sleep(_: *mut ffi::sqlite3_vfs, micros: c_int) -> c_int {
    std::thread::sleep(Duration::from_micros(u64::try_from(micros).unwrap_or_default() / HURRY));
    micros
}

unsafe extern "C" fn current_time(_: *mut ffi::sqlite3_vfs, into: *mut f64) -> c_int {
    // SAFETY: SQLite's number.
    unsafe { *into = NOW_DAYS };
    ffi::SQLITE_OK
}

unsafe extern "C" fn current_time_millis(
    _: *mut ffi::sqlite3_vfs,
    into: *mut ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite's number.
    unsafe { *into = NOW };
    ffi::SQLITE_OK
}

unsafe extern "C" fn last_error(_: *mut ffi::sqlite3_vfs, _: c_int, _: *mut c_char) -> c_int {
    0
}
