//! The index that conversations are searched by.
//!
//! It holds the tokens of every settled ask, question and answer, and not the texts: those are in the
//! asks. Asks that have not settled are few, and are looked through one by one; so an ask is written
//! into the index once, when it settles. What waits to be written is gathered for the whole group, since
//! each write of its own would be a small index of its own, to be merged later.
//!
//! *Architecture invariant:* an ask that has settled, has a question and is not newer than `search_upto`
//! is in the index; and so is no other, save such as are newer. Once everything is indexed no ask is newer.

use std::fmt::Write as _;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::rows::bytes;
use crate::journal::ConversationKey;
use crate::search::{self, Query, VERSION};

/// How many bits of a row's number are the place in the conversation.
const SEQ_BITS: u32 = 24;
/// Every ask there will ever be is indexed when it settles.
pub(super) const COMPLETE: i64 = i64::MAX;
/// How much text is indexed in one go where an archive is older than the index, in bytes.
const BATCH_BYTES: usize = 64 * 1024;

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

/// The row of a settled ask that has a question, if the index is complete up to it.
pub(super) fn doc_of(
    connection: &Connection,
    conversation: ConversationKey,
    seq: u64,
    question: &str,
    answer: &str,
) -> rusqlite::Result<Option<Doc>> {
    let number: Option<i64> = connection
        .prepare_cached(
            "SELECT c.number FROM conversations c, asks a, archive
             WHERE c.principal = ?1 AND c.id = ?2
               AND a.principal = ?1 AND a.conversation_id = ?2 AND a.seq = ?3
               AND a.id <= archive.search_upto",
        )?
        .query_row(params![conversation.principal.0, bytes(conversation.id.uuid()), seq], |row| {
            row.get(0)
        })
        .optional()?;
    let seq = i64::try_from(seq).unwrap_or(i64::MAX);
    Ok(number.map(|number| Doc::new(number, seq, question, answer)))
}

/// Forgets an index that was made by another way of cutting texts.
pub(super) fn take_over(connection: &Connection) -> rusqlite::Result<()> {
    let made_by: u32 =
        connection.query_row("SELECT search_version FROM archive", (), |row| row.get(0))?;
    if made_by != VERSION {
        connection.execute("INSERT INTO search (search) VALUES ('delete-all')", ())?;
        connection.execute("UPDATE archive SET search_version = ?, search_upto = 0", [VERSION])?;
    }
    Ok(())
}

/// Whether every ask is indexed as soon as it settles.
pub(super) fn is_complete(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT search_upto = ? FROM archive", [COMPLETE], |row| row.get(0))
}

/// Indexes some of the asks that an older version has left, in the order of their ids. Whether there may
/// be more.
pub(super) fn catch_up(connection: &Connection) -> rusqlite::Result<bool> {
    let upto: i64 =
        connection.query_row("SELECT search_upto FROM archive", (), |row| row.get(0))?;
    if upto == COMPLETE {
        return Ok(false);
    }
    let mut statement = connection.prepare_cached(
        "SELECT a.id, a.state = 'settled' AND a.question IS NOT NULL, c.number, a.seq, a.question,
                a.answer
         FROM asks a LEFT JOIN conversations c
             ON c.principal = a.principal AND c.id = a.conversation_id
         WHERE a.id > ? ORDER BY a.id",
    )?;
    let mut rows = statement.query([upto])?;
    let (mut last, mut read) = (COMPLETE, 0);
    while let Some(ask) = rows.next()? {
        last = ask.get(0)?;
        if ask.get(1)? {
            let (number, seq) = (ask.get(2)?, ask.get(3)?);
            let answer: Option<String> = ask.get(5)?;
            let doc = Doc::new(number, seq, ask.get_ref(4)?.as_str()?, &answer.unwrap_or_default());
            if !doc.is_there(connection)? {
                doc.add(connection)?;
            }
            read += doc.question.len() + doc.answer.len();
        }
        read += 64;
        if read >= BATCH_BYTES {
            break;
        }
        last = COMPLETE;
    }
    drop(rows);
    connection.execute("UPDATE archive SET search_upto = ?", [last])?;
    Ok(last != COMPLETE)
}

/// A conversation with a turn that holds what was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Find {
    /// The conversation's number.
    pub(super) number: i64,
    /// The place of the last such turn.
    pub(super) seq: i64,
}

/// The conversations in which a settled turn holds all of a query, in the order of their numbers;
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
