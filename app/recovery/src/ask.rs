//! One ask as recovery sees it: where it stands, what is under way, and how it is shown.

use holdfast_protocol::reply::Exchange;
use holdfast_protocol::{ConversationId, Outcome, RequestId, State, Status, Timestamp};

use crate::text::Taken;
use crate::turn::again;
use crate::{Action, ExchangeId, Millis, Pointer, Shown, Trouble, Turn, TurnStatus};

/// The long poll a page begins with, in seconds. A time-out halves it.
const WAIT: u32 = 20;
/// The shortest long poll, in seconds.
const WAIT_LEAST: u32 = 2;

/// Where an ask stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Never sent.
    Queued,
    /// Its submission is under way, or will be repeated after a wait.
    Sending,
    /// Being looked up after a failure, or after a start of the page.
    Checking,
    /// The journal knows nothing of it, and whether to send it again hangs on a fresh session.
    AwaitingSession,
    /// Accepted and pending.
    Following,
    /// Being cancelled.
    Cancelling,
    /// Only a person, or a sign-in, gets it on.
    Held,
    /// The question is offered back.
    Offered,
    /// Attempts are spent.
    Unreachable,
    /// Settled: it cannot change any more.
    Settled,
    /// Refused, or deleted.
    Refused,
}

/// Where the page has the ask from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Submitted in this life of the page.
    Here,
    /// A pointer found at the start.
    Restored,
    /// Another tab's mirror of an ask not yet accepted.
    Mirrored,
    /// An outcome seen when a conversation was opened.
    Seen,
}

/// What a person wants of an ask whose cancel is under way, beyond the cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parting {
    /// The question back.
    TakeBack,
    /// Nothing more.
    Discard,
}

/// An exchange under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) exchange: ExchangeId,
    pub(crate) kind: Exchange,
    pub(crate) since: Millis,
    pub(crate) wait: u32,
    /// It follows an event rather than a failure: if it fails, that costs nothing.
    pub(crate) free: bool,
    /// How much had come of the answer when it began, or when it was last looked at.
    pub(crate) mark: u64,
}

impl Flight {
    /// Whether it is of the kind of which a tab has one.
    pub(crate) const fn is_long(&self) -> bool {
        self.wait > 0 || matches!(self.kind, Exchange::Events)
    }
}

#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own; the phase is the state"
)]
pub(crate) struct Ask {
    pub(crate) request_id: RequestId,
    pub(crate) conversation_id: ConversationId,
    pub(crate) question: String,
    pub(crate) asked_at: Timestamp,
    pub(crate) origin: Origin,
    pub(crate) phase: Phase,
    pub(crate) pointer: Option<Pointer>,
    /// Stands in other tabs' reach.
    pub(crate) mirrored: bool,
    pub(crate) flight: Option<Flight>,
    /// The generation of the latest timer, and whether it is running.
    pub(crate) timer: u64,
    pub(crate) sleeping: bool,
    /// The pause under way must be sat out.
    pub(crate) patient: bool,
    /// What to send when the timer runs out.
    pub(crate) next: Exchange,
    pub(crate) failures: u32,
    pub(crate) attempts: u32,
    pub(crate) waits: u32,
    pub(crate) resubmissions: u32,
    /// A session reply counts only if it was asked for after this exchange.
    pub(crate) session_after: ExchangeId,
    pub(crate) accepted: bool,
    /// Something failed on the way, so that an answer that comes by lookup is a recovered one.
    pub(crate) troubled: bool,
    pub(crate) stopping: bool,
    pub(crate) parting: Option<Parting>,
    pub(crate) recovered: bool,
    wait: u32,
    pub(crate) shown: Shown,
    pub(crate) reasoning: Shown,
    /// How much of the reasoning the stream has told.
    pub(crate) thought: u64,
    /// Streams in a row that brought nothing, or not for long.
    pub(crate) stumbles: u32,
    /// Not all of the text that is there is here.
    pub(crate) is_short: bool,
    /// The last outcome, without the text and the reasoning.
    pub(crate) outcome: Option<Box<Outcome>>,
    pub(crate) trouble: Option<Trouble>,
    pub(crate) next_attempt: Option<Millis>,
}

