//! What a reply to an ask, a lookup or a cancel means: the one classification.
//!
//! The network between page and server answers in Holdfast's place more often than one likes: a
//! proxy's 504, a captive portal's login page with status 200, another server's JSON. Only what
//! carries an outcome with the ids asked for, or an application code in a problem, is Holdfast's word.
//! Everything else leaves the outcome *unknown*, and an unknown outcome is looked up, never guessed.

use std::time::Duration;

use crate::{Code, ConversationId, Outcome, Problem, RequestId, retry_after};

/// A `Wait` whose reply names no time.
const WAIT_UNNAMED: Duration = Duration::from_secs(2);
/// What comes back is at most this long a wait; beyond it a person decides.
pub const WAIT_MOST: Duration = Duration::from_mins(1);

/// What was sent, as far as the classification depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// The first submission of an ask.
    Ask,
    /// The same body once more.
    Resubmission,
    /// A lookup.
    Lookup,
    /// A request for the ask's event stream. What comes instead of the stream is classified as a
    /// lookup's reply is.
    Events,
    /// A cancel.
    Cancel,
}

/// A reply that came with a status and a whole body.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// The HTTP status.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: Option<&'a str>,
    /// `Retry-After`.
    pub retry_after: Option<&'a str>,
    /// `Date`.
    pub date: Option<&'a str>,
    /// The body.
    pub body: &'a [u8],
}

/// What came back.
#[derive(Clone, Copy, Debug)]
pub enum Received<'a> {
    /// A reply.
    Reply(Reply<'a>),
    /// No status, or a body that broke off.
    Nothing {
        /// Whether it was the page's own patience that ended.
        timed_out: bool,
    },
}

/// What it means.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Holdfast's word on the ask.
    Outcome(Box<Outcome>),
    /// A real refusal: nothing was accepted, and sending it again would not help.
    Refused {
        /// Why.
        code: Code,
        /// The sentence to show.
        detail: String,
    },
    /// Nobody is signed in: the pointer is kept until somebody is.
    SignIn {
        /// The sentence to show.
        detail: String,
    },
    /// The ask was deleted: the pointer goes.
    Gone {
        /// The sentence to show.
        detail: String,
    },
    /// Another ask already repeats what this one would: follow that.
    Retried(RequestId),
    /// Send the same again after a while.
    Wait {
        /// How long; more than [`WAIT_MOST`] is a person's decision.
        after: Duration,
        /// Holdfast's code, or none where something in between said it.
        code: Option<Code>,
        /// The sentence to show, if there is one.
        detail: String,
    },
    /// Nothing can be said: look up.
    Unknown {
        /// Whether patience ended somewhere, here or at a proxy: the next wait should be shorter.
        timed_out: bool,
        /// Whether Holdfast itself replied, without settling the matter.
        replied: bool,
    },
}

impl Verdict {
    const NOTHING: Self = Self::Unknown { timed_out: false, replied: false };

    /// A stream that came to its end without the outcome, as Holdfast may let it at any time.
    pub const STREAM_ENDED: Self = Self::Unknown { timed_out: false, replied: true };
    /// A stream that was cut, or that cannot be read on.
    pub const STREAM_BROKEN: Self = Self::NOTHING;

    /// Whether the reply is Holdfast's own. Only a lookup that brought none counts as an attempt.
    pub const fn is_from_holdfast(&self) -> bool {
        match self {
            Self::Unknown { replied, .. } => *replied,
            Self::Wait { code, .. } => code.is_some(),
            Self::Outcome(_)
            | Self::Refused { .. }
            | Self::SignIn { .. }
            | Self::Gone { .. }
            | Self::Retried(_) => true,
        }
    }
}

/// Says what came back to an exchange about this ask.
pub fn classify(
    request_id: RequestId,
    conversation_id: ConversationId,
    exchange: Exchange,
    received: Received<'_>,
) -> Verdict {
    let reply = match received {
        Received::Reply(reply) => reply,
        Received::Nothing { timed_out } => return Verdict::Unknown { timed_out, replied: false },
    };
    match reply.status {
        200 | 202 => outcome(request_id, conversation_id, &reply),
        status if status >= 400 => match problem(&reply) {
            Some(problem) => said(exchange, problem, &reply),
            None => unsaid(&reply),
        },
        _ => Verdict::NOTHING,
    }
}

fn outcome(request_id: RequestId, conversation_id: ConversationId, reply: &Reply<'_>) -> Verdict {
    if !is_media_type(reply, "application/json") {
        return Verdict::NOTHING;
    }
    match serde_json::from_slice::<Outcome>(reply.body) {
        Ok(outcome)
            if outcome.request_id == request_id && outcome.conversation_id == conversation_id =>
        {
            Verdict::Outcome(Box::new(outcome))
        }
        _ => Verdict::NOTHING,
    }
}

/// Holdfast's problem, if it is one: a listed code in a problem. As plain JSON it must also say the
/// status it came with: other servers' JSON may well have a `code`, it hardly has both.
fn problem(reply: &Reply<'_>) -> Option<Problem> {
    let problem = || serde_json::from_slice::<Problem>(reply.body).ok();
    if is_media_type(reply, Problem::MEDIA_TYPE) {
        problem()
    } else if is_media_type(reply, "application/json") {
        problem().filter(|problem| problem.status == reply.status)
    } else {
        None
    }
}

/// Holdfast said something, with a code.
fn said(exchange: Exchange, problem: Problem, reply: &Reply<'_>) -> Verdict {
    let Problem { code, detail, request_id, .. } = problem;
    match code {
        Code::RateLimited | Code::ShuttingDown | Code::Starting | Code::ArchiveUnavailable => {
            Verdict::Wait { after: wait(reply).unwrap_or(WAIT_UNNAMED), code: Some(code), detail }
        }
        Code::SignInRequired | Code::InvalidToken => Verdict::SignIn { detail },
        Code::RequestDeleted => Verdict::Gone { detail },
        // A fault in the server says nothing about what it kept.
        Code::Internal => Verdict::Unknown { timed_out: false, replied: true },
        // The id is known: by this very ask, as far as this page can tell.
        Code::RequestMismatch if exchange == Exchange::Resubmission => {
            Verdict::Unknown { timed_out: false, replied: true }
        }
        Code::AlreadyRetried => match request_id {
            Some(request_id) => Verdict::Retried(request_id),
            None => Verdict::Refused { code, detail },
        },
        _ => Verdict::Refused { code, detail },
    }
}

/// Something in between said it, or nobody.
fn unsaid(reply: &Reply<'_>) -> Verdict {
    if let 408 | 425 | 429 | 503 = reply.status
        && let Some(after) = wait(reply)
    {
        return Verdict::Wait { after, code: None, detail: String::new() };
    }
    // 504, and the two Cloudflare has for it: the origin was too slow for whoever stands in between.
    let timed_out = matches!(reply.status, 408 | 504 | 522 | 524);
    Verdict::Unknown { timed_out, replied: false }
}

fn wait(reply: &Reply<'_>) -> Option<Duration> {
    retry_after(reply.retry_after?, reply.date)
}

fn is_media_type(reply: &Reply<'_>, media_type: &str) -> bool {
    reply.content_type.is_some_and(|value| names(value, media_type))
}

/// Whether a `Content-Type` names this media type, whatever its parameters.
pub(crate) fn names(content_type: &str, media_type: &str) -> bool {
    content_type
        .split(';')
        .next()
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case(media_type))
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
