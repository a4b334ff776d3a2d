//! An error on the wire: RFC 9457 `application/problem+json` with an application code.

use serde::Serialize;
use serde_json::Value;

use crate::members::{FromJson, Members, Unreadable, deserialize_from_json};
use crate::{Code, RequestId};

/// A problem as RFC 9457 § 3 shapes it, with `code` and, for some codes, one more member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// `about:blank`: the code says what kind of problem it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// The code's title.
    pub title: String,
    /// The HTTP status; advisory, as RFC 9457 § 3.1.2 has it.
    pub status: u16,
    /// What happened here, in a sentence for people.
    pub detail: String,
    /// The application error code.
    pub code: Code,
    /// With `already_retried`: the ask that repeats it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

fn about_blank() -> String {
    "about:blank".to_owned()
}

impl Problem {
    /// The media type of a problem.
    pub const MEDIA_TYPE: &'static str = "application/problem+json";

    /// A problem of this code, with a sentence that says what happened here.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            kind: about_blank(),
            title: code.title().to_owned(),
            status: code.status(),
            detail: detail.into(),
            code,
            request_id: None,
        }
    }

    /// The same, naming another ask.
    #[must_use]
    pub fn naming(mut self, request_id: RequestId) -> Self {
        self.request_id = Some(request_id);
        self
    }
}

deserialize_from_json!(Problem);

impl FromJson for Problem {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        let status = members.number("status")?.unwrap_or_default();
        Ok(Self {
            kind: members.string("type")?.unwrap_or_else(about_blank),
            title: members.string("title")?.unwrap_or_default(),
            status: u16::try_from(status).map_err(|_| Unreadable)?,
            detail: members.string("detail")?.unwrap_or_default(),
            code: members.parsed("code")?.ok_or(Unreadable)?,
            request_id: members.parsed("request_id")?,
        })
    }
}
