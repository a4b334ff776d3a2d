//! Bringing conversations along: those of an export, and those of a `ChatGPT` export.
//!
//! Here belongs what a file may say, and the sentence about what it may not: one turn that cannot be
//! kept refuses the whole, before anything is written. What the archive does with the rest is the
//! journal's: it adds what is new, and changes nothing that is there.

mod chatgpt;
mod turn;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use holdfast_protocol::{ConversationId, RequestId, Timestamp};
use serde_json::{Map, Value};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::journal::{Transcript, title_of};

/// Graphemes of the longest title.
const TITLE: usize = 200;

/// Why a file cannot be imported: a sentence that names what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError(pub String);

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

type Result<T> = std::result::Result<T, ImportError>;

fn wrong<T>(sentence: impl Into<String>) -> Result<T> {
    Err(ImportError(sentence.into()))
}

/// Reads a file: one conversation or a list of them, each as an export has it or as `ChatGPT` has.
pub(super) fn read(value: &Value) -> Result<Vec<Transcript>> {
    let conversations = match value {
        Value::Array(conversations) => conversations.as_slice(),
        Value::Object(_) => std::slice::from_ref(value),
        _ => return wrong("This is no export: it is neither a conversation nor a list of them."),
    };
    let mut transcripts = Vec::new();
    let mut ids = BTreeMap::new();
    for (at, conversation) in conversations.iter().enumerate() {
        let name = format!("conversation {}", at + 1);
        let Some(fields) = conversation.as_object() else {
            return wrong(format!("{name} is no object."));
        };
        let transcript = if fields.contains_key("mapping") {
            chatgpt::read(fields, &name)?
        } else {
            own(fields, &name)?
        };
        for turn in &transcript.turns {
            if ids.insert(turn.outcome.request_id, at).is_some() {
                return wrong(format!("{name}: the id {} comes twice.", turn.outcome.request_id));
            }
        }
        if !transcript.turns.is_empty() {
            transcripts.push(transcript);
        }
    }
    Ok(transcripts)
}

/// A conversation as an export has it.
fn own(fields: &Map<String, Value>, name: &str) -> Result<Transcript> {
    let id: ConversationId = match fields.get("id").and_then(Value::as_str).map(str::parse) {
        Some(Ok(id)) => id,
        _ => return wrong(format!("{name}: `id` must be a UUID in lower-case hyphenated form.")),
    };
    let name = format!("{name} ({id})");
    let Some(Value::Array(listed)) = fields.get("turns") else {
        return wrong(format!("{name}: `turns` must be a list."));
    };
    let mut turns = Vec::with_capacity(listed.len());
    let mut repeated: BTreeMap<RequestId, RequestId> = BTreeMap::new();
    for (at, value) in listed.iter().enumerate() {
        let turn = turn::read(value, id)
            .map_err(|error| ImportError(format!("{name}, turn {}: {error}", at + 1)))?;
        let own = turn.outcome.request_id;
        if let Some(retry_of) = turn.outcome.retry_of {
            let is_before =
                |turn: &crate::journal::TranscriptTurn| turn.outcome.request_id == retry_of;
            if !turns.iter().any(is_before) {
                return wrong(format!(
                    "{name}, turn {}: it repeats {retry_of}, which does not come before it.",
                    at + 1
                ));
            }
            if let Some(other) = repeated.insert(retry_of, own) {
                return wrong(format!(
                    "{name}, turn {}: it repeats {retry_of}, as {other} does already.",
                    at + 1
                ));
            }
        }
        turns.push(turn);
    }
    let time = |field: &str| match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_str().map(str::parse::<Timestamp>) {
            Some(Ok(time)) => Ok(Some(time)),
            _ => wrong(format!("{name}: `{field}` must be a time as RFC 3339 has it.")),
        },
    };
    let first = turns.first().and_then(|turn| turn.outcome.asked_at).unwrap_or_default();
    let last = turns.iter().filter_map(|turn| turn.outcome.settled_at).max().unwrap_or(first);
    let system_prompt = match fields.get("system_prompt") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => match holdfast_protocol::system_prompt(text) {
            Ok(prompt) => Some(prompt).filter(|prompt| !prompt.is_empty()),
            Err(error) => return wrong(format!("{name}: `system_prompt`: {error}")),
        },
        Some(_) => return wrong(format!("{name}: `system_prompt` must be a string.")),
    };
    let given = fields.get("title").and_then(Value::as_str).unwrap_or_default();
    let question = turns.first().and_then(|turn| turn.outcome.question.as_deref());
    Ok(Transcript {
        id,
        title: title(given, question.unwrap_or_default()),
        system_prompt,
        created_at: time("created_at")?.unwrap_or(first),
        updated_at: time("updated_at")?.unwrap_or(last),
        turns,
    })
}

/// The title that was given, on one line and not endless; else that which the first question makes.
fn title(given: &str, question: &str) -> String {
    let breaks = ['\0', '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let line = given.replace(breaks, " ");
    let line: String = line.trim().graphemes(true).take(TITLE).collect();
    match line.trim() {
        "" => title_of(question),
        line => line.to_owned(),
    }
}
