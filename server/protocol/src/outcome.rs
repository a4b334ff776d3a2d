//! The outcome: what became of an ask, the same from every route.

use serde::Serialize;
use serde_json::Value;

use crate::members::{FromJson, Members, Unreadable, deserialize_from_json};
use crate::words::words;
use crate::{ConversationId, RequestId, Timestamp};

/// Where an ask stands. Everything but `Pending` is settled: durable, and cannot change any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not settled; [`State`] says how far it is.
    Pending,
    /// The whole answer is there.
    Completed,
    /// It ended with an error; what text there was is kept.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
    /// Holdfast went down while the provider was being called: it may have been billed.
    Interrupted,
}

impl Status {
    /// Whether nothing can change any more.
    pub const fn is_settled(self) -> bool {
        !matches!(self, Self::Pending)
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// How far a pending ask is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The journal has never heard of it.
    Unknown,
    /// Durable, and waiting for its turn.
    Accepted,
    /// Its run is under way.
    Running,
    /// Its run has ended, its final write has not succeeded yet.
    Archiving,
}

/// What became of an ask. Fields that do not apply are absent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The ask's identity.
    pub request_id: RequestId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// Its place in the conversation, by the server's count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Where it stands.
    pub status: Status,
    /// How far it is, only while pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// How many asks of the conversation are before it, only while accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
    /// The question, trimmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// When the first submission arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    /// When it settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<Timestamp>,
    /// The ask it repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<RequestId>,
    /// The ask that repeats it; may be added after it settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retried_by: Option<RequestId>,
    /// The text, partial unless completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Why it failed or was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Where the answer came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// What was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
    /// Whether the answer is remembered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<Capture>,
    /// What the generator was given beside the question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ContextItem>,
    /// What of it could not be had.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context_missing: Vec<String>,
}

impl Outcome {
    /// An outcome with only the ids and the status, everything else absent.
    pub const fn bare(
        request_id: RequestId,
        conversation_id: ConversationId,
        status: Status,
        state: Option<State>,
    ) -> Self {
        Self {
            request_id,
            conversation_id,
            seq: None,
            status,
            state,
            queue: None,
            question: None,
            asked_at: None,
            settled_at: None,
            retry_of: None,
            retried_by: None,
            answer: None,
            error: None,
            route: None,
            receipt: None,
            capture: None,
            context: Vec::new(),
            context_missing: Vec::new(),
        }
    }

    /// The reply for an id the principal never used, whoever else did.
    pub const fn unknown(request_id: RequestId, conversation_id: ConversationId) -> Self {
        Self::bare(request_id, conversation_id, Status::Pending, Some(State::Unknown))
    }

    /// Whether the journal has never heard of the ask.
    pub fn is_unknown(&self) -> bool {
        self.status == Status::Pending && self.state == Some(State::Unknown)
    }

    /// The same with another answer in the place of its own, which may be large and is not copied.
    #[must_use]
    pub fn with_answer(&self, answer: Option<Answer>) -> Self {
        Self {
            seq: self.seq,
            queue: self.queue,
            question: self.question.clone(),
            asked_at: self.asked_at,
            settled_at: self.settled_at,
            retry_of: self.retry_of,
            retried_by: self.retried_by,
            answer,
            error: self.error.clone(),
            route: self.route,
            receipt: self.receipt.clone(),
            capture: self.capture.clone(),
            context: self.context.clone(),
            context_missing: self.context_missing.clone(),
            ..Self::bare(self.request_id, self.conversation_id, self.status, self.state)
        }
    }

    /// The answer's text, or nothing.
    pub fn text(&self) -> &str {
        self.answer.as_ref().map_or("", |answer| &answer.text)
    }
}

/// The text of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Always Markdown today.
    pub format: Format,
    /// The text from `offset`.
    pub text: String,
    /// Where `text` begins in the whole, in UTF-8 bytes.
    pub offset: u64,
    /// How long the whole is by now, in UTF-8 bytes.
    pub bytes: u64,
    /// What the model thought aloud, kept apart from the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Why the provider stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
}

impl Answer {
    /// The same without its text, which is as long as it is.
    #[must_use]
    pub fn without_text(&self) -> Self {
        let Self { format, offset, bytes, finish, .. } = *self;
        let reasoning = self.reasoning.clone();
        Self { format, text: String::new(), offset, bytes, reasoning, finish }
    }
}

/// How an answer's text is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Markdown, as `CommonMark` has it.
    #[default]
    Markdown,
}

/// Why the provider stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done.
    Stop,
    /// It reached its length limit.
    Length,
    /// Its filter cut it off.
    Filtered,
}

/// Why an ask failed or was interrupted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The code.
    pub code: FailureCode,
    /// A sentence for people.
    pub message: String,
    /// Whether asking again may help.
    pub retryable: bool,
}

/// The error codes of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// No generator is configured, and nothing remembered fits.
    ProviderRequired,
    /// No connection could be made.
    ProviderUnreachable,
    /// It did not answer in time.
    ProviderTimeout,
    /// It refused the request (4xx).
    ProviderRejected,
    /// It asked to slow down (429).
    ProviderThrottled,
    /// It failed (5xx), or its stream broke.
    ProviderFailed,
    /// It answered with nothing.
    ProviderEmpty,
    /// The answer is longer than is kept.
    AnswerTooLarge,
    /// The budget is spent.
    BudgetExhausted,
    /// Holdfast went down while the provider was being called.
    ServerRestarted,
    /// A fault in Holdfast itself; also what a newer server may say that this page cannot know.
    Internal,
}

