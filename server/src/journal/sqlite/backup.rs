//! Backups: a copy of an archive while it is being served or not, and what an archive that is opened
//! from one must do first.
//!
//! Not here: how a file is copied ([`copy`](super::copy)).
//!
//! *Architecture invariant:* an archive and its backup never count as the same. The archive that is
//! opened from a backup gets an id of its own, so that no page resubmits to it what it was never told
//! of; and what waits in it is not run, for the original may have run it.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, ErrorCode, InterruptHandle, params};
use thiserror::Error;

use super::check::{CheckError, check_file};
use super::connect::Place;
use super::copy::{Copy, CopyError};
use super::log::find_break;
use super::migrate::{APPLICATION_ID, VERSION, migrate};
use super::open::FILE;
use crate::clock::{Clock as _, SystemClock};

/// What became of an ask that waited when its archive was backed up.
const WAITED: &str = "This archive was restored from a backup that was made while this question \
                      waited. The archive it was copied from may have answered it since, which may \
                      have been billed.";

/// Why no backup was made, in a sentence. Nothing is left of it.
#[derive(Debug, Error)]
pub enum BackupError {
    /// Nothing has ever been kept there.
    #[error("there is no archive in {}", .0.display())]
    Nothing(PathBuf),
    /// The file is something else.
    #[error("{} is not a Holdfast archive", .0.display())]
    Foreign(PathBuf),
    /// A newer Holdfast has written it.
    #[error(
        "{} was written by a newer holdfast (format {found}, this one knows {VERSION}), which is the \
         one to back it up with",
        path.display()
    )]
    Newer {
        /// The archive.
        path: PathBuf,
        /// Its format.
        found: i32,
    },
    /// There is something of that name.
    #[error("{} is there already; name a file that is not", .0.display())]
    Exists(PathBuf),
    /// The archive cannot be read, or the copy cannot be written.
    #[error("cannot back {} up to {}: {source}", archive.display(), to.display())]
    Failed {
        /// The archive.
        archive: PathBuf,
        /// The file that was to be.
        to: PathBuf,
        /// Why.
        source: CopyError,
    },
    /// The copy is not what an archive should be.
    #[error(
        "{} is not sound, and nothing was written: {first} (holdfast check says more; to keep what \
         there is, stop holdfast and copy the whole data folder)",
        archive.display()
    )]
    Unsound {
        /// The archive.
        archive: PathBuf,
        /// The first fault that was found.
        first: String,
    },
    /// It was told to stop.
    #[error("stopped; there is no backup")]
    Stopped,
    /// Whether the copy is sound cannot be found out.
    #[error(transparent)]
    Unchecked(#[from] CheckError),
}

/// A backup that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackedUp {
    /// Asks in it.
    pub asks: u64,
    /// Its length.
    pub bytes: u64,
}

/// Copies the archive in a data folder, whoever is using it, to a file that must not be there yet.
///
/// # Errors
/// A sentence. Nothing is left of the copy.
pub fn backup(folder: &Path, to: &Path, stop: &Stop) -> Result<BackedUp, BackupError> {
    let place = Place { file: folder.join(FILE), vfs: None };
    let nothing = || BackupError::Nothing(folder.to_owned());
    // SQLite would make nothing of it, and a link to nowhere is nothing as well.
    if fs::metadata(&place.file).map_or(0, |metadata| metadata.len()) == 0 {
        return Err(nothing());
    }
    if place.is_short() || place.has_a_strangers_log() {
        return Err(BackupError::Foreign(place.file));
    }
    if to.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(to.to_owned()));
    }
    let failed =
        |source| BackupError::Failed { archive: place.file.clone(), to: to.to_owned(), source };
    if let Some(damage) = find_break(&place).map_err(|error| failed(error.into()))? {
        let first = format!("archive: the log {damage}");
        return Err(BackupError::Unsound { archive: place.file, first });
    }
    let archive = place.visitor().map_err(|error| failed(error.into()))?;
    match kind(&archive).map_err(|error| failed(error.into()))? {
        Kind::Ours => {}
        Kind::Newer(found) => return Err(BackupError::Newer { path: place.file, found }),
        Kind::Nothing => return Err(nothing()),
        Kind::Foreign => return Err(BackupError::Foreign(place.file)),
    }
    stop.reaches(&archive);
    let copy = Copy::of(&archive, to).map_err(failed);
    stop.heed()?;
    let copy = copy?;
    drop(archive);
    // Of an older archive too, a backup is one that this version reads.
    copy.change(|copy| migrate(copy).and_then(|_| mark(copy, VERSION))).map_err(failed)?;
    let checked = check_file(copy.path())?;
    if let Some(first) = checked.faults.into_iter().next() {
        return Err(BackupError::Unsound { archive: place.file, first });
    }
    stop.heed()?;
    let bytes = copy.keep().map_err(failed)?;
    Ok(BackedUp { asks: checked.asks, bytes })
}