impl Ask {
    fn new(
        request_id: RequestId,
        conversation_id: ConversationId,
        origin: Origin,
        phase: Phase,
        attempts: u32,
    ) -> Self {
        Self {
            request_id,
            conversation_id,
            question: String::new(),
            asked_at: Timestamp::default(),
            origin,
            phase,
            pointer: None,
            mirrored: false,
            flight: None,
            timer: 0,
            sleeping: false,
            patient: false,
            next: Exchange::Lookup,
            failures: 0,
            attempts,
            waits: 0,
            resubmissions: 0,
            session_after: 0,
            accepted: false,
            troubled: false,
            stopping: false,
            parting: None,
            recovered: false,
            wait: WAIT,
            shown: Shown::default(),
            reasoning: Shown::default(),
            thought: 0,
            stumbles: 0,
            is_short: false,
            outcome: None,
            trouble: None,
            next_attempt: None,
        }
    }

    /// An ask with its pointer.
    pub(crate) fn of_pointer(pointer: Pointer, origin: Origin, attempts: u32) -> Self {
        let phase = if origin == Origin::Here { Phase::Queued } else { Phase::Checking };
        let mut ask =
            Self::new(pointer.request_id, pointer.conversation_id, origin, phase, attempts);
        ask.question.clone_from(&pointer.question);
        ask.asked_at = pointer.asked_at;
        // A reload cuts the line as surely as a tunnel does.
        ask.troubled = origin != Origin::Here;
        ask.stopping = pointer.cancel;
        // Restored asks may stand in the mirror; forgetting one that does not stand there is nothing.
        ask.mirrored = true;
        ask.pointer = Some(pointer);
        ask
    }

    /// An ask known by its ids alone.
    pub(crate) fn of_ids(
        request_id: RequestId,
        conversation_id: ConversationId,
        attempts: u32,
    ) -> Self {
        Self::new(request_id, conversation_id, Origin::Seen, Phase::Checking, attempts)
    }

    /// Takes what an outcome says, its text included. Until all of the text is here nothing has
    /// settled on this screen, whatever has in the journal.
    pub(crate) fn learn(&mut self, mut outcome: Box<Outcome>) -> Taken {
        let taken = take_text(&mut self.shown, &mut self.reasoning, &mut outcome);
        self.know(outcome, taken);
        taken
    }

    /// Takes what an outcome says of all but its text.
    pub(crate) fn know(&mut self, mut outcome: Box<Outcome>, taken: Taken) {
        self.accepted = true;
        if let Some(question) = outcome.question.take() {
            self.question = question;
        }
        self.is_short = taken != Taken::Whole;
        if self.is_short && outcome.status.is_settled() {
            (outcome.status, outcome.state) = (Status::Pending, Some(State::Running));
        }
        self.trouble = None;
        self.next_attempt = None;
        self.outcome = Some(outcome);
    }

    /// How much has come of the answer.
    pub(crate) fn progress(&self) -> u64 {
        self.shown.held() + self.reasoning.held()
    }

    /// Whether an outcome is this ask's.
    pub(crate) fn is_of(&self, outcome: &Outcome) -> bool {
        (outcome.request_id, outcome.conversation_id) == (self.request_id, self.conversation_id)
    }

    /// The status of the last outcome.
    pub(crate) fn status(&self) -> Option<Status> {
        self.outcome.as_ref().map(|outcome| outcome.status)
    }

    /// The place in its conversation, the unplaced ones last.
    pub(crate) fn place(&self) -> u64 {
        self.outcome.as_ref().and_then(|outcome| outcome.seq).unwrap_or(u64::MAX)
    }

