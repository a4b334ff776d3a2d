//! Connections to the archive's file, each set up as the promise needs it.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

/// The size of an archive's pages, in bytes: SQLite's own choice.
pub(super) const PAGE: u64 = 4096;
/// How long a statement waits for a lock; a backup may hold one for a moment.
pub(super) const BUSY: Duration = Duration::from_secs(5);

/// Where the archive's file is.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: PathBuf,
    /// The VFS it lives in, where that is not the operating system's.
    pub(super) vfs: Option<&'static str>,
}

impl Place {
    /// A connection that may write.
    pub(super) fn writer(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = self.connect(flags)?;
        // `FULL` syncs the log in every commit: what is said to be durable survives power loss.
        connection.execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA trusted_schema = OFF;
             PRAGMA journal_size_limit = 67108864;",
        )?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    }

    /// A connection that only reads.
    pub(super) fn reader(&self) -> rusqlite::Result<Connection> {
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.execute_batch(
            "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -16384;",
        )?;
        Ok(connection)
    }

    /// A connection of somebody who only looks in, beside a process that serves or after one that
    /// crashed. It never creates the archive. It may write so that SQLite can take away the files
    /// that it puts beside an archive for its readers; what a crash has left in the log stays there.
    pub(super) fn visitor(&self) -> rusqlite::Result<Connection> {
        let has_log = self.vfs.is_some() || self.log_has_content();
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log)?;
        connection.execute_batch("PRAGMA trusted_schema = OFF;")?;
        Ok(connection)
    }

    /// Whether the file ends before its first page does, though there is a log that may hold an archive.
    /// SQLite must not be let near it: it takes such a log for another file's, and deletes it.
    pub(super) fn has_lost_its_beginning(&self) -> bool {
        self.is_short() && self.log_has_content()
    }

    /// Whether a log lies beside a file that never had one: a backup, put where another archive was.
    pub(super) fn has_a_strangers_log(&self) -> bool {
        // The version to write it with, by SQLite's file format: 1 is without a log.
        let mut header = [0; 19];
        File::open(&self.file).and_then(|mut file| file.read_exact(&mut header)).is_ok()
            && header.last() == Some(&1)
            && self.log_has_content()
    }

    /// Whether the file ends before its first page does. Like the log, one in a VFS of its own is not
    /// among the operating system's files, which know nothing of it.
    pub(super) fn is_short(&self) -> bool {
        self.vfs.is_none()
            && std::fs::metadata(&self.file).is_ok_and(|metadata| metadata.len() < PAGE)
    }

    /// Whether something was left in the log.
    pub(super) fn log_has_content(&self) -> bool {
        self.log()
            .and_then(|log| std::fs::metadata(log).ok())
            .is_some_and(|metadata| metadata.len() > 0)
    }

    /// Where the log is, if it is among the operating system's files.
    pub(super) fn log(&self) -> Option<PathBuf> {
        if self.vfs.is_some() {
            return None;
        }
        // Where the file is a link, its log is beside what it leads to.
        let file = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
        let mut log = file.into_os_string();
        log.push("-wal");
        Some(log.into())
    }

    fn connect(&self, flags: OpenFlags) -> rusqlite::Result<Connection> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match self.vfs {
            None => Connection::open_with_flags(&self.file, flags),
            Some(vfs) => Connection::open_with_flags_and_vfs(&self.file, flags, vfs),
        }?;
        connection.busy_timeout(BUSY)?;
        // Else a statement is compiled anew whenever a number it is given could change its plan.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(connection)
    }
}
