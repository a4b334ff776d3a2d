//! What is read beside a single ask.

use holdfast_protocol::{Conversation, RequestId, Status};
use rusqlite::{Connection, OptionalExtension as _, params};
use uuid::Uuid;

use super::purge::is_deleted;
use super::rows::{self, COLUMNS, bytes};
use crate::clock::Uptime;
use crate::journal::{ConversationKey, Record, Turn};

pub(super) fn unsettled(connection: &Connection) -> rusqlite::Result<Vec<Record>> {
    connection
        .prepare(&format!(
            "SELECT {COLUMNS} FROM asks a INDEXED BY asks_unsettled
             WHERE a.state <> 'settled' ORDER BY a.id"
        ))?
        .query_map((), rows::record)?
        .collect()
}

pub(super) fn overdue(connection: &Connection, now: Uptime) -> rusqlite::Result<Vec<Record>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM asks a INDEXED BY asks_unsettled
             WHERE a.state <> 'settled' AND min(a.silent_until, a.run_until) <= ?"
        ))?
        .query_map([now.millis()], rows::record)?
        .collect()
}

pub(super) fn history(
    connection: &Connection,
    conversation: ConversationKey,
    seq: u64,
    most: usize,
) -> rusqlite::Result<Vec<Turn>> {
    let mut statement = connection.prepare_cached(
        "SELECT a.request_id, a.status, a.question, a.answer FROM asks a
         WHERE a.principal = ? AND a.conversation_id = ? AND a.seq < ? AND a.state = 'settled'
           AND a.answer <> '' AND NOT EXISTS
             (SELECT 1 FROM asks b WHERE b.principal = a.principal AND b.retry_of = a.request_id)
         ORDER BY a.seq DESC",
    )?;
    let mut rows =
        statement.query(params![conversation.principal.0, bytes(conversation.id.uuid()), seq])?;
    let mut turns = Vec::new();
    let mut read = 0;
    while read < most
        && let Some(row) = rows.next()?
    {
        let turn = Turn {
            request_id: RequestId::new(Uuid::from_bytes(row.get(0)?)),
            status: match row.get_ref(1)?.as_str()? {
                "completed" => Status::Completed,
                "failed" => Status::Failed,
                "cancelled" => Status::Cancelled,
                _ => Status::Interrupted,
            },
            question: row.get(2)?,
            answer: row.get(3)?,
        };
        read += turn.question.len() + turn.answer.len();
        turns.push(turn);
    }
    Ok(turns)
}

pub(super) fn conversation(
    connection: &Connection,
    conversation: ConversationKey,
    before: Option<u64>,
    limit: u32,
) -> rusqlite::Result<Option<Conversation>> {
    let id = bytes(conversation.id.uuid());
    let about: Option<(String, Option<String>)> = connection
        .prepare_cached(
            "SELECT title, system_prompt FROM conversations WHERE principal = ? AND id = ?",
        )?
        .query_row(params![conversation.principal.0, id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((title, system_prompt)) = about else { return Ok(None) };
    if is_deleted(connection, conversation)? {
        return Ok(None);
    }
    // One more than the page holds says whether there is another page.
    let mut turns = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM asks a
             WHERE a.principal = ? AND a.conversation_id = ? AND a.seq < ?
             ORDER BY a.seq DESC LIMIT ?"
        ))?
        .query_map(
            params![
                conversation.principal.0,
                id,
                before.map_or(i64::MAX, |seq| i64::try_from(seq).unwrap_or(i64::MAX)),
                u64::from(limit) + 1
            ],
            |row| rows::record(row).map(|record| record.outcome),
        )?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let has_more = turns.len() > limit as usize;
    turns.truncate(limit as usize);
    turns.reverse();
    let next = if has_more { turns.first().and_then(|turn| turn.seq) } else { None };
    Ok(Some(Conversation { id: conversation.id, title, system_prompt, turns, next }))
}
