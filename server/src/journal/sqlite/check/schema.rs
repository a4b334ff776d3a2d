//! The schema: that which the migrations give, and nothing else.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::super::migrate::migrate;
use super::{Findings, printable};

/// What `SQLite` says of each table and index: its kind, and how it was made.
type Schema = BTreeMap<String, (String, Option<String>)>;

/// Compares the schema with that of a new archive. Returns whether all of that is there; what is there
/// beside it harms no rule.
pub(super) fn compare(connection: &Connection, findings: &mut Findings) -> rusqlite::Result<bool> {
    let mut fresh = Connection::open_in_memory()?;
    migrate(&mut fresh)?;
    let expected = read(&fresh)?;
    let found = read(connection)?;
    let mut is_familiar = true;
    for (name, made) in &expected {
        let (kind, _) = made;
        let says = match found.get(name) {
            Some(found) if found == made => continue,
            Some(_) => "is not as this version makes it",
            None => "is missing",
        };
        is_familiar = false;
        findings.add(format!("archive: {kind} {name} {says}"));
    }
    for (name, (kind, _)) in found.iter().filter(|(name, _)| !expected.contains_key(*name)) {
        // Statistics for the query planner are SQLite's own business.
        if !name.starts_with("sqlite_stat") {
            let line = format!("archive: {kind} {name} does not belong there");
            findings.add(printable(&line));
        }
    }
    Ok(is_familiar)
}

fn read(connection: &Connection) -> rusqlite::Result<Schema> {
    let text = |row: &rusqlite::Row<'_>, at| {
        let bytes = row.get_ref(at)?.as_bytes_or_null().unwrap_or_default();
        Ok::<_, rusqlite::Error>(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    };
    connection
        .prepare("SELECT name, type, sql FROM sqlite_schema")?
        .query_map((), |row| {
            let name = text(row, 0)?.unwrap_or_default();
            Ok((name, (text(row, 1)?.unwrap_or_default(), text(row, 2)?)))
        })?
        .collect()
}
