//! Connections to the archive's file, each set up as the promise needs it.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

/// How long a statement waits for a lock; a backup may hold one for a moment.
const BUSY: Duration = Duration::from_secs(5);

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
        connection.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")?;
        Ok(connection)
    }

    fn connect(&self, flags: OpenFlags) -> rusqlite::Result<Connection> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match self.vfs {
            None => Connection::open_with_flags(&self.file, flags),
            Some(vfs) => Connection::open_with_flags_and_vfs(&self.file, flags, vfs),
        }?;
        connection.busy_timeout(BUSY)?;
        Ok(connection)
    }
}
