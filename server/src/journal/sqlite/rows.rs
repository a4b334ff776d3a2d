//! Between rows and values.

use std::borrow::Cow;
use std::error::Error;
use std::str::FromStr;

use holdfast_protocol::{
    Answer, ContextItem, ConversationId, Failure, Format, Outcome, Receipt, RequestId, State,
    Status, Timestamp, UnknownWord,
};
use rusqlite::types::{FromSql, Type};
use rusqlite::{Row, ToSql};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock::Uptime;
use crate::journal::{Deadlines, Fingerprint, Mark, PrincipalId, Record, Terms};

/// The columns of an ask, in the order in which [`record`] reads them. The text of an unsettled ask
/// is joined from its pieces.
pub(super) const COLUMNS: &str = "
    a.principal, a.request_id, a.conversation_id, a.seq, a.state, a.fingerprint, a.question,
    a.current, a.remember, a.language, a.model, a.retry_of,
    (SELECT b.request_id FROM asks b
      WHERE b.principal = a.principal AND b.retry_of = a.request_id),
    a.asked_at, a.submissions, a.starts, a.provider, a.billable, a.status, a.settled_at,
    CASE a.state WHEN 'settled' THEN a.answer ELSE
        (SELECT group_concat(text, '' ORDER BY text_offset) FROM pieces
          WHERE ask = a.id AND kind = 'answer') END,
    CASE a.state WHEN 'settled' THEN a.reasoning ELSE
        (SELECT group_concat(text, '' ORDER BY text_offset) FROM pieces
          WHERE ask = a.id AND kind = 'reasoning') END,
    a.finish, a.error_code, a.error_message, a.error_retryable, a.route, a.answered_by,
    a.provider_calls, a.input_tokens, a.output_tokens, a.usage_estimated, a.cost_micros,
    a.currency, a.first_token_ms, a.run_ms, a.capture, a.context, a.context_missing,
    a.state = 'accepted' AND a.born > (SELECT confirmed FROM archive), a.silent_until, a.run_until";

/// Reads columns from left to right: with this many, names would be looked up a thousand times.
struct Columns<'a> {
    row: &'a Row<'a>,
    at: usize,
}

impl Columns<'_> {
    fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let value = self.row.get(self.at);
        self.at += 1;
        value
    }

    fn id(&mut self) -> rusqlite::Result<Uuid> {
        self.next::<[u8; 16]>().map(Uuid::from_bytes)
    }

    fn optional_id(&mut self) -> rusqlite::Result<Option<RequestId>> {
        let bytes = self.next::<Option<[u8; 16]>>()?;
        Ok(bytes.map(|bytes| RequestId::new(Uuid::from_bytes(bytes))))
    }

    fn uptime(&mut self) -> rusqlite::Result<Option<Uptime>> {
        Ok(self.next::<Option<u64>>()?.map(Uptime::from_millis))
    }

    fn timestamp(&mut self) -> rusqlite::Result<Option<Timestamp>> {
        Ok(self.next::<Option<u64>>()?.map(Timestamp::from_millis))
    }

    /// A text as it lies in the row.
    fn text(&mut self) -> rusqlite::Result<Option<&str>> {
        let value = self.row.get_ref(self.at)?.as_str_or_null()?;
        self.at += 1;
        Ok(value)
    }

    /// A word of the protocol.
    fn word<T: FromStr<Err = UnknownWord>>(&mut self) -> rusqlite::Result<Option<T>> {
        let at = self.at;
        let word = self.text()?.map(str::parse).transpose();
        word.map_err(|error: UnknownWord| unreadable(at, error.to_string()))
    }

    fn json<T>(
        &mut self,
        read: impl FnOnce(&str) -> serde_json::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        let at = self.at;
        self.text()?.map(read).transpose().map_err(|error| unreadable(at, error))
    }
}

/// One item of a context as it is stored. The protocol's own reader is made to be small, for the
/// page; a long conversation has thousands of these.
#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    id: String,
    title: Option<String>,
    excerpt: Option<String>,
    score: Option<f64>,
}

fn context(json: &str) -> serde_json::Result<Vec<ContextItem>> {
    let items: Vec<Item<'_>> = serde_json::from_str(json)?;
    let item = |Item { kind, id, title, excerpt, score }| {
        let kind = kind.parse().map_err(serde_json::Error::custom)?;
        Ok(ContextItem { kind, id, title, excerpt, score })
    };
    items.into_iter().map(item).collect()
}

