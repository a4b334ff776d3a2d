//! Opening the data folder: whether it may be touched, and the one process that may write.
//!
//! Everything that can be refused is refused before the first byte changes on disk.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use thiserror::Error;

use super::backup::before_migration;
use super::connect::Place;
use super::copy::CopyError;
use super::log::{LogBreak, find_break};
use super::migrate::{APPLICATION_ID, VERSION, migrate};

/// The archive's file in the data folder.
pub const FILE: &str = "holdfast.db";
/// Locked as long as a process writes the archive.
const LOCK: &str = "holdfast.lock";
/// How long a start waits for whoever reads what the last process left in the log.
const PATIENCE: Duration = Duration::from_mins(10);
/// Older releases of SQLite can lose committed writes in WAL mode.
const SQLITE_AT_LEAST: i32 = 3_051_003;

/// Why a data folder cannot be used: each a sentence for whoever starts the server.
#[derive(Debug, Error)]
pub enum OpenError {
    /// It cannot be created, read or written.
    #[error("cannot use the data folder {}: {source}", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// Another process has it.
    #[error("another holdfast process is using the data folder {}", .0.display())]
    InUse(PathBuf),
    /// A newer Holdfast has written it.
    #[error(
        "the archive in {} was written by a newer holdfast (format {found}, this one knows {VERSION}); \
         start that one, or name another folder with --data",
        folder.display()
    )]
    Newer {
        /// The folder.
        folder: PathBuf,
        /// The version found.
        found: i32,
    },
    /// The file is something else.
    #[error("{} is not a Holdfast archive; name another folder with --data", .0.display())]
    Foreign(PathBuf),
    /// It is of an older version, and cannot be copied before it is brought up to date.
    #[error(
        "the archive in {} is of an older version, and was left as it is, for no backup of it can be \
         made: {source}",
        folder.display()
    )]
    NoBackup {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: CopyError,
    },
    /// A backup was put where another archive was.
    #[error(
        "the log in {} (holdfast.db-wal) belongs to another archive than the one beside it; a backup \
         goes into an empty data folder",
        .0.display()
    )]
    StrangersLog(PathBuf),
    /// The log is damaged, and something was committed behind that.
    #[error(
        "the log of the archive in {} {damage}, which SQLite would drop without a word; nothing was \
         changed: keep a copy of the folder, and go back to a backup, or go on without them by cutting \
         it off there (truncate -s {} holdfast.db-wal), after which what was in them may be asked, and \
         paid for, once more",
        folder.display(),
        damage.at
    )]
    BrokenLog {
        /// The folder.
        folder: PathBuf,
        /// Where.
        damage: LogBreak,
    },
    /// There is a log without its archive.
    #[error(
        "the archive in {} has lost its beginning, and its log is still there; keep a copy of the \
         folder, and go back to a backup or name another folder with --data",
        .0.display()
    )]
    Headless(PathBuf),
    /// A backup or a check holds on to what the last process left in the log.
    #[error(
        "the archive in {} is being read, as holdfast backup and holdfast check do; start again when \
         that has ended",
        .0.display()
    )]
    BeingRead(PathBuf),
    /// SQLite is too old.
    #[error("this binary was linked with SQLite {0}, which can lose what it has committed")]
    OldSqlite(&'static str),
    /// SQLite cannot open it.
    #[error("cannot open the archive in {}: {source}", folder.display())]
    Store {
        /// The folder.
        folder: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
}

/// A data folder that this process alone may write, with its connection.
pub(super) struct Opened {
    pub(super) connection: Connection,
    pub(super) lock: File,
    pub(super) place: Place,
}

/// Opens the archive in `folder`, creating both where they are missing.
pub(super) fn open(folder: &Path, vfs: Option<&'static str>) -> Result<Opened, OpenError> {
    if rusqlite::version_number() < SQLITE_AT_LEAST {
        return Err(OpenError::OldSqlite(rusqlite::version()));
    }
    let place = Place { file: folder.join(FILE), vfs };
    let file = &place.file;
    inspect(folder, &place)?;
    create_folder(folder)?;
    let lock = lock(folder)?;
    match find_break(&place) {
        Ok(None) => {}
        Ok(Some(damage)) => {
            return Err(OpenError::BrokenLog { folder: folder.to_owned(), damage });
        }
        Err(source) => return Err(OpenError::Folder { path: folder.to_owned(), source }),
    }
    // SQLite gives its other files the permissions of this one.
    create_private(file).map_err(|source| OpenError::Folder { path: file.clone(), source })?;
    let store = |source| OpenError::Store { folder: folder.to_owned(), source };
    let has_log = place.log_has_content();
    let mut connection = place.writer().map_err(store)?;
    // What is refused from here on has its log left alone.
    let leave_log = |connection: &Connection, leave| {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leave).map(drop)
    };
    leave_log(&connection, has_log).map_err(store)?;
    // The header may not have it yet: a migration stands in the log first.
    let found = connection.query_row("PRAGMA user_version", (), |row| row.get(0)).map_err(store)?;
    if found > VERSION {
        return Err(OpenError::Newer { folder: folder.to_owned(), found });
    }
    // A simulated disk has no place for one, and nobody who would go back to it.
    if vfs.is_none() {
        before_migration(&connection, file)
            .map_err(|source| OpenError::NoBackup { folder: folder.to_owned(), source })?;
    }
    migrate(&mut connection).map_err(store)?;
    // What the last process left in the log may never have reached the disk, though it can be read: a
    // sync that failed leaves it so. Nothing may be appended to it before it is safe elsewhere. This
    // also brings the version into the file's header, where `inspect` finds it.
    if !put_log_away(&connection, PATIENCE).map_err(store)? {
        return Err(OpenError::BeingRead(folder.to_owned()));
    }
    leave_log(&connection, false).map_err(store)?;
    Ok(Opened { connection, lock, place })
}

