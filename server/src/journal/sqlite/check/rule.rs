//! A rule that is a query: it finds the rows that break it.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::Findings;

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    Ask,
    /// An ask, by what is kept of its partial text.
    Pieces,
    Conversation,
}

impl Subject {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Ask | Self::Pieces => "ask",
            Self::Conversation => "conversation",
        }
    }

    pub(super) const fn table(self) -> &'static str {
        match self {
            Self::Ask => "asks",
            Self::Pieces => "pieces",
            Self::Conversation => "conversations",
        }
    }
}

/// A rule of the archive.
#[derive(Debug)]
pub(super) struct Rule {
    /// What is wrong with whatever breaks it; a sentence that goes on from its subject.
    pub(super) says: &'static str,
    pub(super) of: Subject,
    /// Finds what breaks it. The first column is the subject's id.
    pub(super) finds: &'static str,
}

impl Rule {
    /// Tells of every row that breaks it.
    pub(super) fn examine(
        &self,
        connection: &Connection,
        findings: &mut Findings,
    ) -> rusqlite::Result<()> {
        let mut statement = connection.prepare(self.finds)?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            findings.add_about(self.of, id(row.get_ref(0)?), self.says);
        }
        Ok(())
    }
}

/// The bytes of an id, of whatever type a damaged file says it is.
pub(super) fn id(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => bytes,
        _ => &[],
    }
}
