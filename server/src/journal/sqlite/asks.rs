//! What is written about asks. Each function is one command of a group, inside its savepoint.

use holdfast_protocol::{Outcome, RequestId, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, named_params, params};

use super::conversations::{self, Founding};
use super::purge::is_deleted;
use super::rows::{self, COLUMNS, bytes, json, word};
use super::search;
use super::writer::Write;
use crate::clock::Uptime;
use crate::journal::{
    Accept, Begin, CancelledUnheard, ConversationKey, Key, Mark, NewAsk, Partial, PrincipalId,
    Record, Start, title_of,
};

/// The ask of this id.
pub(super) fn find(connection: &Connection, key: Key) -> rusqlite::Result<Option<Record>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM asks a WHERE a.principal = ? AND a.request_id = ?"
        ))?
        .query_row(params![key.principal.0, bytes(key.request_id.uuid())], rows::record)
        .optional()
}

fn found(connection: &Connection, key: Key) -> rusqlite::Result<Record> {
    find(connection, key)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

pub(super) fn accept(write: &mut Write<'_>, ask: &NewAsk) -> rusqlite::Result<Accept> {
    let connection = write.connection;
    let conversation = ConversationKey::new(ask.key.principal, ask.conversation_id);
    let known = find(connection, ask.key)?;
    // One that is known elsewhere is that one, whatever became of the conversation named here.
    let is_here =
        known.as_ref().is_none_or(|known| known.outcome.conversation_id == ask.conversation_id);
    if is_here && is_deleted(connection, conversation)? {
        return Ok(Accept::Deleted);
    }
    if let Some(known) = known {
        if !(is_here && known.lacks_question()) {
            return Ok(Accept::Known(known));
        }
        fill_in(connection, ask)?;
        let record = found(connection, ask.key)?;
        search::note(connection, ask.key)?;
        return Ok(Accept::Known(record));
    }
    if let Some(retry_of) = ask.retry_of {
        if !is_own_settled(connection, conversation, retry_of)? {
            return Ok(Accept::InvalidRetryOf);
        }
        if let Some(first) = successor(connection, ask.key.principal, retry_of)? {
            return Ok(Accept::AlreadyRetried(first));
        }
    }
    let start = match &ask.start {
        Some(start) if !has_unsettled(connection, conversation, None)? => Some(start),
        _ => None,
    };
    let seq = take_seq(connection, ask)?;
    connection
        .prepare_cached(
            "INSERT INTO asks (principal, request_id, conversation_id, seq, state, fingerprint,
                 question, current, remember, language, model, retry_of, asked_at, submissions,
                 born, epoch, starts, provider, billable, silent_until, run_until)
             VALUES (:principal, :request_id, :conversation_id, :seq, :state, :fingerprint,
                 :question, :current, :remember, :language, :model, :retry_of, :asked_at, 1,
                 :born, :epoch, :starts, :provider, :billable, :silent_until, :run_until)",
        )?
        .execute(named_params! {
            ":principal": ask.key.principal.0,
            ":request_id": bytes(ask.key.request_id.uuid()),
            ":conversation_id": bytes(ask.conversation_id.uuid()),
            ":seq": seq,
            ":state": if start.is_some() { "calling" } else { "accepted" },
            ":fingerprint": ask.fingerprint.as_bytes(),
            ":question": ask.question,
            ":current": ask.terms.current,
            ":remember": ask.terms.remember,
            ":language": ask.terms.language,
            ":model": ask.terms.model,
            ":retry_of": ask.retry_of.map(|id| bytes(id.uuid())),
            ":asked_at": ask.asked_at.millis(),
            ":born": write.births.group(),
            ":epoch": start.map(|_| write.epoch),
            ":starts": u32::from(start.is_some()),
            ":provider": start.map(|start| &start.provider),
            ":billable": start.map(|start| start.billable),
            ":silent_until": start.map(|start| start.deadlines.silent.millis()),
            ":run_until": start.map(|start| start.deadlines.run.millis()),
        })?;
    write.births.add(ask.key, start.is_none());
    let mut record = found(connection, ask.key)?;
    if record.mark == Mark::Unconfirmed {
        // Whoever reads this reads it after the whole group was confirmed.
        record.mark = Mark::Accepted;
    }
    Ok(Accept::New(record))
}