/// Stops a backup that somebody else is making.
#[derive(Default)]
pub struct Stop {
    is_asked: AtomicBool,
    copying: Mutex<Option<InterruptHandle>>,
}

impl Stop {
    /// The backup ends before long, and leaves nothing behind.
    pub fn stop(&self) {
        self.is_asked.store(true, Ordering::SeqCst);
        if let Some(copying) = &*self.copying() {
            copying.interrupt();
        }
    }

    fn reaches(&self, archive: &Connection) {
        *self.copying() = Some(archive.get_interrupt_handle());
    }

    fn heed(&self) -> Result<(), BackupError> {
        if self.is_asked.load(Ordering::SeqCst) { Err(BackupError::Stopped) } else { Ok(()) }
    }

    fn copying(&self) -> MutexGuard<'_, Option<InterruptHandle>> {
        // Nothing that holds it panics.
        self.copying.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a file with something in it is.
enum Kind {
    Ours,
    Newer(i32),
    /// A crash cut off its first migration.
    Nothing,
    Foreign,
}

fn kind(archive: &Connection) -> rusqlite::Result<Kind> {
    let number = |sql: &str| archive.query_row(sql, (), |row| row.get::<_, i32>(0));
    let marks = || Ok((number("PRAGMA application_id")?, number("PRAGMA user_version")?));
    Ok(match marks() {
        Ok((APPLICATION_ID, found)) if found > VERSION => Kind::Newer(found),
        Ok((APPLICATION_ID, 1..)) => Kind::Ours,
        Ok((0, 0)) if number("SELECT count(*) FROM sqlite_schema")? == 0 => Kind::Nothing,
        Ok(_) => Kind::Foreign,
        Err(error) if is_foreign(&error) => Kind::Foreign,
        Err(error) => return Err(error),
    })
}

fn is_foreign(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::NotADatabase)
}

/// Makes a backup of a copy in this format. What waits in it has an end there, for the archive it was
/// copied from goes on with it; so has a run that cannot be billed, and would be repeated after a
/// crash: whoever opens the backup may have another provider.
fn mark(copy: &Connection, version: i32) -> rusqlite::Result<()> {
    let waits = "state = 'accepted' OR state = 'calling' AND NOT billable";
    copy.execute_batch(&format!(
        "DELETE FROM pieces WHERE ask IN (SELECT id FROM asks WHERE {waits})"
    ))?;
    if version > 2 {
        // Nobody writes the search index here: what is settled here is indexed by whoever opens it.
        copy.execute_batch(&format!(
            "INSERT INTO unindexed (ask)
             SELECT id FROM asks WHERE ({waits}) AND question IS NOT NULL"
        ))?;
    }
    copy.execute(
        &format!(
            "UPDATE asks SET state = 'settled', status = 'interrupted', settled_at = ?,
                 error_code = 'server_restarted', error_retryable = TRUE, error_message = ?,
                 provider_calls = 0
             WHERE {waits}"
        ),
        params![SystemClock.now().millis(), WAITED],
    )?;
    copy.execute_batch(if version > 1 {
        "UPDATE asks SET silent_until = NULL, run_until = NULL WHERE state = 'settled';
         UPDATE archive SET is_backup = 1"
    } else {
        // The first format knew no backups, so that it is another archive at once.
        "UPDATE archive SET id = id || '-v1'"
    })
}

/// Keeps an archive as it is in an older format, beside it, before it is brought up to date. What an
/// attempt that was cut off has left of such a copy is replaced.
pub(super) fn before_migration(archive: &Connection, file: &Path) -> Result<(), CopyError> {
    let version = archive.query_row("PRAGMA user_version", (), |row| row.get(0))?;
    if !(1..VERSION).contains(&version) {
        return Ok(());
    }
    let copy = Copy::of(archive, &file.with_file_name(format!("holdfast-v{version}.db")))?;
    copy.change(|copy| mark(copy, version))?;
    copy.replace()
}

/// Makes an archive of its own of a backup that is being opened.
pub(super) fn take_over(archive: &Connection, id: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE archive SET id = ?, is_backup = 0 WHERE is_backup = 1";
    archive.execute(sql, [id]).map(drop)
}
