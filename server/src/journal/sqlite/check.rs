//! Whether an archive is as this version of the journal leaves it.
//!
//! Here belong the walk over an archive, what is found on it, and how that is put into words. The
//! rules themselves are one file a family: the file as `SQLite` sees it ([`file`]), its [`schema`],
//! who it belongs to ([`archive`]), [`conversations`], [`asks`] and their [`outcomes`], [`pieces`] of
//! partial text, the [`search`] index, and whether everything can be [`read`] back. Not here: the log,
//! which has a walk of its own ([`log`](super::log)); mending anything.
//!
//! *Architecture invariant:* a check reads, in one snapshot, and changes nothing. It may look at an
//! archive that another process is writing, and at one that a crash has left.
//!
//! *Architecture invariant:* a fault is a line without questions or answers, so that it can be shown
//! to anybody.

mod archive;
mod asks;
mod conversations;
mod file;
mod outcomes;
mod pieces;
mod read;
mod rule;
mod schema;
mod search;

#[cfg(test)]
pub(super) mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode};
use thiserror::Error;

use self::rule::{Rule, Subject};
use super::connect::Place;
use super::log::find_break;
use super::migrate::{APPLICATION_ID, VERSION};
use super::open::FILE;

/// Lines with one sentence; what a single cause has spoilt a thousand times is counted from there on.
const LINES: usize = 100;

/// There is less than SQLite needs to know a file by.
const CUT_OFF: &str = "archive: the file ends before its first page does";

/// What a check has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// A line each, naming what it is about; empty if the archive is sound.
    pub faults: Vec<String>,
    /// Asks that were looked at.
    pub asks: u64,
    /// Those of them that have no end yet.
    pub unsettled: u64,
    /// Conversations that were looked at.
    pub conversations: u64,
}

impl Checked {
    /// What keeps anything else from being looked at.
    fn only(fault: impl Into<String>) -> Self {
        Self { faults: vec![fault.into()], ..Self::default() }
    }
}

/// Why a check could not be made, in a sentence.
#[derive(Debug, Error)]
pub enum CheckError {
    /// Nothing has ever been kept there.
    #[error("there is no archive in {}", .0.display())]
    Nothing(PathBuf),
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// Another version has written it.
    #[error(
        "{} was written by {} holdfast (format {found}, this one knows {VERSION}), which is the one \
         to check it with",
        path.display(),
        if *found > VERSION { "a newer" } else { "an older" }
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i32,
    },
    /// `SQLite` cannot work on it now.
    #[error("cannot check {}: {source}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What `SQLite` says.
        source: rusqlite::Error,
    },
}

/// Checks the archive in a data folder, whoever is using it.
///
/// # Errors
/// A sentence, where nothing can be said about the archive.
pub fn check(folder: &Path, vfs: Option<&'static str>) -> Result<Checked, CheckError> {
    let place = Place { file: folder.join(FILE), vfs };
    if vfs.is_none() && !is_there(&place.file)? {
        return Err(CheckError::Nothing(folder.to_owned()));
    }
    check_place(&place)
}

/// Checks an archive by its file: a backup, for one.
///
/// # Errors
/// A sentence, where nothing can be said about it.
pub fn check_file(file: &Path) -> Result<Checked, CheckError> {
    if !is_there(file)? {
        let source = io::ErrorKind::NotFound.into();
        return Err(CheckError::Unreadable { path: file.to_owned(), source });
    }
    check_place(&Place { file: file.to_owned(), vfs: None })
}

/// Whether there is a file with anything in it. A crash in the middle of the very first start leaves
/// an empty one.
fn is_there(path: &Path) -> Result<bool, CheckError> {
    let unreadable = |source| CheckError::Unreadable { path: path.to_owned(), source };
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            let place = Place { file: path.to_owned(), vfs: None };
            Ok(metadata.len() > 0 || place.has_lost_its_beginning())
        }
        Ok(metadata) if metadata.is_dir() => Err(unreadable(io::ErrorKind::IsADirectory.into())),
        Ok(_) => Err(unreadable(io::Error::other("it is not a file"))),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(false)
        }
        Err(error) => Err(unreadable(error)),
    }
}

