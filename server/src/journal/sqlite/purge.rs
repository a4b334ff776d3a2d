//! Deleting a conversation: hiding it, bringing it back, and taking away what it held, to the last byte.
//!
//! A purge takes the texts out of the tables and their tokens out of the index. `SQLite` leaves copies of
//! both behind: in pages that are free, in the gaps of pages whose rows were moved to a neighbour, in the
//! log. So what follows is a scrub ([`Writer::scrub`](super::writer)): the file is written anew from what
//! there still is, and the log is emptied. Neither has to be hoped for: an archive remembers that it is
//! owed one until it is done.
//!
//! *Architecture invariant:* of a purged ask stays a row that says that the id was used: as of one that
//! was cancelled before it arrived. Nothing of what it asked and was answered is left in it.

use std::collections::BTreeSet;
use std::ops::Bound;

use holdfast_protocol::{ConversationId, Timestamp};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, ToSql, params};
use uuid::Uuid;

use super::conversations;
use super::rows::bytes;
use super::search::Doc;
use super::writer::Write;
use crate::clock::Uptime;
use crate::journal::{ConversationKey, Deletion, Moment, PrincipalId, Purge, Restore};

/// Whether a conversation was deleted.
pub(super) fn is_deleted(
    connection: &Connection,
    conversation: ConversationKey,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM deletions WHERE principal = ? AND conversation_id = ?)",
        )?
        .query_row(params![conversation.principal.0, bytes(conversation.id.uuid())], |row| {
            row.get(0)
        })
}

fn is_there(connection: &Connection, conversation: ConversationKey) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM conversations WHERE principal = ? AND id = ?)",
        )?
        .query_row(params![conversation.principal.0, bytes(conversation.id.uuid())], |row| {
            row.get(0)
        })
}

pub(super) fn delete(
    write: &mut Write<'_>,
    conversation: ConversationKey,
    at: Moment,
) -> rusqlite::Result<bool> {
    let connection = write.connection;
    if is_deleted(connection, conversation)? {
        return Ok(true);
    }
    if !is_there(connection, conversation)? {
        return Ok(false);
    }
    connection
        .prepare_cached(
            "INSERT INTO deletions (principal, conversation_id, deleted_at, deleted_up)
             VALUES (?, ?, ?, ?)",
        )?
        .execute(params![
            conversation.principal.0,
            bytes(conversation.id.uuid()),
            at.wall.millis(),
            at.up.millis()
        ])?;
    Ok(true)
}

pub(super) fn restore(
    write: &mut Write<'_>,
    conversation: ConversationKey,
) -> rusqlite::Result<Restore> {
    let connection = write.connection;
    let is_deleted = is_deleted(connection, conversation)?;
    let Some(summary) = conversations::summary(connection, conversation)? else {
        return Ok(if is_deleted { Restore::Purged } else { Restore::Unknown });
    };
    if is_deleted {
        connection
            .prepare_cached("DELETE FROM deletions WHERE principal = ? AND conversation_id = ?")?
            .execute(params![conversation.principal.0, bytes(conversation.id.uuid())])?;
    }
    Ok(Restore::There(summary))
}

pub(super) fn deletions(connection: &Connection) -> rusqlite::Result<Vec<Deletion>> {
    connection
        .prepare_cached(
            "SELECT d.principal, d.conversation_id, d.deleted_at, d.deleted_up,
                 NOT EXISTS (SELECT 1 FROM conversations c
                     WHERE c.principal = d.principal AND c.id = d.conversation_id)
             FROM deletions d ORDER BY d.deleted_at, d.principal, d.conversation_id",
        )?
        .query_map((), |row| {
            let id = ConversationId::new(Uuid::from_bytes(row.get(1)?));
            Ok(Deletion {
                conversation: ConversationKey::new(PrincipalId(row.get(0)?), id),
                at: Moment {
                    wall: Timestamp::from_millis(row.get(2)?),
                    up: Uptime::from_millis(row.get(3)?),
                },
                is_purged: row.get(4)?,
            })
        })?
        .collect()
}

pub(super) fn purge(
    write: &mut Write<'_>,
    conversation: ConversationKey,
) -> rusqlite::Result<Purge> {
    let connection = write.connection;
    let (principal, id) = (conversation.principal.0, conversation.id.uuid());
    if !is_deleted(connection, conversation)? {
        return Ok(Purge::NotDeleted);
    }
    let Some(number) = connection
        .prepare_cached("SELECT number FROM conversations WHERE principal = ? AND id = ?")?
        .query_row(params![principal, bytes(id)], |row| row.get::<_, i64>(0))
        .optional()?
    else {
        return Ok(Purge::Done);
    };
    let is_under_way: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM asks
                 WHERE principal = ? AND conversation_id = ? AND state <> 'settled')",
        )?
        .query_row(params![principal, bytes(id)], |row| row.get(0))?;
    if is_under_way {
        return Ok(Purge::UnderWay);
    }
    take_out(connection, conversation, number)?;
    connection
        .prepare_cached(
            "UPDATE asks SET seq = NULL, fingerprint = NULL, question = NULL, current = 0,
                 remember = 1, language = NULL, model = NULL, retry_of = NULL, asked_at = 0,
                 submissions = 0, epoch = NULL, starts = 0, provider = NULL, billable = NULL,
                 status = 'cancelled', settled_at = 0, answer = NULL, reasoning = NULL,
                 finish = NULL, error_code = NULL, error_message = NULL, error_retryable = NULL,
                 route = NULL, answered_by = NULL, provider_calls = 0, input_tokens = NULL,
                 output_tokens = NULL, usage_estimated = NULL, cost_micros = NULL,
                 currency = NULL, first_token_ms = NULL, run_ms = NULL, capture = NULL,
                 context = NULL, context_missing = NULL, born = 0
             WHERE principal = ? AND conversation_id = ?",
        )?
        .execute(params![principal, bytes(id)])?;
    connection
        .prepare_cached("DELETE FROM conversations WHERE principal = ? AND id = ?")?
        .execute(params![principal, bytes(id)])?;
    connection.prepare_cached("UPDATE archive SET unscrubbed = 2")?.execute(())?;
    Ok(Purge::Done)
}

