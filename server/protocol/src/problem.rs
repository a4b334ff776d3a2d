//! An error on the wire: RFC 9457 `application/problem+json` with an application code.

use serde::{Deserialize, Serialize};

use crate::{Code, RequestId};

/// A problem as RFC 9457 § 3 shapes it, with `code` and, for some codes, one more member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// `about:blank`: the code says what kind of problem it is.
    #[serde(rename = "type", default = "about_blank")]
    pub kind: String,
    /// The code's title.
    #[serde(default)]
    pub title: String,
    /// The HTTP status; advisory, as RFC 9457 § 3.1.2 has it.
    #[serde(default)]
    pub status: u16,
    /// What happened here, in a sentence for people.
    #[serde(default)]
    pub detail: String,
    /// The application error code.
    pub code: Code,
    /// With `already_retried`: the ask that repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
