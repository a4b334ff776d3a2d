//! The list of conversations, what is found in it, and what a person changes about one.

use holdfast_protocol::{ConversationId, ConversationList, ConversationSummary, Timestamp, Title};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use super::purge::is_deleted;
use super::rows::bytes;
use super::search::{self, Find};
use super::writer::Write;
use crate::journal::{Changes, ConversationKey, Cursor, Listing, PrincipalId};
use crate::search::Query;

/// The columns of a line of the list, in the order in which [`line`] reads them.
const COLUMNS: &str = "
    c.id, c.title, c.created_at, c.updated_at,
    (SELECT count(*) FROM asks a
      WHERE a.principal = c.principal AND a.conversation_id = c.id AND a.seq IS NOT NULL),
    (SELECT count(*) FROM asks a INDEXED BY asks_unsettled
      WHERE a.principal = c.principal AND a.conversation_id = c.id AND a.state <> 'settled')";

/// Whether nobody has deleted it.
const IS_SHOWN: &str = "NOT EXISTS (SELECT 1 FROM deletions d
    WHERE d.principal = c.principal AND d.conversation_id = c.id)";

/// So many times as many finds as are wanted are sorted; more are met soon on the way down the list.
const SORTED: usize = 8;

pub(super) fn list(
    connection: &Connection,
    principal: PrincipalId,
    listing: &Listing,
) -> rusqlite::Result<ConversationList> {
    // One more than the page holds says whether there is another page.
    let most = listing.limit as usize + 1;
    let mut conversations = match &listing.matching {
        None => all(connection, principal, listing, most)?,
        Some(query) => matching(connection, principal, listing, query, most)?,
    };
    let has_more = conversations.len() == most;
    conversations.truncate(most - 1);
    let next = conversations.last().filter(|_| has_more).map(Cursor::after);
    Ok(ConversationList { conversations, next: next.map(|cursor| cursor.to_string()) })
}

/// The place to go on from, as it is bound.
fn place(before: Option<Cursor>) -> (u64, [u8; 16]) {
    // Without one: beyond the calendar.
    before.map_or((i64::MAX.unsigned_abs(), [0; 16]), |Cursor { updated_at, id }| {
        (updated_at.millis(), id.uuid().into_bytes())
    })
}

fn all(
    connection: &Connection,
    principal: PrincipalId,
    listing: &Listing,
    most: usize,
) -> rusqlite::Result<Vec<ConversationSummary>> {
    let (updated_at, id) = place(listing.before);
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM conversations c
             WHERE c.principal = ? AND (c.updated_at, c.id) < (?, ?) AND {IS_SHOWN}
             ORDER BY c.updated_at DESC, c.id DESC LIMIT ?"
        ))?
        .query_map(params![principal.0, updated_at, id, most], line)?
        .collect()
}

/// Those that a query is found in, the newest first.
fn matching(
    connection: &Connection,
    principal: PrincipalId,
    listing: &Listing,
    query: &Query,
    most: usize,
) -> rusqlite::Result<Vec<ConversationSummary>> {
    let mut finds = search::find(connection, query)?;
    search::beside_the_index(connection, principal, query, &mut finds)?;
    let mut standings = if finds.len() <= most.saturating_mul(SORTED) {
        looked_up(connection, principal, listing, &finds)?
    } else {
        met(connection, principal, listing, &finds, most)?
    };
    standings.sort_unstable_by(|one, other| other.cmp(one));
    standings.truncate(most);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversations c WHERE c.principal = ? AND c.id = ?"
    ))?;
    standings
        .into_iter()
        .map(|Standing { id, seq, .. }| {
            let mut found = statement.query_row(params![principal.0, id], line)?;
            found.excerpt = excerpt(connection, principal, id, seq, query)?;
            Ok(found)
        })
        .collect()
}

/// Where a conversation stands in the list: when something last happened in it, and its id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Standing {
    updated_at: u64,
    id: [u8; 16],
    /// The last of its turns that hold what was looked for.
    seq: i64,
}

/// Few finds: each is looked up.
fn looked_up(
    connection: &Connection,
    principal: PrincipalId,
    listing: &Listing,
    finds: &[Find],
) -> rusqlite::Result<Vec<Standing>> {
    let (updated_at, id) = place(listing.before);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT c.updated_at, c.id FROM conversations c
         WHERE c.number = ? AND c.principal = ? AND (c.updated_at, c.id) < (?, ?) AND {IS_SHOWN}"
    ))?;
    let mut standings = Vec::new();
    for Find { number, seq } in finds {
        let standing = statement
            .query_row(params![number, principal.0, updated_at, id], |row| {
                Ok(Standing { updated_at: row.get(0)?, id: row.get(1)?, seq: *seq })
            })
            .optional()?;
        standings.extend(standing);
    }
    Ok(standings)
}

