//! A copy of an archive, on its way to a name of its own.
//!
//! Here belongs what every copy has in common: it is made beside its name to be, is its owner's alone,
//! has its name only once it is on the disk for good, and leaves nothing behind where that fails. Not
//! here: what the copy is for ([`backup`](super::backup)).
//!
//! It is made with `VACUUM INTO` rather than with SQLite's backup interface. Both read one snapshot;
//! but the other begins again whenever another process writes, or else holds its pages back for as
//! long as it takes, and copies what was deleted along with the rest. This one reads every row, and
//! gives a single compact file.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use tempfile::NamedTempFile;
use thiserror::Error;

/// Why there is no copy.
#[derive(Debug, Error)]
pub enum CopyError {
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// `SQLite` cannot read the archive or write the copy.
    #[error(transparent)]
    Store(#[from] rusqlite::Error),
}

/// A copy without its name. Dropped, it is gone.
pub(super) struct Copy {
    file: NamedTempFile,
    to: PathBuf,
}

impl Copy {
    /// Copies an archive, to be called `to` one day.
    pub(super) fn of(archive: &Connection, to: &Path) -> Result<Self, CopyError> {
        let file = tempfile::Builder::new().prefix(".holdfast-copy-").tempfile_in(folder_of(to))?;
        let path = file.path().to_str();
        let path = path.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
        archive.execute("VACUUM INTO ?", [path])?;
        Ok(Self { file, to: to.to_owned() })
    }

    /// Where it is for now.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Changes what is in it.
    pub(super) fn change(
        &self,
        change: impl FnOnce(&mut Connection) -> rusqlite::Result<()>,
    ) -> Result<(), CopyError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(self.path(), flags)?;
        // A change that fails half-way takes the copy with it: nothing needs to be undone, and the
        // disk is asked to keep it once, at the end.
        connection.execute_batch(
            "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA trusted_schema = OFF;",
        )?;
        change(&mut connection)?;
        connection.close().map_err(|(_, error)| error)?;
        Ok(())
    }

    /// Gives it its name, for good, if nothing else has it. Returns its length.
    pub(super) fn keep(self) -> Result<u64, CopyError> {
        let Self { file, to } = self;
        let bytes = sync(&file)?;
        file.persist_noclobber(&to).map_err(|error| error.error)?;
        sync_name(&to).inspect_err(|_| {
            // Better none than one that power loss may take back unnoticed.
            let _ = std::fs::remove_file(&to);
        })?;
        Ok(bytes)
    }

    /// Gives it its name, for good, in place of what had it before.
    pub(super) fn replace(self) -> Result<(), CopyError> {
        let Self { file, to } = self;
        sync(&file)?;
        file.persist(&to).map_err(|error| error.error)?;
        Ok(sync_name(&to)?)
    }
}

fn sync(file: &NamedTempFile) -> io::Result<u64> {
    file.as_file().sync_all()?;
    Ok(file.as_file().metadata()?.len())
}

/// A name is kept by its folder.
fn sync_name(file: &Path) -> io::Result<()> {
    File::open(folder_of(file))?.sync_all()
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
