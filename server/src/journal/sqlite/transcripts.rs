//! Taking conversations out of the archive and into it.

use holdfast_protocol::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, named_params, params};

use super::asks;
use super::purge::is_deleted;
use super::rows::{self, COLUMNS, bytes};
use super::search::Doc;
use super::writer::Write;
use crate::journal::{
    ConversationKey, Imported, Key, Mark, PrincipalId, Record, Transcript, TranscriptTurn,
};

/// A stretch of a conversation: the turns after a place, and what there is to say about all of it.
pub(super) fn transcript(
    connection: &Connection,
    conversation: ConversationKey,
    after: u64,
    limit: u32,
) -> rusqlite::Result<Option<Transcript>> {
    let id = bytes(conversation.id.uuid());
    let about = connection
        .prepare_cached(
            "SELECT title, system_prompt, created_at, updated_at FROM conversations
             WHERE principal = ? AND id = ?",
        )?
        .query_row(params![conversation.principal.0, id], |row| {
            Ok(Transcript {
                id: conversation.id,
                title: row.get(0)?,
                system_prompt: row.get(1)?,
                created_at: Timestamp::from_millis(row.get(2)?),
                updated_at: Timestamp::from_millis(row.get(3)?),
                turns: Vec::new(),
            })
        })
        .optional()?;
    let Some(mut transcript) = about else { return Ok(None) };
    if is_deleted(connection, conversation)? {
        return Ok(None);
    }
    let records = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM asks a
             WHERE a.principal = ? AND a.conversation_id = ? AND a.seq > ?
             ORDER BY a.seq LIMIT ?"
        ))?
        .query_map(params![conversation.principal.0, id, after, limit], rows::record)?
        .collect::<rusqlite::Result<Vec<Record>>>()?;
    transcript.turns = records.into_iter().filter_map(Record::into_turn).collect();
    Ok(Some(transcript))
}

/// Adds what is not there yet. Nothing of what is there is changed.
pub(super) fn import(
    write: &mut Write<'_>,
    principal: PrincipalId,
    transcripts: &[Transcript],
) -> rusqlite::Result<Imported> {
    let mut imported = Imported::default();
    for transcript in transcripts {
        let conversation = ConversationKey::new(principal, transcript.id);
        let is_deleted = is_deleted(write.connection, conversation)?;
        for turn in &transcript.turns {
            let key = Key::new(principal, turn.outcome.request_id);
            let known = asks::find(write.connection, key)?;
            let is_same = |known: &Record| {
                !is_deleted && known.mark == Mark::Settled && turn.says_the_same_as(&known.outcome)
            };
            match known {
                Some(known) if is_same(&known) => imported.unchanged += 1,
                None if !is_deleted && can_repeat(write.connection, conversation, turn)? => {
                    add(write, conversation, transcript, turn)?;
                    imported.created += 1;
                }
                _ => imported.conflicts.push(turn.outcome.request_id),
            }
        }
    }
    Ok(imported)
}

/// Whether it repeats nothing, or a settled turn of its conversation that nothing else repeats.
fn can_repeat(
    connection: &Connection,
    conversation: ConversationKey,
    turn: &TranscriptTurn,
) -> rusqlite::Result<bool> {
    let Some(retry_of) = turn.outcome.retry_of else { return Ok(true) };
    Ok(asks::is_own_settled(connection, conversation, retry_of)?
        && asks::successor(connection, conversation.principal, retry_of)?.is_none())
}

fn add(
    write: &mut Write<'_>,
    conversation: ConversationKey,
    transcript: &Transcript,
    turn: &TranscriptTurn,
) -> rusqlite::Result<()> {
    let connection = write.connection;
    let outcome = &turn.outcome;
    let question = outcome.question.as_deref().unwrap_or_default();
    let seq: u64 = connection
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
                transcript.title,
                transcript.system_prompt,
                transcript.created_at.millis(),
                transcript.updated_at.millis(),
            ],
            |row| row.get(0),
        )?;
    let calls = outcome.receipt.as_ref().map_or(0, |receipt| receipt.provider_calls);
    connection
        .prepare_cached(
            "INSERT INTO asks (principal, request_id, conversation_id, seq, state, status, settled_at,
                 fingerprint, question, current, remember, language, model, retry_of, asked_at,
                 submissions, starts, billable)
             VALUES (:principal, :request_id, :conversation_id, :seq, 'settled', :status,
                 :settled_at, :fingerprint, :question, :current, :remember, :language, :model,
                 :retry_of, :asked_at, 0, :starts, :billable)",
        )?
        .execute(named_params! {
            ":principal": conversation.principal.0,
            ":request_id": bytes(outcome.request_id.uuid()),
            ":conversation_id": bytes(conversation.id.uuid()),
            ":seq": seq,
            ":status": outcome.status.as_str(),
            ":settled_at": outcome.settled_at.map(Timestamp::millis),
            ":fingerprint": turn.fingerprint.as_bytes(),
            ":question": question,
            ":current": turn.terms.current,
            ":remember": turn.terms.remember,
            ":language": turn.terms.language,
            ":model": turn.terms.model,
            ":retry_of": outcome.retry_of.map(|id| bytes(id.uuid())),
            ":asked_at": outcome.asked_at.map(Timestamp::millis),
            ":starts": u32::from(calls > 0),
            ":billable": (calls > 0).then_some(true),
        })?;
    let key = Key::new(conversation.principal, outcome.request_id);
    asks::write_outcome(connection, key, outcome)?;
    let number: i64 = connection
        .prepare_cached("SELECT number FROM conversations WHERE principal = ? AND id = ?")?
        .query_row(params![conversation.principal.0, bytes(conversation.id.uuid())], |row| {
            row.get(0)
        })?;
    let is_indexed: bool = connection
        .prepare_cached("SELECT search_upto >= ? FROM archive")?
        .query_row([connection.last_insert_rowid()], |row| row.get(0))?;
    let seq = i64::try_from(seq).unwrap_or(i64::MAX);
    write.add_doc(is_indexed.then(|| Doc::new(number, seq, question, outcome.text())));
    Ok(())
}