/// Where an answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// A model.
    Provider,
    /// Holdfast's own handbook.
    Notes,
    /// A remembered answer to the same question.
    MemoryExact,
    /// A remembered answer to a question that means the same.
    MemorySemantic,
    /// What is remembered about a subject.
    MemoryBroad,
    /// Something the user told Holdfast to keep.
    MemorySaved,
    /// Something remembered that the user changed.
    MemoryChanged,
}

/// The part of an outcome that proves what was spent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Receipt {
    /// The provider's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's name, as the provider gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How often a provider was called.
    pub provider_calls: u32,
    /// Tokens in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Whether the tokens are our estimate rather than the provider's count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_estimated: Option<bool>,
    /// What it cost, in millionths of `currency`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// ISO 4217.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// How often the ask was submitted until it settled.
    pub submissions: u32,
    /// From the start of the run to its first text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<u64>,
    /// How long the run took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_ms: Option<u64>,
}

/// Whether the answer is remembered, and why or why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capture {
    /// Whether it is.
    pub stored: bool,
    /// Why.
    pub reason: CaptureReason,
    /// The note it became.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note_id: Option<String>,
}

/// Why an answer is remembered or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaptureReason {
    /// This installation has no memory.
    MemoryOff,
}

/// One thing the generator was given beside the question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextItem {
    /// What it is.
    pub kind: ContextKind,
    /// Its id.
    pub id: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The part that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// How well it fits, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// What a [`ContextItem`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// A note.
    Note,
    /// An earlier turn of the conversation.
    Turn,
}

words!(Status {
    Pending = "pending",
    Completed = "completed",
    Failed = "failed",
    Cancelled = "cancelled",
    Interrupted = "interrupted",
});
words!(State {
    Unknown = "unknown",
    Accepted = "accepted",
    Running = "running",
    Archiving = "archiving",
});
words!(Format { Markdown = "markdown" });
words!(Finish { Stop = "stop", Length = "length", Filtered = "filtered" });
words!(FailureCode {
    ProviderRequired = "provider_required",
    ProviderUnreachable = "provider_unreachable",
    ProviderTimeout = "provider_timeout",
    ProviderRejected = "provider_rejected",
    ProviderThrottled = "provider_throttled",
    ProviderFailed = "provider_failed",
    ProviderEmpty = "provider_empty",
    AnswerTooLarge = "answer_too_large",
    BudgetExhausted = "budget_exhausted",
    ServerRestarted = "server_restarted",
} else Internal);
words!(Route {
    Provider = "provider",
    Notes = "notes",
    MemoryExact = "memory-exact",
    MemorySemantic = "memory-semantic",
    MemoryBroad = "memory-broad",
    MemorySaved = "memory-saved",
    MemoryChanged = "memory-changed",
});
words!(CaptureReason {} else MemoryOff);
words!(ContextKind { Note = "note", Turn = "turn" });

deserialize_from_json!(Outcome, Answer, Failure, Receipt, Capture, ContextItem);

impl FromJson for Outcome {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        Ok(Self {
            request_id: members.parsed("request_id")?.ok_or(Unreadable)?,
            conversation_id: members.parsed("conversation_id")?.ok_or(Unreadable)?,
            seq: members.number("seq")?,
            status: members.parsed("status")?.ok_or(Unreadable)?,
            state: members.parsed("state")?,
            queue: members.small("queue")?,
            question: members.string("question")?,
            asked_at: members.parsed("asked_at")?,
            settled_at: members.parsed("settled_at")?,
            retry_of: members.parsed("retry_of")?,
            retried_by: members.parsed("retried_by")?,
            answer: members.object("answer")?,
            error: members.object("error")?,
            route: members.parsed("route")?,
            receipt: members.object("receipt")?,
            capture: members.object("capture")?,
            context: members.list("context")?,
            context_missing: members.list("context_missing")?,
        })
    }
}

impl FromJson for Answer {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        Ok(Self {
            format: members.parsed("format")?.ok_or(Unreadable)?,
            text: members.string("text")?.ok_or(Unreadable)?,
            offset: members.number("offset")?.unwrap_or_default(),
            bytes: members.number("bytes")?.unwrap_or_default(),
            reasoning: members.string("reasoning")?,
            finish: members.parsed("finish")?,
        })
    }
}

impl FromJson for Failure {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        Ok(Self {
            code: members.parsed("code")?.ok_or(Unreadable)?,
            message: members.string("message")?.ok_or(Unreadable)?,
            retryable: members.flag("retryable")?.ok_or(Unreadable)?,
        })
    }
}

impl FromJson for Receipt {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        Ok(Self {
            provider: members.string("provider")?,
            model: members.string("model")?,
            provider_calls: members.small("provider_calls")?.ok_or(Unreadable)?,
            input_tokens: members.number("input_tokens")?,
            output_tokens: members.number("output_tokens")?,
            usage_estimated: members.flag("usage_estimated")?,
            cost_micros: members.number("cost_micros")?,
            currency: members.string("currency")?,
            submissions: members.small("submissions")?.ok_or(Unreadable)?,
            first_token_ms: members.number("first_token_ms")?,
            run_ms: members.number("run_ms")?,
        })
    }
}

impl FromJson for Capture {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        Ok(Self {
            stored: members.flag("stored")?.ok_or(Unreadable)?,
            reason: members.parsed("reason")?.ok_or(Unreadable)?,
            note_id: members.string("note_id")?,
        })
    }
}

impl FromJson for ContextItem {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        let score = members.get("score").map(|score| score.as_f64().ok_or(Unreadable));
        Ok(Self {
            kind: members.parsed("kind")?.ok_or(Unreadable)?,
            id: members.string("id")?.ok_or(Unreadable)?,
            title: members.string("title")?,
            excerpt: members.string("excerpt")?,
            score: score.transpose()?,
        })
    }
}