fn unreadable(at: usize, error: impl Into<Box<dyn Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(at, Type::Text, error.into())
}

/// Reads an ask from the columns of [`COLUMNS`].
pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let mut columns = Columns { row, at: 0 };
    let principal = PrincipalId(columns.next()?);
    let request_id = RequestId::new(columns.id()?);
    let conversation_id = ConversationId::new(columns.id()?);
    let seq = columns.next()?;
    let state: String = columns.next()?;
    let fingerprint = columns.next::<Option<[u8; 32]>>()?.map(Fingerprint::from_bytes);
    let question = columns.next()?;
    let terms = Terms {
        current: columns.next()?,
        remember: columns.next()?,
        language: columns.next()?,
        model: columns.next()?,
    };
    let retry_of = columns.optional_id()?;
    let retried_by = columns.optional_id()?;
    let asked_at = columns.timestamp()?;
    let submissions = columns.next()?;
    let starts = columns.next()?;
    let provider: Option<String> = columns.next()?;
    let billable = columns.next::<Option<bool>>()?.unwrap_or(true);
    let (mark, pending) = match state.as_str() {
        "accepted" => (Mark::Accepted, Some(State::Accepted)),
        "calling" => (Mark::Calling { billable }, Some(State::Running)),
        _ => (Mark::Settled, None),
    };

    let status = columns.word()?.unwrap_or(Status::Pending);
    let settled_at = columns.timestamp()?;
    let text: Option<String> = columns.next()?;
    let reasoning: Option<String> = columns.next()?;
    let finish = columns.word()?;
    let answer = (text.is_some() || reasoning.is_some()).then(|| {
        let text = text.unwrap_or_default();
        Answer {
            format: Format::Markdown,
            bytes: text.len() as u64,
            text,
            offset: 0,
            reasoning,
            finish,
        }
    });
    let error_code = columns.word()?;
    let message: Option<String> = columns.next()?;
    let retryable: Option<bool> = columns.next()?;
    let error = error_code.map(|code| Failure {
        code,
        message: message.unwrap_or_default(),
        retryable: retryable.unwrap_or_default(),
    });
    let route = columns.word()?;
    let receipt = Receipt {
        provider: provider.clone(),
        model: columns.next()?,
        provider_calls: columns.next::<Option<u32>>()?.unwrap_or_default(),
        input_tokens: columns.next()?,
        output_tokens: columns.next()?,
        usage_estimated: columns.next()?,
        cost_micros: columns.next()?,
        currency: columns.next()?,
        submissions,
        first_token_ms: columns.next()?,
        run_ms: columns.next()?,
    };
    let outcome = Outcome {
        request_id,
        conversation_id,
        seq,
        status,
        state: pending,
        queue: None,
        question,
        asked_at,
        settled_at,
        retry_of,
        retried_by,
        answer,
        error,
        route,
        receipt: status.is_settled().then_some(receipt),
        capture: columns.json(|json| serde_json::from_str(json))?,
        context: columns.json(context)?.unwrap_or_default(),
        context_missing: columns.json(|json| serde_json::from_str(json))?.unwrap_or_default(),
    };
    let mark = if columns.next()? { Mark::Unconfirmed } else { mark };
    let deadlines = match (columns.uptime()?, columns.uptime()?) {
        (Some(silent), Some(run)) => Some(Deadlines { silent, run }),
        _ => None,
    };
    Ok(Record {
        principal,
        outcome,
        mark,
        fingerprint,
        terms,
        submissions,
        starts,
        provider,
        deadlines,
    })
}

/// A word of the protocol, as it stands on the wire.
pub(super) fn word<T: Serialize>(value: Option<T>) -> rusqlite::Result<Option<String>> {
    let Some(value) = value else { return Ok(None) };
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(Some(word)),
        Ok(other) => {
            Err(rusqlite::Error::ToSqlConversionFailure(format!("{other} is no word").into()))
        }
        Err(error) => Err(rusqlite::Error::ToSqlConversionFailure(error.into())),
    }
}

/// A value as JSON; an empty one is stored as NULL.
pub(super) fn json<T: Serialize>(value: Option<&T>) -> rusqlite::Result<Option<String>> {
    value
        .map(serde_json::to_string)
        .transpose()
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// An id as it is stored.
pub(super) fn bytes(uuid: Uuid) -> impl ToSql {
    uuid.into_bytes()
}