    /// Whether the person was told that it cannot be reached, or may not be.
    pub(crate) fn is_lost(&self) -> bool {
        self.trouble == Some(Trouble::Checking) || self.phase == Phase::Unreachable
    }

    /// Whether nothing is expected of the server any more.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Settled | Phase::Refused)
    }

    /// How long the next long poll may be.
    pub(crate) const fn long_wait(&self) -> u32 {
        self.wait
    }

    /// Somebody's patience ended: be done sooner the next time.
    pub(crate) fn halve_wait(&mut self) {
        self.wait = (self.wait / 2).max(WAIT_LEAST);
    }

    /// The turn as it is to be shown.
    pub(crate) fn turn(&self) -> Turn {
        Turn {
            request_id: self.request_id,
            conversation_id: self.conversation_id,
            seq: self.outcome.as_ref().and_then(|outcome| outcome.seq),
            question: self.question.clone(),
            retry_of: self
                .outcome
                .as_ref()
                .and_then(|outcome| outcome.retry_of)
                .or_else(|| self.pointer.as_ref()?.ask.retry_of),
            asked_at: self
                .outcome
                .as_ref()
                .and_then(|outcome| outcome.asked_at)
                .or((self.asked_at != Timestamp::default()).then_some(self.asked_at)),
            status: self.turn_status(),
            shown: self.shown.clone(),
            reasoning: self.reasoning.clone(),
            recovered: self.recovered,
            stopping: self.stopping && !self.is_over(),
            trouble: self.trouble.clone(),
            next_attempt: self.next_attempt,
            actions: self.actions(),
            outcome: self.outcome.clone(),
        }
    }

    fn turn_status(&self) -> TurnStatus {
        match (self.phase, self.status()) {
            (Phase::Unreachable, _) => TurnStatus::Unreachable,
            (Phase::Refused, _) => TurnStatus::Refused,
            (_, Some(status)) => TurnStatus::Outcome(status),
            (Phase::Queued, None) => TurnStatus::Queued,
            (Phase::Sending, None) => TurnStatus::Sending,
            (Phase::Cancelling, None) if !self.troubled => TurnStatus::Sending,
            (_, None) => TurnStatus::Unknown,
        }
    }

    fn actions(&self) -> Vec<Action> {
        match self.phase {
            Phase::Queued => vec![Action::SendNow, Action::TakeBack],
            Phase::Sending if self.flight.is_none() => vec![Action::Stop, Action::TakeBack],
            Phase::Sending | Phase::Following => vec![Action::Stop],
            Phase::Held if self.next == Exchange::Resubmission => {
                vec![Action::SendNow, Action::TakeBack]
            }
            Phase::Held => vec![Action::CheckAgain],
            Phase::Unreachable if self.stopping => vec![Action::CheckAgain],
            Phase::Checking | Phase::AwaitingSession | Phase::Unreachable => {
                vec![Action::CheckAgain, Action::Stop]
            }
            Phase::Offered => vec![Action::CheckAgain, Action::TakeBack, Action::Discard],
            Phase::Settled => self.outcome.as_deref().map(again).unwrap_or_default(),
            Phase::Cancelling | Phase::Refused => Vec::new(),
        }
    }
}

/// Moves what an outcome says of the text, and of the reasoning, to where both grow.
pub(crate) fn take_text(shown: &mut Shown, reasoning: &mut Shown, outcome: &mut Outcome) -> Taken {
    let taken = shown.take(outcome);
    take_reasoning(reasoning, outcome);
    taken
}

/// Moves the reasoning alone: the text came otherwise.
pub(crate) fn take_reasoning(reasoning: &mut Shown, outcome: &mut Outcome) {
    if let Some(answer) = &mut outcome.answer {
        answer.text = String::new();
        if let Some(thought) = answer.reasoning.take() {
            reasoning.place(0, 0, &thought, outcome.status);
        }
    }
}
