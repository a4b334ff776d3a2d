//! A turn as the page shows it.

use std::time::Duration;

use holdfast_protocol::{ConversationId, Outcome, RequestId, State, Status, Timestamp};

use crate::{Millis, Shown};

/// Everything the page shows of one ask.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The ask.
    pub request_id: RequestId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// Its place in it, once the server has said so.
    pub seq: Option<u64>,
    /// The question.
    pub question: String,
    /// When it was asked: by the server's clock once known, before that by the browser's.
    pub asked_at: Option<Timestamp>,
    /// `data-status`.
    pub status: TurnStatus,
    /// The answer so far.
    pub shown: Shown,
    /// The answer came by lookup after a failure.
    pub recovered: bool,
    /// Stop was pressed, and is not acknowledged yet.
    pub stopping: bool,
    /// What is the matter, beside the text and never instead of it.
    pub trouble: Option<Trouble>,
    /// When the next attempt is made, where a countdown is worth showing.
    pub next_attempt: Option<Millis>,
    /// What a person can do.
    pub actions: Vec<Action>,
    /// The last outcome the server gave.
    pub outcome: Option<Box<Outcome>>,
}

/// `data-status` of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TurnStatus {
    /// Not sent yet: the browser is offline, or the session is not known.
    Queued,
    /// On its way, or waiting to be sent once more.
    Sending,
    /// It may or may not have arrived: being looked up.
    Unknown,
    /// Attempts are spent.
    Unreachable,
    /// Refused.
    Refused,
    /// What the outcome says.
    Outcome(Status),
}

impl TurnStatus {
    /// The value of `data-status`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sending => "sending",
            Self::Unknown => "unknown",
            Self::Unreachable => "unreachable",
            Self::Refused => "refused",
            Self::Outcome(status) => status.as_str(),
        }
    }

    /// Whether nothing more is expected by itself.
    pub const fn is_at_rest(self) -> bool {
        match self {
            Self::Refused => true,
            Self::Outcome(status) => status.is_settled(),
            _ => false,
        }
    }
}

/// What is the matter with a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The line is gone; looking it up.
    Checking,
    /// The server asked to wait.
    Waiting(String),
    /// The server asked for a wait so long that a person should decide.
    LongWait(Duration),
    /// Attempts are spent.
    Unreachable,
    /// Nobody is signed in.
    SignIn,
    /// The journal knows nothing of it: it may never have arrived.
    MayNotHaveArrived,
    /// The archive is another one: it may already have been paid for.
    MayHaveBeenPaid,
    /// It was never sent from another tab.
    NeverSent,
    /// Refused, with the server's sentence.
    Refused(String),
}

/// What a person can do about a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Stop it.
    Stop,
    /// Look it up now.
    CheckAgain,
    /// Send it now.
    SendNow,
    /// Put the question back in the composer.
    TakeBack,
    /// Forget it.
    Discard,
}

impl Turn {
    /// The turn of a settled or pending outcome nobody here follows.
    pub fn of_outcome(outcome: Outcome) -> Self {
        let mut shown = Shown::default();
        shown.merge(&outcome);
        Self {
            request_id: outcome.request_id,
            conversation_id: outcome.conversation_id,
            seq: outcome.seq,
            question: outcome.question.clone().unwrap_or_default(),
            asked_at: outcome.asked_at,
            status: TurnStatus::Outcome(outcome.status),
            shown,
            recovered: false,
            stopping: false,
            trouble: None,
            next_attempt: None,
            actions: Vec::new(),
            outcome: Some(Box::new(outcome)),
        }
    }

    /// How far a pending ask is.
    pub fn state(&self) -> Option<State> {
        self.outcome.as_ref().and_then(|outcome| outcome.state)
    }
}
