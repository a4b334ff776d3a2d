//! Taking conversations out of the archive and into it.

use holdfast_protocol::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, named_params, params};

use super::asks;
use super::conversations::{self, Founding};
use super::purge::is_deleted;
use super::rows::{self, COLUMNS, bytes};
use super::search;
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
    let founding = Founding {
        title: &transcript.title,
        system_prompt: transcript.system_prompt.as_deref(),
        created_at: transcript.created_at,
        updated_at: transcript.updated_at,
    };
    let seq = conversations::take_seq(connection, conversation, &founding)?;
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
    search::note(connection, key)
}
