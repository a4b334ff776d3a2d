//! A conversation: a page of its turns, or its line in the list.

use serde::Serialize;
use serde_json::Value;

use crate::members::{FromJson, Members, Unreadable, deserialize_from_json};
use crate::{ConversationId, Outcome, RequestId, Timestamp};

/// The reply of `GET api/v1/conversations/{id}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// Its title.
    pub title: String,
    /// What is put first in what a provider is shown, if it has such a text of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// A page of its turns by `seq`; without `before` the newest.
    pub turns: Vec<Outcome>,
    /// The `before` of the page before this one, or null.
    pub next: Option<u64>,
}

/// A conversation as its list has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConversationSummary {
    /// Its id.
    pub id: ConversationId,
    /// Its title.
    pub title: String,
    /// When its first ask arrived.
    pub created_at: Timestamp,
    /// When an ask last arrived in it or settled.
    pub updated_at: Timestamp,
    /// How many turns it has.
    pub turns: u64,
    /// How many of them have not settled.
    pub pending: u64,
    /// Where it was searched for: the text around what was found, as plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}

/// The reply of `GET api/v1/conversations`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConversationList {
    /// A page of them, the newest first.
    pub conversations: Vec<ConversationSummary>,
    /// The `before` of the page after this one, or null. Opaque.
    pub next: Option<String>,
}

/// The reply of `POST api/v1/import`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// How many turns are new.
    pub created: u64,
    /// How many were there already, and say the same.
    pub unchanged: u64,
    /// Ids of turns that are used by something else, which was left alone.
    pub conflicts: Vec<RequestId>,
}

deserialize_from_json!(Conversation, ConversationSummary, ConversationList, ImportReport);

impl FromJson for Conversation {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        Ok(Self {
            id: members.parsed("id")?.ok_or(Unreadable)?,
            title: members.string("title")?.ok_or(Unreadable)?,
            system_prompt: members.string("system_prompt")?,
            turns: members.list("turns")?,
            next: members.number("next")?,
        })
    }
}

impl FromJson for ConversationSummary {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        Ok(Self {
            id: members.parsed("id")?.ok_or(Unreadable)?,
            title: members.string("title")?.ok_or(Unreadable)?,
            created_at: members.parsed("created_at")?.ok_or(Unreadable)?,
            updated_at: members.parsed("updated_at")?.ok_or(Unreadable)?,
            turns: members.number("turns")?.ok_or(Unreadable)?,
            pending: members.number("pending")?.ok_or(Unreadable)?,
            excerpt: members.string("excerpt")?,
        })
    }
}

impl FromJson for ConversationList {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        Ok(Self { conversations: members.list("conversations")?, next: members.string("next")? })
    }
}

impl FromJson for ImportReport {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        let conflicts = members.list::<String>("conflicts")?;
        let conflicts = conflicts.iter().map(|id| id.parse().map_err(|_| Unreadable));
        Ok(Self {
            created: members.number("created")?.ok_or(Unreadable)?,
            unchanged: members.number("unchanged")?.ok_or(Unreadable)?,
            conflicts: conflicts.collect::<Result<_, _>>()?,
        })
    }
}