/// Many finds: as many as are wanted are met soon from the top of the list.
fn met(
    connection: &Connection,
    principal: PrincipalId,
    listing: &Listing,
    finds: &[Find],
    most: usize,
) -> rusqlite::Result<Vec<Standing>> {
    let (updated_at, id) = place(listing.before);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT c.updated_at, c.id, c.number
         FROM conversations c INDEXED BY conversations_by_activity
         WHERE c.principal = ? AND (c.updated_at, c.id) < (?, ?) AND {IS_SHOWN}
         ORDER BY c.updated_at DESC, c.id DESC"
    ))?;
    let mut rows = statement.query(params![principal.0, updated_at, id])?;
    let mut standings = Vec::new();
    while standings.len() < most
        && let Some(row) = rows.next()?
    {
        let number: i64 = row.get(2)?;
        let at = finds.binary_search_by_key(&number, |find| find.number);
        if let Some(find) = at.ok().and_then(|at| finds.get(at)) {
            standings.push(Standing { updated_at: row.get(0)?, id: row.get(1)?, seq: find.seq });
        }
    }
    Ok(standings)
}

/// The text around what was found in a turn.
fn excerpt(
    connection: &Connection,
    principal: PrincipalId,
    conversation: [u8; 16],
    seq: i64,
    query: &Query,
) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached(
            "SELECT question, ifnull(answer, '') FROM asks
             WHERE principal = ? AND conversation_id = ? AND seq = ?",
        )?
        .query_row(params![principal.0, conversation, seq], |row| {
            Ok(query.excerpt(row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?))
        })
}

pub(super) fn change(
    write: &mut Write<'_>,
    conversation: ConversationKey,
    changes: &Changes,
) -> rusqlite::Result<Option<ConversationSummary>> {
    let id = conversation.id.uuid();
    if is_deleted(write.connection, conversation)? {
        return Ok(None);
    }
    write
        .connection
        .prepare_cached(
            "UPDATE conversations SET title = ifnull(?3, title),
                 system_prompt = nullif(ifnull(?4, system_prompt), '')
             WHERE principal = ?1 AND id = ?2",
        )?
        .execute(params![
            conversation.principal.0,
            bytes(id),
            changes.title.as_ref().map(Title::as_str),
            changes.system_prompt,
        ])?;
    summary(write.connection, conversation)
}

/// What the list says of a conversation, or would if it were not deleted.
pub(super) fn summary(
    connection: &Connection,
    conversation: ConversationKey,
) -> rusqlite::Result<Option<ConversationSummary>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM conversations c WHERE c.principal = ? AND c.id = ?"
        ))?
        .query_row(params![conversation.principal.0, bytes(conversation.id.uuid())], line)
        .optional()
}

/// What a conversation is when its first ask brings it into being.
pub(super) struct Founding<'a> {
    pub(super) title: &'a str,
    pub(super) system_prompt: Option<&'a str>,
    pub(super) created_at: Timestamp,
    /// When it was last active; of one that is there already, the later counts.
    pub(super) updated_at: Timestamp,
}

/// The next place in a conversation, which comes into being with its first ask.
pub(super) fn take_seq(
    connection: &Connection,
    conversation: ConversationKey,
    founding: &Founding<'_>,
) -> rusqlite::Result<u64> {
    connection
        .prepare_cached(
            "INSERT INTO conversations (principal, id, title, system_prompt, created_at, updated_at,
                 last_seq, number)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1,
                 (SELECT ifnull(max(number), 0) + 1 FROM conversations))
             ON CONFLICT DO UPDATE SET last_seq = last_seq + 1,
                 updated_at = max(updated_at, excluded.updated_at)
             RETURNING last_seq",
        )?
        .query_row(
            params![
                conversation.principal.0,
                bytes(conversation.id.uuid()),
                founding.title,
                founding.system_prompt,
                founding.created_at.millis(),
                founding.updated_at.millis(),
            ],
            |row| row.get(0),
        )
}

pub(super) fn system_prompt(
    connection: &Connection,
    conversation: ConversationKey,
) -> rusqlite::Result<Option<String>> {
    let prompt: Option<Option<String>> = connection
        .prepare_cached("SELECT system_prompt FROM conversations WHERE principal = ? AND id = ?")?
        .query_row(params![conversation.principal.0, bytes(conversation.id.uuid())], |row| {
            row.get(0)
        })
        .optional()?;
    Ok(prompt.flatten())
}

fn line(row: &Row<'_>) -> rusqlite::Result<ConversationSummary> {
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