/// Whether nothing that was purged can still be in the file or its log.
pub(super) fn is_scrubbed(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT unscrubbed = 0 FROM archive", (), |row| row.get(0))
}

/// Takes a conversation out of the index.
fn take_out(
    connection: &Connection,
    conversation: ConversationKey,
    number: i64,
) -> rusqlite::Result<()> {
    let run = |sql| connection.execute(sql, ()).map(drop);
    let own = params![conversation.principal.0, bytes(conversation.id.uuid())];
    connection
        .prepare_cached(
            "DELETE FROM unindexed WHERE ask IN
                 (SELECT id FROM asks WHERE principal = ? AND conversation_id = ?)",
        )?
        .execute(own)?;
    let mut gone = BTreeSet::new();
    let mut statement = connection.prepare_cached(
        "SELECT seq, question, answer FROM asks
         WHERE principal = ? AND conversation_id = ? AND question IS NOT NULL",
    )?;
    let mut rows = statement.query(own)?;
    // Else the index would keep what it is told to forget, and note that it is not to be found.
    run("INSERT INTO search (search, rank) VALUES ('secure-delete', 1)")?;
    while let Some(row) = rows.next()? {
        let answer: Option<String> = row.get(2)?;
        let doc =
            Doc::new(number, row.get(0)?, row.get_ref(1)?.as_str()?, &answer.unwrap_or_default());
        if doc.is_there(connection)? {
            doc.remove(connection)?;
        }
        gone.extend(doc.tokens().map(|token| token.as_bytes().to_owned()));
    }
    drop(rows);
    // The index writes when it is read or told otherwise.
    run("INSERT INTO search (search, rank) VALUES ('secure-delete', 0)")?;
    forget_separators(connection, &gone)
}

/// The pages of the index are found by separators, each the beginning of a token that once was the first
/// of its page. Those that only tokens which are gone begin with are replaced by the token that is now
/// the next, which separates the same pages; those of pages without any token are dropped, as the index
/// itself does when it notices.
fn forget_separators(connection: &Connection, gone: &BTreeSet<Vec<u8>>) -> rusqlite::Result<()> {
    connection.execute_batch(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_terms USING fts5vocab (main, search, row)",
    )?;
    let separators: Vec<(i64, Vec<u8>)> = connection
        .prepare_cached("SELECT segid, term FROM search_idx ORDER BY segid, term")?
        .query_map((), |row| {
            let term = row.get_ref(1)?.as_bytes().unwrap_or_default().to_owned();
            Ok((row.get(0)?, term))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (at, (segment, separator)) in separators.iter().enumerate() {
        // The first byte says that it is of the index itself, not of one of beginnings.
        let Some((kind, token)) = separator.split_first().filter(|(_, token)| !token.is_empty())
        else {
            continue;
        };
        let range = (Bound::Included(token.to_vec()), Bound::Unbounded);
        if !gone.range(range).next().is_some_and(|gone| gone.starts_with(token)) {
            continue;
        }
        let next: Option<Vec<u8>> = connection
            .prepare_cached("SELECT term FROM temp.search_terms WHERE term >= ? LIMIT 1")?
            .query_row([Bytes(token)], |row| Ok(row.get_ref(0)?.as_bytes()?.to_owned()))
            .optional()?;
        if next.as_ref().is_some_and(|next| next.starts_with(token)) {
            continue;
        }
        let new = next.map(|next| [&[*kind][..], &next].concat());
        let following = separators.get(at + 1).filter(|(other, _)| other == segment);
        let is_before = |new: &Vec<u8>| following.is_none_or(|(_, after)| new < after);
        match new.filter(is_before) {
            Some(new) => connection
                .prepare_cached("UPDATE search_idx SET term = ? WHERE segid = ? AND term = ?")?
                .execute(params![new, segment, separator])?,
            None => connection
                .prepare_cached("DELETE FROM search_idx WHERE segid = ? AND term = ?")?
                .execute(params![segment, separator])?,
        };
    }
    Ok(())
}

/// Bytes to be compared with text, which they may be half of a character of.
struct Bytes<'a>(&'a [u8]);

impl ToSql for Bytes<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}