fn check_place(place: &Place) -> Result<Checked, CheckError> {
    if place.has_a_strangers_log() {
        return Ok(Checked::only("archive: the log beside it belongs to another archive"));
    }
    if place.is_short() {
        let left = if place.has_lost_its_beginning() { ", and its log is still there" } else { "" };
        return Ok(Checked::only(format!("{CUT_OFF}{left}")));
    }
    let unreadable = |source| CheckError::Unreadable { path: place.file.clone(), source };
    let damage = find_break(place).map_err(unreadable)?;
    let mut checked = check_rows(place)?;
    if let Some(damage) = damage {
        // First, for it may be why the rest is as it is.
        checked.faults.insert(0, format!("archive: the log {damage}"));
    }
    Ok(checked)
}

/// Checks an archive as far as `SQLite` reads it.
fn check_rows(place: &Place) -> Result<Checked, CheckError> {
    let store = |source| CheckError::Store { path: place.file.clone(), source };
    let walked = place.visitor().and_then(|connection| {
        let snapshot = connection.unchecked_transaction()?;
        let walked = walk(&snapshot, place);
        // Nothing was written; how it ends says nothing about the archive.
        drop(snapshot);
        walked
    });
    match walked {
        Ok(Walked::Checked(checked)) => Ok(checked),
        Ok(Walked::OtherVersion(found)) => {
            Err(CheckError::OtherVersion { path: place.file.clone(), found })
        }
        Ok(Walked::Nothing) => Err(CheckError::Nothing(place.file.clone())),
        Err(error) if is_damage(&error) => {
            let error = printable(&error.to_string());
            Ok(Checked::only(format!("archive: SQLite cannot read it: {error}")))
        }
        Err(error) => Err(store(error)),
    }
}

/// What came of a walk.
enum Walked {
    Checked(Checked),
    OtherVersion(i32),
    /// The first migration was never finished.
    Nothing,
}

fn walk(connection: &Connection, place: &Place) -> rusqlite::Result<Walked> {
    let number = |sql: &str| connection.query_row(sql, (), |row| row.get::<_, i64>(0));
    let version = number("PRAGMA user_version")?;
    let application_id = number("PRAGMA application_id")?;
    let mut findings = Findings::default();
    if number("SELECT count(*) FROM sqlite_schema")? == 0 && (version, application_id) == (0, 0) {
        // What is shorter than a page is nothing to SQLite, and to us an archive that was cut off.
        if place.vfs.is_some() || number("PRAGMA page_count")? > 0 {
            return Ok(Walked::Nothing);
        }
        return Ok(Walked::Checked(Checked::only(CUT_OFF)));
    }
    if application_id != i64::from(APPLICATION_ID) {
        findings.add(format!(
            "archive: it is not marked as Holdfast's (application id {application_id:#x})"
        ));
    } else if let Ok(found @ 1..) = i32::try_from(version)
        && found != VERSION
    {
        return Ok(Walked::OtherVersion(found));
    } else if version != i64::from(VERSION) {
        findings.add(format!("archive: its format is {version}, which no holdfast has written"));
    }
    let is_familiar = schema::compare(connection, &mut findings)?;
    let of_sqlite = findings.or_damage(|_| file::examine(connection))?.unwrap_or_default();
    let mut checked = Checked::default();
    if is_familiar {
        findings.or_damage(|findings| examine(connection, findings))?;
        let counted = findings.or_damage(|_| {
            Ok(Checked {
                asks: number("SELECT count(*) FROM asks")?.unsigned_abs(),
                unsettled: number("SELECT count(*) FROM asks WHERE state <> 'settled'")?
                    .unsigned_abs(),
                conversations: number("SELECT count(*) FROM conversations")?.unsigned_abs(),
                ..Checked::default()
            })
        })?;
        checked = counted.unwrap_or_default();
    } else {
        // Rules would miss a column, or take for ever without an index.
        findings
            .add("archive: what it holds was not examined, for its schema is not the known one");
    }
    checked.faults = findings.with(of_sqlite);
    Ok(Walked::Checked(checked))
}

