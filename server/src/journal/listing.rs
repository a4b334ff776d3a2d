//! Where a page of the list of conversations begins, and what may be changed about one.

use std::fmt;
use std::str::FromStr;

use holdfast_protocol::{ConversationId, ConversationSummary, Timestamp, Title};
use uuid::Uuid;

use crate::search::Query;

/// A page of a principal's conversations, the newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Only those in one of whose turns all of this is found.
    pub matching: Option<Query>,
    /// Only what comes after this place.
    pub before: Option<Cursor>,
    /// At most so many.
    pub limit: u32,
}

/// A place between two conversations of the list. It is made of what the list is ordered by, so that it
/// stays where it is while conversations before it come, go and move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// When something last happened in the conversation before it.
    pub updated_at: Timestamp,
    /// That conversation.
    pub id: ConversationId,
}

/// The text is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CursorError;

impl Cursor {
    /// The place after this conversation.
    pub const fn after(summary: &ConversationSummary) -> Self {
        Self { updated_at: summary.updated_at, id: summary.id }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:012x}{}", self.updated_at.millis(), self.id.uuid().simple())
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let is_hex = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let (millis, id) = text.split_at_checked(12).filter(|_| is_hex).ok_or(CursorError)?;
        let millis = u64::from_str_radix(millis, 16).map_err(|_| CursorError)?;
        let id = Uuid::try_parse(id).map_err(|_| CursorError)?;
        let cursor =
            Self { updated_at: Timestamp::from_millis(millis), id: ConversationId::new(id) };
        // One spelling a place.
        if cursor.to_string() == text { Ok(cursor) } else { Err(CursorError) }
    }
}

/// What a person changes about a conversation; what is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Its title.
    pub title: Option<Title>,
    /// What is put first in what a provider is shown; an empty one removes it.
    pub system_prompt: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_was_and_nothing_else_is_one() {
        let cursor = Cursor {
            updated_at: Timestamp::from_millis(1_769_850_000_123),
            id: ConversationId::new(Uuid::from_u128(77)),
        };
        let text = cursor.to_string();
        assert_eq!(text.parse(), Ok(cursor));
        let upper = text.to_uppercase();
        for wrong in ["", "x", &upper, &text[1..], &format!("{text}0"), "é".repeat(22).as_str()] {
            assert_eq!(wrong.parse::<Cursor>(), Err(CursorError), "{wrong}");
        }
        let beyond = format!("ffffffffffff{}", Uuid::from_u128(77).simple());
        assert_eq!(beyond.parse::<Cursor>(), Err(CursorError), "outside the calendar");
    }
}
