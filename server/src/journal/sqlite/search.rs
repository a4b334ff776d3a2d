//! The index that conversations are searched by.
//!
//! It holds the tokens of settled asks, question and answer, and not the texts: those are in the asks. To
//! write it takes longer than to settle an ask, so nobody waits for it: an ask that settles is only
//! noted as not indexed, and the index is written behind it, many asks at once, with their texts cut
//! where nothing is written. What is not in it, because it has not settled or only just has, is little,
//! and is looked through directly ([`beside_the_index`]).
//!
//! *Architecture invariant:* an ask that has settled and has a question is either in the index or noted
//! in `unindexed`, and no other is in either.

use std::fmt::Write as _;

use rusqlite::{CachedStatement, Connection, Params, params};

use super::rows::bytes;
use crate::journal::{Key, PrincipalId};
use crate::search::{self, Query, VERSION};

/// How many bits of a row's number are the place in the conversation.
const SEQ_BITS: u32 = 24;
/// How much text is indexed in one go, in bytes: others want to write.
const BATCH_BYTES: usize = 64 * 1024;
/// How many settled asks are looked through at most that are not indexed yet …
const LOOKED_THROUGH: u32 = 4_096;
/// … and how much text, in bytes. Only an archive that is older than the index has more.
const LOOKED_THROUGH_BYTES: usize = 4 * 1024 * 1024;

/// A row of the index: the tokens of an ask, and what tells where they belong.
#[derive(Debug)]
pub(super) struct Doc {
    row: i64,
    question: String,
    answer: String,
}

impl Doc {
    /// The row of an ask at this place of a conversation.
    pub(super) fn new(number: i64, seq: i64, question: &str, answer: &str) -> Self {
        Self { row: row(number, seq), question: tokens(question), answer: tokens(answer) }
    }

    /// Writes it into the index.
    pub(super) fn add(&self, connection: &Connection) -> rusqlite::Result<()> {
        self.run(connection, "INSERT INTO search (rowid, question, answer) VALUES (?, ?, ?)")
    }

    /// Takes it out of the index, which has to be told what is in it.
    pub(super) fn remove(&self, connection: &Connection) -> rusqlite::Result<()> {
        self.run(
            connection,
            "INSERT INTO search (search, rowid, question, answer) VALUES ('delete', ?, ?, ?)",
        )
    }

    /// Whether the index has its row.
    pub(super) fn is_there(&self, connection: &Connection) -> rusqlite::Result<bool> {
        connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM search_docsize WHERE id = ?)")?
            .query_row([self.row], |row| row.get(0))
    }

    fn run(&self, connection: &Connection, sql: &str) -> rusqlite::Result<()> {
        connection
            .prepare_cached(sql)?
            .execute(params![self.row, self.question, self.answer])
            .map(drop)
    }

    /// How many tokens it has, as the index notes it: a variable-length number for each text.
    pub(super) fn sizes(&self) -> Vec<u8> {
        let mut sizes = Vec::new();
        for text in [&self.question, &self.answer] {
            let count = text.split(' ').filter(|token| !token.is_empty()).count();
            // Seven bits a byte, the highest first; all but the last are marked.
            let byte = |seven: usize| u8::try_from(seven & 0x7f).unwrap_or_default();
            let mut groups = vec![byte(count)];
            let mut rest = count >> 7;
            while rest > 0 {
                groups.push(byte(rest) | 0x80);
                rest >>= 7;
            }
            sizes.extend(groups.into_iter().rev());
        }
        sizes
    }

    /// Every token of it.
    pub(super) fn tokens(&self) -> impl Iterator<Item = &str> {
        self.question.split(' ').chain(self.answer.split(' ')).filter(|token| !token.is_empty())
    }
}

/// The number of the row of an ask.
pub(super) const fn row(number: i64, seq: i64) -> i64 {
    (number << SEQ_BITS) | (seq & ((1 << SEQ_BITS) - 1))
}

/// The conversation's number, and the place in it.
const fn number_and_seq(row: i64) -> (i64, i64) {
    (row >> SEQ_BITS, row & ((1 << SEQ_BITS) - 1))
}

/// The tokens of a text, as the index takes them: it splits them at spaces, and at nothing else that
/// could be in them.
fn tokens(text: &str) -> String {
    let mut tokens = String::with_capacity(text.len());
    search::cut(text, |token| {
        if !tokens.is_empty() {
            tokens.push(' ');
        }
        tokens.push_str(&token.text);
        std::ops::ControlFlow::Continue(())
    });
    tokens
}

/// Notes that an ask is to be indexed, if it has settled and has a question.
pub(super) fn note(connection: &Connection, key: Key) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO unindexed (ask)
             SELECT id FROM asks WHERE principal = ? AND request_id = ?
                 AND state = 'settled' AND question IS NOT NULL",
        )?
        .execute(params![key.principal.0, bytes(key.request_id.uuid())])
        .map(drop)
}

/// Notes everything to be indexed anew where another way of cutting texts made the index.
pub(super) fn take_over(connection: &Connection) -> rusqlite::Result<()> {
    let made_by: u32 =
        connection.query_row("SELECT search_version FROM archive", (), |row| row.get(0))?;
    if made_by != VERSION {
        connection.execute("INSERT INTO search (search) VALUES ('delete-all')", ())?;
        connection.execute(
            "INSERT OR IGNORE INTO unindexed (ask)
             SELECT id FROM asks WHERE state = 'settled' AND question IS NOT NULL",
            (),
        )?;
        connection.execute("UPDATE archive SET search_version = ?", [VERSION])?;
    }
    Ok(())
}

