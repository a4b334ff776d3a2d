//! Pieces of partial text: of asks that are being called, one after another, without a hole.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::Findings;
use super::rule::{Rule, Subject, id};

pub(super) const RULES: &[Rule] = &[
    Rule {
        says: "there is partial text of it, and it is not being called",
        of: Subject::Pieces,
        finds: "SELECT DISTINCT a.request_id FROM pieces p JOIN asks a ON a.id = p.ask
                WHERE a.state <> 'calling'",
    },
    Rule {
        says: "the pieces of its partial text overlap, or some are missing",
        of: Subject::Pieces,
        finds: "SELECT DISTINCT a.request_id FROM
                    (SELECT ask, text_offset,
                            lag(text_offset + octet_length(text), 1, 0)
                                OVER (PARTITION BY ask, kind ORDER BY text_offset) AS follows
                     FROM pieces) p
                    JOIN asks a ON a.id = p.ask
                WHERE p.text_offset <> p.follows",
    },
    Rule {
        says: "a piece of its partial text is empty, or of no known kind",
        of: Subject::Pieces,
        finds: "SELECT DISTINCT a.request_id FROM pieces p JOIN asks a ON a.id = p.ask
                WHERE p.text = '' OR p.kind NOT IN ('answer', 'reasoning')",
    },
];

pub(super) const TEXT_SAYS: &str = "a piece of its partial text is not UTF-8";
pub(super) const STRAY: &str = "archive: there is partial text of no ask";

/// Pieces are text, each on its own, and of an ask.
pub(super) fn examine_texts(
    connection: &Connection,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    let mut strays = false;
    let mut faulty = BTreeSet::new();
    let mut statement = connection
        .prepare("SELECT a.request_id, p.text FROM pieces p LEFT JOIN asks a ON a.id = p.ask")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let ask = id(row.get_ref(0)?);
        if ask.is_empty() {
            strays = true;
        } else if str::from_utf8(row.get_ref(1)?.as_bytes().unwrap_or_default()).is_err()
            && faulty.insert(ask.to_owned())
        {
            findings.add_about(Subject::Pieces, ask, TEXT_SAYS);
            // So that the join of all pieces is not called unreadable as well.
            findings.note(Subject::Ask, ask);
        }
    }
    if strays {
        findings.tables.insert(Subject::Pieces.table());
        findings.add(STRAY);
    }
    Ok(())
}
