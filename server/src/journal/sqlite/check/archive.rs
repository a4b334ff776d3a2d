//! Who the archive is, and whose.

use holdfast_protocol::Owner;
use rusqlite::Connection;

use super::Findings;

pub(super) const NO_IDENTITY: &str = "archive: something is kept in it, and it has no identity";
pub(super) const TWO_IDENTITIES: &str = "archive: it has more than one identity";
pub(super) const UNUSABLE_ID: &str = "archive: its id cannot be part of an owner";
pub(super) const UNCOUNTED: &str = "archive: no process can have counted its epochs and proofs so";
pub(super) const UNTOLD: &str =
    "archive: its confirmed group of writes, or whether it is a backup, is no such thing";
pub(super) const UNUSABLE_PRINCIPAL: &str = "its key cannot be part of an owner, or it has no name";
pub(super) const NO_LOCAL: &str = "archive: its local principal is missing";

/// Examines the two tables that hold next to nothing. Returns whether the archive has an identity.
pub(super) fn examine(connection: &Connection, findings: &mut Findings) -> rusqlite::Result<bool> {
    let is = |sql: &str| connection.query_row(sql, (), |row| row.get::<_, bool>(0));
    let archives: i64 =
        connection.query_row("SELECT count(*) FROM archive", (), |row| row.get(0))?;
    match archives {
        // A crash can come between the first migration and the first start.
        0 => {
            if is("SELECT EXISTS (SELECT 1 FROM asks) OR EXISTS (SELECT 1 FROM conversations)
                       OR EXISTS (SELECT 1 FROM principals)")?
            {
                findings.add(NO_IDENTITY);
            }
        }
        1 => {}
        _ => {
            findings.tables.insert("archive");
            findings.add(TWO_IDENTITIES);
        }
    }
    let mut said = |line, found| {
        if found {
            findings.tables.insert("archive");
            findings.add(line);
        }
    };
    let mut statement = connection.prepare("SELECT id FROM archive")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        said(UNUSABLE_ID, !is_part(row.get_ref(0)?.as_bytes().unwrap_or_default()));
    }
    said(UNCOUNTED, is("SELECT EXISTS (SELECT 1 FROM archive WHERE epoch < 1 OR proofs < 0)")?);
    said(
        UNTOLD,
        is("SELECT EXISTS (SELECT 1 FROM archive
               WHERE confirmed < 0 OR is_backup NOT IN (0, 1))")?,
    );
    said(
        NO_LOCAL,
        archives > 0 && is("SELECT NOT EXISTS (SELECT 1 FROM principals WHERE id = 1)")?,
    );
    let mut statement = connection.prepare("SELECT id, key, name FROM principals")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let [key, name] = [1, 2].map(|at| {
            let value = row.get_ref(at).ok().and_then(|value| value.as_bytes().ok());
            value.unwrap_or_default()
        });
        if !is_part(key) || str::from_utf8(name).is_ok_and(|name| name.trim().is_empty()) {
            findings.tables.insert("principals");
            findings.add(format!("principal {id}: {UNUSABLE_PRINCIPAL}"));
        }
    }
    Ok(archives > 0)
}

/// Whether an owner can be made of this and something else.
fn is_part(bytes: &[u8]) -> bool {
    str::from_utf8(bytes)
        .is_ok_and(|part| !part.contains('.') && format!("{part}.{part}").parse::<Owner>().is_ok())
}