/// An ask that was cancelled before it arrived, arriving.
fn fill_in(connection: &Connection, ask: &NewAsk) -> rusqlite::Result<()> {
    let seq = take_seq(connection, ask)?;
    let retry_of = usable_retry_of(connection, ask)?;
    connection
        .prepare_cached(
            "UPDATE asks SET seq = :seq, fingerprint = :fingerprint, question = :question,
                 current = :current, remember = :remember, language = :language, model = :model,
                 retry_of = :retry_of
             WHERE principal = :principal AND request_id = :request_id",
        )?
        .execute(named_params! {
            ":principal": ask.key.principal.0,
            ":request_id": bytes(ask.key.request_id.uuid()),
            ":seq": seq,
            ":fingerprint": ask.fingerprint.as_bytes(),
            ":question": ask.question,
            ":current": ask.terms.current,
            ":remember": ask.terms.remember,
            ":language": ask.terms.language,
            ":model": ask.terms.model,
            ":retry_of": retry_of.map(|id| bytes(id.uuid())),
        })?;
    Ok(())
}

/// A cancelled ask is recorded whatever it wanted to repeat; it only takes the place of the one
/// successor where that place is free.
fn usable_retry_of(connection: &Connection, ask: &NewAsk) -> rusqlite::Result<Option<RequestId>> {
    let Some(retry_of) = ask.retry_of else { return Ok(None) };
    let conversation = ConversationKey::new(ask.key.principal, ask.conversation_id);
    let usable = retry_of != ask.key.request_id
        && is_own_settled(connection, conversation, retry_of)?
        && successor(connection, ask.key.principal, retry_of)?.is_none();
    Ok(usable.then_some(retry_of))
}

pub(super) fn is_own_settled(
    connection: &Connection,
    conversation: ConversationKey,
    retry_of: RequestId,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM asks WHERE principal = ? AND request_id = ?
                 AND conversation_id = ? AND state = 'settled')",
        )?
        .query_row(
            params![
                conversation.principal.0,
                bytes(retry_of.uuid()),
                bytes(conversation.id.uuid())
            ],
            |row| row.get(0),
        )
}

pub(super) fn successor(
    connection: &Connection,
    principal: PrincipalId,
    retry_of: RequestId,
) -> rusqlite::Result<Option<RequestId>> {
    connection
        .prepare_cached("SELECT request_id FROM asks WHERE principal = ? AND retry_of = ?")?
        .query_row(params![principal.0, bytes(retry_of.uuid())], |row| {
            row.get(0).map(|bytes| RequestId::new(uuid::Uuid::from_bytes(bytes)))
        })
        .optional()
}

/// Whether the conversation has an unsettled ask, or one before `seq`.
fn has_unsettled(
    connection: &Connection,
    conversation: ConversationKey,
    seq: Option<u64>,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM asks WHERE principal = ? AND conversation_id = ?
                 AND seq < ? AND state <> 'settled')",
        )?
        .query_row(
            params![
                conversation.principal.0,
                bytes(conversation.id.uuid()),
                seq.map_or(i64::MAX, |seq| i64::try_from(seq).unwrap_or(i64::MAX)),
            ],
            |row| row.get(0),
        )
}

/// The next place in the conversation, which is called after the ask if that is its first.
fn take_seq(connection: &Connection, ask: &NewAsk) -> rusqlite::Result<u64> {
    let founding = Founding {
        title: &title_of(&ask.question),
        system_prompt: Some(ask.system_prompt.as_str()).filter(|prompt| !prompt.is_empty()),
        created_at: ask.asked_at,
        updated_at: ask.asked_at,
    };
    let conversation = ConversationKey::new(ask.key.principal, ask.conversation_id);
    conversations::take_seq(connection, conversation, &founding)
}

