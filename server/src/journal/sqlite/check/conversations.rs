//! Conversations: each has come into being with its first ask.

use rusqlite::Connection;
use unicode_segmentation::UnicodeSegmentation as _;

use super::Findings;
use super::rule::{Rule, Subject, id};

/// Graphemes of a title: more than those that are made of a question have, as many as people may
/// give it.
const TITLE: usize = 200;

pub(super) const RULES: &[Rule] = &[
    Rule {
        says: "it belongs to a principal that does not exist",
        of: Subject::Conversation,
        finds: "SELECT c.id FROM conversations c
                WHERE NOT EXISTS (SELECT 1 FROM principals WHERE id = c.principal)",
    },
    Rule {
        says: "its id is none",
        of: Subject::Conversation,
        finds: "SELECT c.id FROM conversations c WHERE length(c.id) <> 16",
    },
    Rule {
        says: "it has no ask",
        of: Subject::Conversation,
        finds: "SELECT c.id FROM conversations c
                WHERE NOT EXISTS (SELECT 1 FROM asks a
                    WHERE a.principal = c.principal AND a.conversation_id = c.id)",
    },
    Rule {
        says: "its last place was never taken",
        of: Subject::Conversation,
        finds: "SELECT c.id FROM conversations c WHERE c.last_seq < 1",
    },
    Rule {
        says: "its times are outside the calendar",
        of: Subject::Conversation,
        finds: "SELECT c.id FROM conversations c
                WHERE c.created_at NOT BETWEEN 0 AND 253402300799999
                   OR c.updated_at NOT BETWEEN 0 AND 253402300799999",
    },
];

pub(super) const TITLE_SAYS: &str = "its title is not one line of text";

/// Titles are one line, not blank, not endless, and text.
pub(super) fn examine_titles(
    connection: &Connection,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT id, title FROM conversations")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        if !is_title(row.get_ref(1)?.as_bytes().unwrap_or_default()) {
            findings.add_about(Subject::Conversation, id(row.get_ref(0)?), TITLE_SAYS);
        }
    }
    Ok(())
}

fn is_title(bytes: &[u8]) -> bool {
    let breaks = ['\0', '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    str::from_utf8(bytes).is_ok_and(|title| {
        !title.trim().is_empty()
            && !title.contains(breaks)
            && title.graphemes(true).nth(TITLE).is_none()
    })
}
