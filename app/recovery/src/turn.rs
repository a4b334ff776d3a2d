//! A turn as the page shows it.

use std::time::Duration;

use holdfast_protocol::{AskBody, ConversationId, Outcome, RequestId, State, Status, Timestamp};

use crate::ask::take_text;
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
    /// The ask it repeats. Which one repeats it stands in the outcome, once the server has said so.
    pub retry_of: Option<RequestId>,
    /// When it was asked: by the server's clock once known, before that by the browser's.
    pub asked_at: Option<Timestamp>,
    /// `data-status`.
    pub status: TurnStatus,
    /// The answer so far.
    pub shown: Shown,
    /// What the model thought aloud so far.
    pub reasoning: Shown,
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
    /// The last outcome the server gave, without what `question`, `shown` and `reasoning` hold. Until
    /// all of its text is here it is pending.
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
    /// Ask the same again, as an ask of its own whose `retry_of` names this one. It may cost again.
    AskAgain,
}

impl Turn {
    /// The turn of a settled or pending outcome nobody here follows.
    pub fn of_outcome(mut outcome: Outcome) -> Self {
        let (mut shown, mut reasoning) = (Shown::default(), Shown::default());
        take_text(&mut shown, &mut reasoning, &mut outcome);
        Self {
            request_id: outcome.request_id,
            conversation_id: outcome.conversation_id,
            seq: outcome.seq,
            question: outcome.question.take().unwrap_or_default(),
            retry_of: outcome.retry_of,
            asked_at: outcome.asked_at,
            status: TurnStatus::Outcome(outcome.status),
            shown,
            reasoning,
            recovered: false,
            stopping: false,
            trouble: None,
            next_attempt: None,
            actions: again(&outcome),
            outcome: Some(Box::new(outcome)),
        }
    }

    /// The ask that asks the same again, under an id of its own.
    pub fn again(&self, request_id: RequestId) -> AskBody {
        AskBody {
            request_id,
            conversation_id: self.conversation_id,
            question: self.question.clone(),
            current: None,
            remember: None,
            language: None,
            model: None,
            retry_of: Some(self.request_id),
            system_prompt: None,
        }
    }

    /// How far a pending ask is.
    pub fn state(&self) -> Option<State> {
        self.outcome.as_ref().and_then(|outcome| outcome.state)
    }
}

/// What can be done about an outcome: the same can be asked again, once.
pub(crate) fn again(outcome: &Outcome) -> Vec<Action> {
    let can_be = outcome.status.is_settled() && outcome.retried_by.is_none();
    if can_be { vec![Action::AskAgain] } else { Vec::new() }
}