pub(super) fn begin(write: &mut Write<'_>, key: Key, start: &Start) -> rusqlite::Result<Begin> {
    let record = found(write.connection, key)?;
    if record.mark == Mark::Settled {
        return Ok(Begin::Settled(record.outcome));
    }
    if has_unsettled(write.connection, record.conversation(), record.outcome.seq)? {
        return Ok(Begin::NotYet);
    }
    write
        .connection
        .prepare_cached(
            "UPDATE asks SET state = 'calling', starts = starts + (state = 'accepted'),
                 epoch = ?3, provider = ?4, billable = ?5, silent_until = ?6, run_until = ?7
             WHERE principal = ?1 AND request_id = ?2",
        )?
        .execute(params![
            key.principal.0,
            bytes(key.request_id.uuid()),
            write.epoch,
            start.provider,
            start.billable,
            start.deadlines.silent.millis(),
            start.deadlines.run.millis()
        ])?;
    Ok(Begin::Begun)
}

pub(super) fn append(write: &mut Write<'_>, key: Key, partial: &Partial) -> rusqlite::Result<()> {
    let ask: Option<i64> = write
        .connection
        .prepare_cached(
            "UPDATE asks SET submissions = max(submissions, ?3),
                 silent_until = max(silent_until, ifnull(?4, 0))
             WHERE principal = ?1 AND request_id = ?2 AND state = 'calling' RETURNING id",
        )?
        .query_row(
            params![
                key.principal.0,
                bytes(key.request_id.uuid()),
                partial.submissions,
                partial.silent.map(Uptime::millis)
            ],
            |row| row.get(0),
        )
        .optional()?;
    // Once it has settled, its text is whole already.
    let Some(ask) = ask else { return Ok(()) };
    for (kind, offset, text) in [
        ("answer", partial.text_offset, &partial.text),
        ("reasoning", partial.reasoning_offset, &partial.reasoning),
    ] {
        if !text.is_empty() {
            write
                .connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO pieces (ask, kind, text_offset, text)
                     VALUES (?, ?, ?, ?)",
                )?
                .execute(params![ask, kind, offset, text])?;
        }
    }
    Ok(())
}

pub(super) fn settle(
    write: &mut Write<'_>,
    key: Key,
    outcome: &Outcome,
) -> rusqlite::Result<Outcome> {
    let connection = write.connection;
    let known = found(connection, key)?;
    if known.mark == Mark::Settled {
        return Ok(known.outcome);
    }
    write_outcome(connection, key, outcome)?;
    connection
        .prepare_cached(
            "DELETE FROM pieces WHERE ask =
                 (SELECT id FROM asks WHERE principal = ? AND request_id = ?)",
        )?
        .execute(params![key.principal.0, bytes(key.request_id.uuid())])?;
    connection
        .prepare_cached(
            "UPDATE conversations SET updated_at = max(updated_at, ?)
             WHERE principal = ? AND id = ?",
        )?
        .execute(params![
            outcome.settled_at.map(Timestamp::millis),
            key.principal.0,
            bytes(known.outcome.conversation_id.uuid())
        ])?;
    search::note(connection, key)?;
    found(connection, key).map(|record| record.outcome)
}

pub(super) fn write_outcome(
    connection: &Connection,
    key: Key,
    outcome: &Outcome,
) -> rusqlite::Result<()> {
    let answer = outcome.answer.as_ref();
    let error = outcome.error.as_ref();
    let receipt = outcome.receipt.clone().unwrap_or_default();
    let context = (!outcome.context.is_empty()).then_some(&outcome.context);
    let missing = (!outcome.context_missing.is_empty()).then_some(&outcome.context_missing);
    connection
        .prepare_cached(
            "UPDATE asks SET state = 'settled', status = :status, settled_at = :settled_at,
                 submissions = :submissions, answer = :answer, reasoning = :reasoning,
                 finish = :finish, error_code = :error_code, error_message = :error_message,
                 error_retryable = :error_retryable, route = :route, provider = :provider,
                 answered_by = :answered_by, provider_calls = :provider_calls,
                 input_tokens = :input_tokens, output_tokens = :output_tokens,
                 usage_estimated = :usage_estimated, cost_micros = :cost_micros,
                 currency = :currency, first_token_ms = :first_token_ms, run_ms = :run_ms,
                 capture = :capture, context = :context, context_missing = :context_missing,
                 silent_until = NULL, run_until = NULL
             WHERE principal = :principal AND request_id = :request_id",
        )?
        .execute(named_params! {
            ":principal": key.principal.0,
            ":request_id": bytes(key.request_id.uuid()),
            ":status": outcome.status.as_str(),
            ":settled_at": outcome.settled_at.map(Timestamp::millis),
            ":submissions": receipt.submissions,
            ":answer": answer.map(|answer| &answer.text),
            ":reasoning": answer.and_then(|answer| answer.reasoning.as_ref()),
            ":finish": word(answer.and_then(|answer| answer.finish))?,
            ":error_code": word(error.map(|error| error.code))?,
            ":error_message": error.map(|error| &error.message),
            ":error_retryable": error.map(|error| error.retryable),
            ":route": word(outcome.route)?,
            ":provider": receipt.provider,
            ":answered_by": receipt.model,
            ":provider_calls": receipt.provider_calls,
            ":input_tokens": receipt.input_tokens.map(count),
            ":output_tokens": receipt.output_tokens.map(count),
            ":usage_estimated": receipt.usage_estimated,
            ":cost_micros": receipt.cost_micros.map(count),
            ":currency": receipt.currency,
            ":first_token_ms": receipt.first_token_ms.map(count),
            ":run_ms": receipt.run_ms.map(count),
            ":capture": json(outcome.capture.as_ref())?,
            ":context": json(context)?,
            ":context_missing": json(missing)?,
        })?;
    Ok(())
}