/// Moves what is in the log into the file. Whether that could be done before the patience was over: a
/// backup or a check may hold on to the log for as long as it takes.
pub(super) fn put_log_away(connection: &Connection, patience: Duration) -> rusqlite::Result<bool> {
    let begun = Instant::now();
    let mut has_said = false;
    // Each time it waits for as long as any statement waits for a lock.
    while connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0))? {
        if begun.elapsed() >= patience {
            return Ok(false);
        }
        if !std::mem::replace(&mut has_said, true) {
            tracing::warn!("waiting for holdfast backup or holdfast check to end");
        }
    }
    Ok(true)
}

/// Reads the header of the file without SQLite, which would leave files of its own beside it.
fn inspect(folder: &Path, place: &Place) -> Result<(), OpenError> {
    let file = &place.file;
    // A pipe, for one, would be waited for.
    if fs::metadata(file).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return Err(OpenError::Foreign(file.clone()));
    }
    if place.has_lost_its_beginning() {
        return Err(OpenError::Headless(folder.to_owned()));
    }
    if place.has_a_strangers_log() {
        return Err(OpenError::StrangersLog(folder.to_owned()));
    }
    let mut header = [0; 100];
    match File::open(file).and_then(|mut file| file.read_exact(&mut header)) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        // A crash may have left an archive without its first page.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && is_empty(file) => {
            return Ok(());
        }
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(OpenError::Foreign(file.to_owned()));
        }
        Err(source) => return Err(OpenError::Folder { path: file.to_owned(), source }),
    }
    let [version, application_id] = [60, 68].map(|at| {
        let bytes = header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, i32::from_be_bytes)
    });
    if !header.starts_with(b"SQLite format 3\0") || ![0, APPLICATION_ID].contains(&application_id) {
        return Err(OpenError::Foreign(file.to_owned()));
    }
    if version > VERSION {
        return Err(OpenError::Newer { folder: folder.to_owned(), found: version });
    }
    // Without our mark it may be an archive whose first migration a crash cut off, or anything else.
    let store = |source| OpenError::Store { folder: folder.to_owned(), source };
    if application_id == 0 && has_tables(file).map_err(store)? {
        return Err(OpenError::Foreign(file.to_owned()));
    }
    Ok(())
}

fn is_empty(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|metadata| metadata.len() == 0)
}

fn has_tables(file: &Path) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema)";
    let place = Place { file: file.to_owned(), vfs: None };
    place.reader()?.query_row(sql, (), |row| row.get(0))
}

/// Questions and answers are nobody else's business.
fn create_folder(folder: &Path) -> Result<(), OpenError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|source| OpenError::Folder { path: folder.to_owned(), source })
}

fn lock(folder: &Path) -> Result<File, OpenError> {
    let path = folder.join(LOCK);
    let refused = |source| OpenError::Folder { path: path.clone(), source };
    let file = create_private(&path).map_err(refused)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(folder.to_owned())),
        Err(TryLockError::Error(source)) => Err(refused(source)),
    }
}

/// Opens a file that is its owner's alone, creating it where it is missing. An operator who has given
/// an existing one other permissions meant to.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
