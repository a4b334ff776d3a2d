//! Everything can be read back as the journal reads it, and nothing is lost in reading.

use holdfast_protocol::{Capture, ContextItem, FailureCode, Finish, Question, Route, Status};
use rusqlite::{Connection, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::rows::{self, COLUMNS};
use super::Findings;
use super::rule::{Subject, id};
use crate::journal::Record;

pub(super) const NO_QUESTION: &str = "its question is blank, too long, not trimmed, or holds NUL";
pub(super) const NO_ANSWER: &str = "it was completed, and has no answer";
pub(super) const WORD: &str = "a word in it is none that this version writes: ";
pub(super) const JSON: &str = "what is kept as JSON in it is not as this version writes it: ";
pub(super) const UNREADABLE: &str = "it cannot be read: ";

/// Reads every ask.
pub(super) fn examine(connection: &Connection, findings: &mut Findings) -> rusqlite::Result<()> {
    each(connection, COLUMNS, |row| {
        let ask = id(row.get_ref(1)?);
        match rows::record(row) {
            Ok(record) => {
                if let Some(says) = fault_of(&record) {
                    findings.add_about(Subject::Ask, ask, says);
                }
            }
            // What has been told of it already is why.
            Err(_) if findings.asks.contains(ask) => {}
            Err(error) => {
                let column = column(row, &error).ok_or(error)?;
                findings.add_about(Subject::Ask, ask, &format!("{UNREADABLE}{column}"));
            }
        }
        Ok(())
    })?;
    each(connection, WORDS, |row| {
        word::<Status>(row, 1, findings)?;
        word::<Finish>(row, 2, findings)?;
        word::<FailureCode>(row, 3, findings)?;
        word::<Route>(row, 4, findings)?;
        json::<Capture>(row, 5, findings)?;
        json::<Vec<ContextItem>>(row, 6, findings)?;
        json::<Vec<String>>(row, 7, findings)
    })
}

/// The columns that hold words of the protocol, and those that hold JSON.
const WORDS: &str = "a.request_id, a.status, a.finish, a.error_code, a.route,
                     a.capture, a.context, a.context_missing";

fn each(
    connection: &Connection,
    columns: &str,
    mut see: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare(&format!("SELECT {columns} FROM asks a ORDER BY a.id"))?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        see(row)?;
    }
    Ok(())
}

/// What is wrong with an ask that can be read.
fn fault_of(record: &Record) -> Option<&'static str> {
    let outcome = &record.outcome;
    let is_kept = |question: &String| {
        Question::parse(question).is_ok_and(|parsed| parsed.as_str() == question)
    };
    if outcome.question.as_ref().is_some_and(|question| !is_kept(question)) {
        return Some(NO_QUESTION);
    }
    let is_blank = outcome.text().trim().is_empty();
    (outcome.status == Status::Completed && is_blank).then_some(NO_ANSWER)
}

/// The column that an error is about; `None` where it is about more than the row.
fn column(row: &Row<'_>, error: &rusqlite::Error) -> Option<String> {
    let at = match error {
        rusqlite::Error::FromSqlConversionFailure(at, ..)
        | rusqlite::Error::InvalidColumnType(at, ..)
        | rusqlite::Error::IntegralValueOutOfRange(at, _)
        | rusqlite::Error::Utf8Error(at, _) => *at,
        _ => return None,
    };
    let name = row.as_ref().column_name(at).unwrap_or_default();
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    Some(if is_plain { name.to_owned() } else { "its text or its successor".to_owned() })
}

/// A word must come back as it stands: an unknown one is read as the nearest known.
fn word<T: DeserializeOwned + Serialize>(
    row: &Row<'_>,
    at: usize,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    round_trip::<T>(row, at, WORD, findings, |text| Some(Value::String(text.to_owned())))
}

fn json<T: DeserializeOwned + Serialize>(
    row: &Row<'_>,
    at: usize,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    round_trip::<T>(row, at, JSON, findings, |text| serde_json::from_str(text).ok())
}

fn round_trip<T: DeserializeOwned + Serialize>(
    row: &Row<'_>,
    at: usize,
    says: &str,
    findings: &mut Findings,
    value: impl Fn(&str) -> Option<Value>,
) -> rusqlite::Result<()> {
    let ask = id(row.get_ref(0)?);
    let Some(bytes) = row.get_ref(at)?.as_bytes_or_null().unwrap_or_default() else {
        return Ok(());
    };
    let comes_back = || {
        let value = value(str::from_utf8(bytes).ok()?)?;
        let read: T = serde_json::from_value(value.clone()).ok()?;
        Some(serde_json::to_value(read).ok()? == value)
    };
    if comes_back() != Some(true) && !findings.asks.contains(ask) {
        let column = row.as_ref().column_name(at).unwrap_or_default().to_owned();
        findings.add_about(Subject::Ask, ask, &format!("{says}{column}"));
    }
    Ok(())
}