/// Every family's rules. One that cannot be read does not keep the others from being looked at.
fn examine(connection: &Connection, findings: &mut Findings) -> rusqlite::Result<()> {
    let known = findings.or_damage(|findings| archive::examine(connection, findings))?;
    for rule in file::INDEXES.iter().chain(RULES.iter().copied().flatten()) {
        findings.or_damage(|findings| rule.examine(connection, findings))?;
    }
    findings.or_damage(|findings| conversations::examine_titles(connection, findings))?;
    findings.or_damage(|findings| pieces::examine_texts(connection, findings))?;
    // Last: an ask about which something better is known is not also called unreadable. What waits
    // cannot be read without the archive that knows whether it was confirmed.
    if known == Some(true) {
        findings.or_damage(|findings| read::examine(connection, findings))?;
        findings.or_damage(|findings| search::examine(connection, findings))?;
    }
    Ok(())
}

/// The rules that are a query each, beside those about the file.
const RULES: &[&[Rule]] =
    &[conversations::RULES, asks::RULES, asks::RETRIES, outcomes::RULES, pieces::RULES];

/// A fault that `SQLite` has found by itself.
struct OfSqlite {
    line: String,
    /// Where it is only about what stands in this table, and a rule that names the row says it
    /// better.
    table: Option<String>,
}

/// What was found so far.
#[derive(Default)]
struct Findings {
    faults: Vec<String>,
    /// How many subjects each sentence was said of.
    said: BTreeMap<(Subject, String), usize>,
    /// Asks about which something was found.
    asks: BTreeSet<Vec<u8>>,
    /// Tables about whose rows something was found.
    tables: BTreeSet<&'static str>,
}

impl Findings {
    /// A fault of the archive as a whole.
    fn add(&mut self, line: impl Into<String>) {
        self.faults.push(line.into());
    }

    /// A fault of a row.
    fn add_about(&mut self, subject: Subject, id: &[u8], says: &str) {
        self.note(subject, id);
        let said = self.said.entry((subject, says.to_owned())).or_default();
        *said += 1;
        if *said <= LINES {
            self.faults.push(format!("{} {}: {says}", subject.word(), identity(id)));
        }
    }

    /// A row is faulty: nothing worse needs to be said of it.
    fn note(&mut self, subject: Subject, id: &[u8]) {
        self.tables.insert(subject.table());
        if subject == Subject::Ask {
            self.asks.insert(id.to_owned());
        }
    }

    /// Makes a fault of what damage does to a query.
    fn or_damage<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        match work(self) {
            Ok(done) => Ok(Some(done)),
            Err(error) if is_damage(&error) => {
                let error = printable(&error.to_string());
                let line = format!("archive: not everything in it can be examined: {error}");
                // One page that cannot be read is in the way of many rules.
                if !self.faults.contains(&line) {
                    self.add(line);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Together with what `SQLite` found, as far as nothing better is known.
    fn with(self, of_sqlite: Vec<OfSqlite>) -> Vec<String> {
        let is_said = |table: &String| self.tables.contains(table.as_str());
        let mut lines: Vec<_> = of_sqlite
            .into_iter()
            .filter(|fault| !fault.table.as_ref().is_some_and(is_said))
            .map(|fault| fault.line)
            .collect();
        lines.extend(self.faults);
        for ((subject, says), count) in self.said.iter().filter(|(_, count)| **count > LINES) {
            let more = count - LINES;
            lines.push(format!("and {more} more like it: {} … {says}", subject.word()));
        }
        lines
    }
}

/// An id as it is written everywhere, or what stands in its place.
fn identity(bytes: &[u8]) -> String {
    match uuid::Uuid::from_slice(bytes) {
        Ok(uuid) => uuid.hyphenated().to_string(),
        Err(_) if bytes.is_empty() => "(without an id)".to_owned(),
        Err(_) => bytes.iter().take(32).fold(String::new(), |hex, byte| format!("{hex}{byte:02x}")),
    }
}

/// On one line, whatever a damaged file says of itself.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Whether an error says something about the archive, rather than about the moment.
fn is_damage(error: &rusqlite::Error) -> bool {
    !matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::AuthorizationForStatementDenied
                | ErrorCode::CannotOpen
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DiskFull
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OperationInterrupted
                | ErrorCode::OutOfMemory
                | ErrorCode::PermissionDenied
                | ErrorCode::ReadOnly
                | ErrorCode::SystemIoFailure
        )
    )
}