/// Some of the asks that are to be indexed, those that settled last among the first.
pub(super) struct Batch(Vec<(i64, Doc)>);

impl Batch {
    /// Cuts the texts of as many asks as are indexed in one go.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut batch = Vec::new();
        let mut statement = connection.prepare_cached(
            "SELECT a.id, c.number, a.seq, a.question, ifnull(a.answer, '')
             FROM unindexed u CROSS JOIN asks a ON a.id = u.ask
                 CROSS JOIN conversations c
                     ON c.principal = a.principal AND c.id = a.conversation_id
             ORDER BY u.ask DESC",
        )?;
        let mut rows = statement.query(())?;
        let mut left = BATCH_BYTES;
        while left > 0
            && let Some(ask) = rows.next()?
        {
            let (question, answer) = (ask.get_ref(3)?.as_str()?, ask.get_ref(4)?.as_str()?);
            batch.push((ask.get(0)?, Doc::new(ask.get(1)?, ask.get(2)?, question, answer)));
            left = left.saturating_sub(question.len() + answer.len());
        }
        Ok(Self(batch))
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes it. What was purged since it was read is noted no more; and no text changes once its ask
    /// has settled.
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut done = connection.prepare_cached("DELETE FROM unindexed WHERE ask = ?")?;
        for (ask, doc) in &self.0 {
            if done.execute([ask])? == 1 {
                doc.add(connection)?;
            }
        }
        Ok(())
    }
}

/// A conversation with a turn that holds what was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Find {
    /// The conversation's number.
    pub(super) number: i64,
    /// The place of the last such turn.
    pub(super) seq: i64,
}

/// The conversations in which an indexed turn holds all of a query, in the order of their numbers;
/// whosever they are.
pub(super) fn find(connection: &Connection, query: &Query) -> rusqlite::Result<Vec<Find>> {
    let mut found: Vec<Find> = Vec::new();
    if query.items().is_empty() {
        return Ok(found);
    }
    let mut statement =
        connection.prepare_cached("SELECT rowid FROM search WHERE search MATCH ?")?;
    let mut rows = statement.query([expression(query)])?;
    while let Some(row) = rows.next()? {
        let (number, seq) = number_and_seq(row.get(0)?);
        match found.last_mut() {
            Some(last) if last.number == number => last.seq = seq,
            _ => found.push(Find { number, seq }),
        }
    }
    Ok(found)
}

/// Adds the asks of a principal that are not in the index and hold all of a query.
pub(super) fn beside_the_index(
    connection: &Connection,
    principal: PrincipalId,
    query: &Query,
    finds: &mut Vec<Find>,
) -> rusqlite::Result<()> {
    // Of those under way the questions are all there is.
    look_through(
        connection.prepare_cached(
            "SELECT c.number, a.seq, a.question, '' FROM asks a INDEXED BY asks_unsettled
                 JOIN conversations c ON c.principal = a.principal AND c.id = a.conversation_id
             WHERE a.principal = ? AND a.state <> 'settled'",
        )?,
        params![principal.0],
        query,
        finds,
    )?;
    look_through(
        connection.prepare_cached(
            "SELECT c.number, a.seq, a.question, ifnull(a.answer, '')
             FROM unindexed u CROSS JOIN asks a ON a.id = u.ask
                 CROSS JOIN conversations c
                     ON c.principal = a.principal AND c.id = a.conversation_id
             WHERE a.principal = ? ORDER BY u.ask DESC LIMIT ?",
        )?,
        params![principal.0, LOOKED_THROUGH],
        query,
        finds,
    )
}

/// Adds those of some asks, each with its conversation's number, its place, its question and its answer,
/// that hold all of a query.
fn look_through(
    mut asks: CachedStatement<'_>,
    params: impl Params,
    query: &Query,
    finds: &mut Vec<Find>,
) -> rusqlite::Result<()> {
    let mut rows = asks.query(params)?;
    let mut left = LOOKED_THROUGH_BYTES;
    while left > 0
        && let Some(row) = rows.next()?
    {
        let (question, answer) = (row.get_ref(2)?.as_str()?, row.get_ref(3)?.as_str()?);
        left = left.saturating_sub(question.len() + answer.len());
        if !query.finds(question, answer) {
            continue;
        }
        let find = Find { number: row.get(0)?, seq: row.get(1)? };
        match finds.binary_search_by_key(&find.number, |find| find.number) {
            Ok(at) => {
                if let Some(found) = finds.get_mut(at) {
                    found.seq = found.seq.max(find.seq);
                }
            }
            Err(at) => finds.insert(at, find),
        }
    }
    Ok(())
}

/// The query in the index's own language: phrases, in quotes, of letters and digits alone.
fn expression(query: &Query) -> String {
    let mut expression = String::new();
    for item in query.items() {
        let and = if expression.is_empty() { "" } else { " AND " };
        let star = if item.is_beginning() { "*" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(expression, "{and}\"{}\"{star}", item.tokens().join(" "));
    }
    expression
}
