//! Taking a conversation along: as JSON, which loses nothing, or as Markdown, to be read.
//!
//! Both are written stretch by stretch, so that a conversation of any length takes little memory.

use std::fmt::Write as _;

use holdfast_protocol::{Outcome, Status};
use serde_json::{Value, json};

use crate::journal::{Transcript, TranscriptTurn};

/// How a conversation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// All of it, to be imported.
    Json,
    /// To be read.
    Markdown,
}

impl Format {
    /// The media type of what is written.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Markdown => "text/markdown; charset=utf-8",
        }
    }

    /// The ending of a file's name.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Markdown => "md",
        }
    }

    /// What comes before the turns.
    pub(super) fn head(self, transcript: &Transcript) -> String {
        match self {
            Self::Json => {
                let mut about = json!({
                    "id": transcript.id,
                    "title": transcript.title,
                    "created_at": transcript.created_at,
                    "updated_at": transcript.updated_at,
                });
                if let (Some(prompt), Some(about)) =
                    (&transcript.system_prompt, about.as_object_mut())
                {
                    about.insert("system_prompt".to_owned(), Value::String(prompt.clone()));
                }
                let about = about.to_string();
                let open = about.strip_suffix('}').unwrap_or_default();
                format!("{open},\"turns\":[")
            }
            Self::Markdown => format!("# {}\n", heading(&transcript.title)),
        }
    }

    /// A turn; the first has nothing before it.
    pub(super) fn turn(self, turn: &TranscriptTurn, is_first: bool) -> String {
        match self {
            Self::Json => {
                let comma = if is_first { "" } else { "," };
                format!("{comma}\n{}", json_of(turn))
            }
            Self::Markdown => markdown_of(&turn.outcome),
        }
    }

    /// What comes after the turns.
    pub(super) const fn tail(self) -> &'static str {
        match self {
            Self::Json => "\n]}\n",
            Self::Markdown => "",
        }
    }
}

/// The outcome, and under `submitted` what else was part of the ask.
fn json_of(turn: &TranscriptTurn) -> Value {
    // An outcome is an object, and always serialises.
    let mut value = serde_json::to_value(&turn.outcome).unwrap_or_default();
    let terms = &turn.terms;
    let mut submitted = json!({
        "current": terms.current,
        "remember": terms.remember,
        "fingerprint": turn.fingerprint.to_string(),
    });
    for (name, text) in [("language", &terms.language), ("model", &terms.model)] {
        if let (Some(text), Some(submitted)) = (text, submitted.as_object_mut()) {
            submitted.insert(name.to_owned(), Value::String(text.clone()));
        }
    }
    if let Some(value) = value.as_object_mut() {
        value.insert("submitted".to_owned(), submitted);
    }
    value
}

/// The question as a quotation, below a heading that tells when it was asked, and the answer as it is.
fn markdown_of(outcome: &Outcome) -> String {
    let mut text = String::from("\n## ");
    let asked_at = outcome.asked_at.map(|at| at.to_string()).unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = write!(text, "{}\n\n", asked_at.get(..16).unwrap_or_default().replace('T', " "));
    for line in outcome.question.as_deref().unwrap_or_default().lines() {
        let _ = writeln!(text, "> {line}");
    }
    let answer = outcome.text();
    if !answer.is_empty() {
        let _ = write!(text, "\n{answer}");
        if !answer.ends_with('\n') {
            text.push('\n');
        }
        // What the answer has left open would swallow all that follows it.
        if let Some(close) = open_fence(answer) {
            let _ = writeln!(text, "{close}");
        }
    }
    if let Some(says) = end(outcome) {
        let _ = write!(text, "\n*{says}*\n");
    }
    text
}

/// What has to be said about an end that was not a good one.
fn end(outcome: &Outcome) -> Option<String> {
    let why = outcome.error.as_ref().map(|error| heading(&error.message)).unwrap_or_default();
    Some(match outcome.status {
        Status::Completed => return None,
        Status::Pending => "Not answered yet.".to_owned(),
        Status::Cancelled => "Stopped.".to_owned(),
        Status::Interrupted => format!("Interrupted. {why}"),
        Status::Failed => format!("Failed. {why}"),
    })
}

/// A text on one line, in which nothing is markup.
fn heading(text: &str) -> String {
    let mut heading = String::new();
    for c in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '&' | '~' | '|') {
            heading.push('\\');
        }
        heading.push(c);
    }
    heading
}

/// The fence that closes a block of code which a text leaves open (`CommonMark` § 4.5).
fn open_fence(text: &str) -> Option<String> {
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let inner = line.trim_start_matches(' ');
        if line.len() - inner.len() > 3 {
            continue;
        }
        let Some(mark) = inner.chars().next().filter(|c| matches!(c, '`' | '~')) else { continue };
        let rest = inner.trim_start_matches(mark);
        let length = inner.len() - rest.len();
        match open {
            None if length >= 3 && !(mark == '`' && rest.contains('`')) => {
                open = Some((mark, length));
            }
            Some((same, least)) if same == mark && length >= least && rest.trim().is_empty() => {
                open = None;
            }
            _ => {}
        }
    }
    open.map(|(mark, length)| mark.to_string().repeat(length))
}

/// The name of the file to save it as, for a `Content-Disposition` (RFC 6266): once for those who read
/// ASCII alone, and once whole.
pub(crate) fn disposition(title: &str, format: Format) -> String {
    let is_unsafe = |c: char| {
        c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '%')
    };
    let name: String = title.chars().filter(|c| !is_unsafe(*c)).take(80).collect();
    let name = name.trim_matches(|c: char| c == '.' || c.is_whitespace());
    let name = if name.is_empty() { "conversation" } else { name };
    let ascii: String = name.chars().map(|c| if c.is_ascii() { c } else { '_' }).collect();
    let mut encoded = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    let ending = format.ending();
    format!("attachment; filename=\"{ascii}.{ending}\"; filename*=UTF-8''{encoded}.{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_name_that_harms_nobody() {
        let name = |title| disposition(title, Format::Markdown);
        assert_eq!(
            name("../a\"b\r\nX: y"),
            "attachment; filename=\"abX y.md\"; filename*=UTF-8''abX%20y.md"
        );
        assert_eq!(name("雲?"), "attachment; filename=\"_.md\"; filename*=UTF-8''%E9%9B%B2.md");
        assert!(name("...").contains("\"conversation.md\""));
    }

    #[test]
    fn what_an_answer_leaves_open_is_closed() {
        for (text, close) in [
            ("a", None),
            ("```\na\n```", None),
            ("```rust\na", Some("```")),
            ("~~~~\n```\n~~~", Some("~~~~")),
            ("````\n```\n", Some("````")),
            ("    ```\n", None),
            ("```a`b\n", None),
            ("```\n``` x\n", Some("```")),
        ] {
            assert_eq!(open_fence(text).as_deref(), close, "{text}");
        }
    }

    #[test]
    fn nothing_in_a_heading_is_markup() {
        assert_eq!(heading("a\n# *b* <i>"), "a \\# \\*b\\* \\<i\\>");
    }
}
