//! The list of conversations, and what a person changes about one.

use holdfast_protocol::{ConversationId, ConversationList, ConversationSummary, Timestamp, Title};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use super::rows::bytes;
use super::writer::Write;
use crate::journal::{Changes, ConversationKey, Cursor, Listing, PrincipalId};

/// The columns of a line of the list, in the order in which [`summary`] reads them.
const COLUMNS: &str = "
    c.id, c.title, c.created_at, c.updated_at,
    (SELECT count(*) FROM asks a
      WHERE a.principal = c.principal AND a.conversation_id = c.id AND a.seq IS NOT NULL),
    (SELECT count(*) FROM asks a INDEXED BY asks_unsettled
      WHERE a.principal = c.principal AND a.conversation_id = c.id AND a.state <> 'settled')";

pub(super) fn list(
    connection: &Connection,
    principal: PrincipalId,
    listing: &Listing,
) -> rusqlite::Result<ConversationList> {
    let (updated_at, id) = match listing.before {
        Some(Cursor { updated_at, id }) => (updated_at.millis(), id.uuid()),
        // Beyond the calendar.
        None => (i64::MAX.unsigned_abs(), Uuid::nil()),
    };
    // One more than the page holds says whether there is another page.
    let mut conversations = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM conversations c
             WHERE c.principal = ? AND (c.updated_at, c.id) < (?, ?)
             ORDER BY c.updated_at DESC, c.id DESC LIMIT ?"
        ))?
        .query_map(
            params![principal.0, updated_at, bytes(id), u64::from(listing.limit) + 1],
            summary,
        )?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let has_more = conversations.len() > listing.limit as usize;
    conversations.truncate(listing.limit as usize);
    let next = conversations.last().filter(|_| has_more).map(Cursor::after);
    Ok(ConversationList { conversations, next: next.map(|cursor| cursor.to_string()) })
}

pub(super) fn change(
    write: &mut Write<'_>,
    conversation: ConversationKey,
    changes: &Changes,
) -> rusqlite::Result<Option<ConversationSummary>> {
    let id = conversation.id.uuid();
    write
        .connection
        .prepare_cached(
            "UPDATE conversations SET title = ifnull(?3, title) WHERE principal = ?1 AND id = ?2",
        )?
        .execute(params![
            conversation.principal.0,
            bytes(id),
            changes.title.as_ref().map(Title::as_str)
        ])?;
    write
        .connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM conversations c WHERE c.principal = ? AND c.id = ?"
        ))?
        .query_row(params![conversation.principal.0, bytes(id)], summary)
        .optional()
}

fn summary(row: &Row<'_>) -> rusqlite::Result<ConversationSummary> {
    let timestamp = |at| row.get(at).map(Timestamp::from_millis);
    Ok(ConversationSummary {
        id: ConversationId::new(Uuid::from_bytes(row.get(0)?)),
        title: row.get(1)?,
        created_at: timestamp(2)?,
        updated_at: timestamp(3)?,
        turns: row.get(4)?,
        pending: row.get(5)?,
        excerpt: None,
    })
}