/// SQLite's integers have a sign. A provider that counts beyond them must not keep an ask from
/// settling.
fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn cancel_unheard(
    write: &mut Write<'_>,
    cancelled: &CancelledUnheard,
) -> rusqlite::Result<Record> {
    let connection = write.connection;
    let outcome = &cancelled.outcome;
    let key = Key::new(cancelled.principal, outcome.request_id);
    if let Some(known) = find(connection, key)? {
        return Ok(known);
    }
    connection
        .prepare_cached(
            "INSERT INTO asks (principal, request_id, conversation_id, state, status, asked_at,
                 settled_at, submissions)
             VALUES (?, ?, ?, 'settled', 'cancelled', ?, ?, 0)",
        )?
        .execute(params![
            key.principal.0,
            bytes(key.request_id.uuid()),
            bytes(outcome.conversation_id.uuid()),
            outcome.asked_at.map(Timestamp::millis),
            outcome.settled_at.map(Timestamp::millis),
        ])?;
    let conversation = ConversationKey::new(cancelled.principal, outcome.conversation_id);
    if let Some(ask) = &cancelled.ask
        && !is_deleted(connection, conversation)?
    {
        fill_in(connection, ask)?;
    }
    write_outcome(connection, key, outcome)?;
    search::note(connection, key)?;
    found(connection, key)
}

pub(super) fn requeue(write: &mut Write<'_>, key: Key) -> rusqlite::Result<()> {
    let ask: Option<i64> = write
        .connection
        .prepare_cached(
            "UPDATE asks SET state = 'accepted', born = 0, epoch = NULL, silent_until = NULL,
                 run_until = NULL
             WHERE principal = ? AND request_id = ? AND state = 'calling' RETURNING id",
        )?
        .query_row(params![key.principal.0, bytes(key.request_id.uuid())], |row| row.get(0))
        .optional()?;
    if let Some(ask) = ask {
        write.connection.prepare_cached("DELETE FROM pieces WHERE ask = ?")?.execute([ask])?;
    }
    Ok(())
}

/// Removes an ask that a failed group may have left, and its conversation if that is now empty.
pub(super) fn unmake(connection: &Connection, key: Key) -> rusqlite::Result<()> {
    let conversation: Option<[u8; 16]> = connection
        .prepare_cached(
            "DELETE FROM asks WHERE principal = ? AND request_id = ? AND state <> 'settled'
             RETURNING conversation_id",
        )?
        .query_row(params![key.principal.0, bytes(key.request_id.uuid())], |row| row.get(0))
        .optional()?;
    if let Some(conversation) = conversation {
        connection
            .prepare_cached(
                "DELETE FROM conversations WHERE principal = ?1 AND id = ?2 AND NOT EXISTS
                     (SELECT 1 FROM asks WHERE principal = ?1 AND conversation_id = ?2)",
            )?
            .execute(params![key.principal.0, conversation])?;
    }
    Ok(())
}
