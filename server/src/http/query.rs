//! The query of a request: ids and numbers, which need no decoding and get none; and a text.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use holdfast_protocol::{Code, ConversationId};

use super::problem::{Fault, Result};
use crate::conversations::Format;
use crate::journal::Cursor;
use crate::search;

/// The raw query.
pub(super) struct Query(String);

impl Query {
    /// The value of `name`. Two are refused: which of them counts would be anybody's guess.
    fn value(&self, name: &str) -> Result<Option<&str>> {
        let mut values = self.0.split('&').filter_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (key == name).then_some(value)
        });
        let value = values.next();
        match values.next() {
            None => Ok(value),
            Some(_) => Err(Fault::new(Code::InvalidField, format!("`{name}` must be given once."))),
        }
    }

    pub(super) fn conversation_id(&self) -> Result<ConversationId> {
        let value = self.value("conversation_id")?.unwrap_or_default();
        value.parse().map_err(|_| {
            let detail = "`conversation_id` must be a UUID in lower-case hyphenated form.";
            Fault::new(Code::InvalidConversationId, detail)
        })
    }

    /// An offset in bytes.
    pub(super) fn after(&self) -> Result<Option<u64>> {
        let Some(value) = self.value("after")? else { return Ok(None) };
        let detail = "`after` must be a number of bytes.";
        number(value).map(Some).ok_or_else(|| Fault::new(Code::InvalidOffset, detail))
    }

    /// A place in a conversation.
    pub(super) fn before(&self) -> Result<Option<u64>> {
        let Some(value) = self.value("before")? else { return Ok(None) };
        let detail = "`before` must be a `seq`, as `next` gave it.";
        number(value).map(Some).ok_or_else(|| Fault::new(Code::InvalidField, detail))
    }

    /// A place in the list of conversations.
    pub(super) fn cursor(&self) -> Result<Option<Cursor>> {
        let Some(value) = self.value("before")? else { return Ok(None) };
        let detail = "`before` must be what `next` gave.";
        value.parse().map(Some).map_err(|_| Fault::new(Code::InvalidField, detail))
    }

    /// What is looked for, if anything is: a form's encoding, in which a plus is a space. What is no
    /// UTF-8 in it is looked for as what cannot be found.
    pub(super) fn search(&self) -> Result<Option<search::Query>> {
        let Some(value) = self.value("q")? else { return Ok(None) };
        let pair = format!("q={value}");
        let text = form_urlencoded::parse(pair.as_bytes()).next().map(|(_, text)| text);
        let text = text.unwrap_or_default();
        Ok((!text.trim().is_empty()).then(|| search::Query::parse(&text)))
    }

    /// How a conversation is to be written.
    pub(super) fn format(&self) -> Result<Format> {
        match self.value("format")? {
            None | Some("json") => Ok(Format::Json),
            Some("markdown") => Ok(Format::Markdown),
            Some(_) => {
                let detail = "`format` must be `json` or `markdown`.";
                Err(Fault::new(Code::InvalidField, detail))
            }
        }
    }

    /// The length of a page.
    pub(super) fn limit(&self, default: u32, most: u32) -> Result<u32> {
        let Some(value) = self.value("limit")? else { return Ok(default) };
        number(value)
            .and_then(|limit| u32::try_from(limit).ok())
            .filter(|limit| (1..=most).contains(limit))
            .ok_or_else(|| {
                Fault::new(Code::InvalidField, format!("`limit` must be from 1 to {most}."))
            })
    }
}

/// Digits and nothing else: no sign, no space.
pub(super) fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> std::result::Result<Self, Fault> {
        Ok(Self(parts.uri.query().unwrap_or_default().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn query(text: &str) -> Query {
        Query(text.to_owned())
    }

    #[test]
    fn numbers_are_digits() {
        assert_eq!(query("").after().unwrap(), None);
        assert_eq!(query("x=1&after=12").after().unwrap(), Some(12));
        for wrong in ["after=", "after", "after=-1", "after=+1", "after=1%30", "after=1.5"] {
            assert!(query(wrong).after().is_err(), "{wrong}");
        }
        assert!(query("after=99999999999999999999").after().is_err());
        assert!(query("after=1&after=1").after().is_err(), "given twice");
    }

    #[test]
    fn a_limit_has_bounds() {
        assert_eq!(query("").limit(50, 200).unwrap(), 50);
        assert_eq!(query("limit=200").limit(50, 200).unwrap(), 200);
        for wrong in ["limit=0", "limit=201", "limit=99999999999", "limit=all"] {
            assert!(query(wrong).limit(50, 200).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_id_is_taken_as_it_was_sent() {
        let id = "018f2b6e-7c11-7cc3-9d5a-0123456789ab";
        assert!(query(&format!("conversation_id={id}")).conversation_id().is_ok());
        for wrong in [
            String::new(),
            format!("conversation_id={}", id.to_uppercase()),
            format!("conversation_id={}", id.replace('0', "%30")),
            format!("conversation%5Fid={id}"),
            format!("conversation_id={id}&conversation_id={id}"),
        ] {
            assert!(query(&wrong).conversation_id().is_err(), "{wrong}");
        }
    }
}
