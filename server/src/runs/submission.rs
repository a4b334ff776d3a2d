//! What comes in: an ask, or the wish to cancel one, parsed.

use holdfast_protocol::{AskBody, CancelBody, ConversationId, Question, RequestId, Timestamp};

use crate::journal::{ConversationKey, Fingerprint, Key, NewAsk, PrincipalId, Start, Terms};

/// An ask that was submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Its identity.
    pub key: Key,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// The question, trimmed.
    pub question: Question,
    /// What else it asks for.
    pub terms: Terms,
    /// The ask it repeats.
    pub retry_of: Option<RequestId>,
    /// What its conversation has put first, if it brings it into being; empty for nothing.
    pub system_prompt: String,
    /// What a second submission must equal.
    pub fingerprint: Fingerprint,
}

impl Submission {
    /// A principal's ask. `language` is used where the body names none. `None` if the question is
    /// none, which [`AskBody::from_json`] has ruled out.
    pub fn new(principal: PrincipalId, body: &AskBody, language: Option<String>) -> Option<Self> {
        Some(Self {
            key: Key::new(principal, body.request_id),
            conversation_id: body.conversation_id,
            question: Question::parse(&body.question).ok()?,
            terms: Terms {
                current: body.current.unwrap_or(false),
                remember: body.remember.unwrap_or(true),
                language: body.language.clone().or(language),
                model: body.model.clone(),
            },
            retry_of: body.retry_of,
            system_prompt: body.system_prompt.clone().unwrap_or_default(),
            fingerprint: Fingerprint::of(body),
        })
    }

    /// Its conversation, in its principal's namespace.
    pub(super) const fn conversation(&self) -> ConversationKey {
        ConversationKey::new(self.key.principal, self.conversation_id)
    }

    /// The ask as it enters the journal.
    pub(super) fn arriving(self, asked_at: Timestamp, start: Option<Start>) -> NewAsk {
        NewAsk {
            key: self.key,
            conversation_id: self.conversation_id,
            question: self.question.into_string(),
            terms: self.terms,
            retry_of: self.retry_of,
            system_prompt: self.system_prompt,
            fingerprint: self.fingerprint,
            asked_at,
            start,
        }
    }
}

/// The wish to cancel an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cancellation {
    /// The ask.
    pub key: Key,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// The ask itself, where the cancel brings it along.
    pub ask: Option<Submission>,
}

impl Cancellation {
    /// A principal's wish.
    pub fn new(principal: PrincipalId, request_id: RequestId, body: &CancelBody) -> Self {
        Self {
            key: Key::new(principal, request_id),
            conversation_id: body.conversation_id,
            ask: body.ask.as_ref().and_then(|ask| Submission::new(principal, ask, None)),
        }
    }
}
