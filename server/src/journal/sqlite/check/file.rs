//! The file as `SQLite` sees it: pages, trees, indexes, types and references.

use rusqlite::Connection;

use super::rule::{Rule, Subject};
use super::{OfSqlite, printable};

/// What `SQLite` does not look for: entries of a partial index whose rows do not belong in it any more.
/// A query that the index answers would take them for what it asks for.
pub(super) const INDEXES: &[Rule] = &[
    Rule {
        says: "the index of unsettled asks has it, and it has settled",
        of: Subject::Ask,
        finds: "SELECT request_id FROM asks INDEXED BY asks_unsettled WHERE state <> 'settled'
                EXCEPT SELECT request_id FROM asks NOT INDEXED WHERE state <> 'settled'",
    },
    Rule {
        says: "the index of repetitions has it, and it repeats nothing",
        of: Subject::Ask,
        finds: "SELECT request_id FROM asks INDEXED BY asks_by_retry_of WHERE retry_of IS NOT NULL
                EXCEPT SELECT request_id FROM asks NOT INDEXED WHERE retry_of IS NOT NULL",
    },
];

/// Runs `SQLite`'s own checks.
pub(super) fn examine(connection: &Connection) -> rusqlite::Result<Vec<OfSqlite>> {
    let mut faults = Vec::new();
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let said = String::from_utf8_lossy(row.get_ref(0)?.as_bytes().unwrap_or_default());
        // One row may hold several lines.
        for line in said.lines().filter(|line| !line.is_empty() && *line != "ok") {
            let table = table_of(line).map(str::to_owned);
            faults.push(OfSqlite { line: format!("archive: {}", printable(line)), table });
        }
    }
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let [table, parent] = [0, 2].map(|at| {
            let bytes = row.get_ref(at).ok().and_then(|value| value.as_bytes().ok());
            String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
        });
        let line = format!("archive: a row of {table} refers to one of {parent} that is missing");
        faults.push(OfSqlite { line: printable(&line), table: Some(table) });
    }
    Ok(faults)
}

/// The table whose contents, not whose pages, a line of the integrity check is about.
fn table_of(line: &str) -> Option<&str> {
    if let Some(table) = line.strip_prefix("CHECK constraint failed in ") {
        return Some(table);
    }
    let (_, column) = line.split_once(" value in ")?;
    column.split_once('.').map(|(table, _)| table)
}
