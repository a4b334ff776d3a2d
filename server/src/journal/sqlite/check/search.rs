//! The search index: every settled ask is in it, with as many tokens as its texts have, or noted to be put
//! into it; and nothing else is.
//! Whether it is whole in itself is `SQLite`'s to say ([`file`](super::file)).

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::super::search::{self, Doc};
use super::Findings;
use super::rule::{Subject, id};

pub(super) const MISSING: &str = "the search does not know it";
pub(super) const OTHERWISE: &str = "the search knows it with another text";
pub(super) const TWICE: &str = "the search knows it, and is to learn of it again";
pub(super) const STRAY: &str = "archive: the search knows what is not there";

/// Compares the index with what it was made of.
pub(super) fn examine(connection: &Connection, findings: &mut Findings) -> rusqlite::Result<()> {
    let made_by: u32 =
        connection.query_row("SELECT search_version FROM archive", (), |row| row.get(0))?;
    let is_comparable = made_by == crate::search::VERSION;
    let mut indexed: BTreeMap<i64, Vec<u8>> = connection
        .prepare("SELECT id, sz FROM search_docsize")?
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut noted: BTreeSet<i64> = connection
        .prepare("SELECT ask FROM unindexed")?
        .query_map((), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut statement = connection.prepare(
        "SELECT a.request_id, a.id, c.number, a.seq, a.question, ifnull(a.answer, '')
         FROM asks a JOIN conversations c
             ON c.principal = a.principal AND c.id = a.conversation_id
         WHERE a.state = 'settled' AND a.question IS NOT NULL AND a.seq IS NOT NULL",
    )?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let ask = id(row.get_ref(0)?);
        let (number, seq) = (row.get(2)?, row.get(3)?);
        let is_noted = noted.remove(&row.get(1)?);
        match indexed.remove(&search::row(number, seq)) {
            // Of whom something better is known that is not said as well.
            _ if findings.asks.contains(ask) => {}
            None if is_noted => {}
            None => findings.add_about(Subject::Ask, ask, MISSING),
            Some(_) if is_noted => findings.add_about(Subject::Ask, ask, TWICE),
            // What is not text is told of elsewhere.
            Some(sizes)
                if is_comparable
                    && let (Ok(question), Ok(answer)) =
                        (row.get_ref(4)?.as_str(), row.get_ref(5)?.as_str())
                    && Doc::new(number, seq, question, answer).sizes() != sizes =>
            {
                findings.add_about(Subject::Ask, ask, OTHERWISE);
            }
            _ => {}
        }
    }
    if !(indexed.is_empty() && noted.is_empty()) && findings.faults.is_empty() {
        findings.add(STRAY);
    }
    Ok(())
}
