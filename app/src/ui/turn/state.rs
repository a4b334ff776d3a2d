//! What a turn says about itself, as plain data: one sentence, its tone, and whether it goes on.

use holdfast_protocol::{Finish, State, Status};
use holdfast_recovery::{Millis, Trouble, Turn, TurnStatus};

use crate::text;

/// How a sentence is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// Things take their course.
    Calm,
    /// Something is in the way; it is dealt with, or a person can.
    Caution,
    /// It ended without a whole answer.
    Bad,
}

impl Tone {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Caution => "caution",
            Self::Bad => "bad",
        }
    }
}

/// The state line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) tone: Tone,
    pub(super) sentence: String,
    /// Something is under way by itself.
    pub(super) busy: bool,
    /// Seconds to count up beside the sentence.
    pub(super) elapsed: bool,
}

impl Line {
    fn new(tone: Tone, sentence: impl Into<String>) -> Self {
        Self { tone, sentence: sentence.into(), busy: false, elapsed: false }
    }

    fn under_way(tone: Tone, sentence: impl Into<String>) -> Self {
        Self { busy: true, ..Self::new(tone, sentence) }
    }
}

/// What to say, if anything. `now` and `online` are the browser's.
pub(super) fn line(turn: &Turn, now: Millis, online: bool) -> Option<Line> {
    if turn.status.is_at_rest() {
        return ended(turn);
    }
    if let Some(trouble) = &turn.trouble {
        return Some(troubled(turn, trouble, now));
    }
    if turn.stopping {
        return Some(Line::under_way(Tone::Calm, text::STOPPING));
    }
    Some(match turn.status {
        TurnStatus::Queued if !online => Line::new(Tone::Caution, text::QUEUED_OFFLINE),
        TurnStatus::Queued => Line::under_way(Tone::Calm, text::QUEUED),
        TurnStatus::Sending => Line::under_way(Tone::Calm, text::SENDING),
        TurnStatus::Unknown => Line::under_way(Tone::Caution, text::CHECKING_SENT),
        TurnStatus::Unreachable => Line::new(Tone::Caution, text::UNREACHABLE),
        TurnStatus::Refused | TurnStatus::Outcome(_) => pending(turn),
    })
}

fn pending(turn: &Turn) -> Line {
    match turn.state() {
        Some(State::Accepted) => {
            let before = turn.outcome.as_ref().and_then(|outcome| outcome.queue).unwrap_or(0);
            Line::under_way(Tone::Calm, text::queued_behind(before))
        }
        Some(State::Archiving) => Line::under_way(Tone::Caution, text::ARCHIVING),
        _ => Line { elapsed: true, ..Line::under_way(Tone::Calm, text::WORKING) },
    }
}

fn troubled(turn: &Turn, trouble: &Trouble, now: Millis) -> Line {
    let caution = |sentence: &str| Line::new(Tone::Caution, sentence);
    match trouble {
        Trouble::Checking if turn.stopping => Line::under_way(Tone::Caution, text::STOPPING),
        Trouble::Checking if turn.outcome.is_some() => {
            Line::under_way(Tone::Caution, text::CHECKING_ANSWER)
        }
        Trouble::Checking => Line::under_way(Tone::Caution, text::CHECKING_SENT),
        Trouble::Waiting(detail) => {
            let detail = if detail.is_empty() { text::BUSY } else { detail };
            let seconds = turn.next_attempt.map(|at| at.saturating_sub(now).div_ceil(1_000));
            let next = seconds.map(text::trying_again).unwrap_or_default();
            Line::under_way(Tone::Caution, format!("{detail} {next}"))
        }
        Trouble::LongWait(wait) => Line::new(Tone::Caution, text::long_wait(*wait)),
        Trouble::Unreachable => caution(text::UNREACHABLE),
        Trouble::SignIn => caution(text::SIGN_IN_FIRST),
        Trouble::MayNotHaveArrived => caution(text::MAY_NOT_HAVE_ARRIVED),
        Trouble::MayHaveBeenPaid => caution(text::MAY_HAVE_BEEN_PAID),
        Trouble::NeverSent => caution(text::NEVER_SENT),
        Trouble::Refused(detail) => refused(detail),
    }
}

fn refused(detail: &str) -> Line {
    Line::new(Tone::Bad, if detail.is_empty() { text::REFUSED } else { detail })
}

fn ended(turn: &Turn) -> Option<Line> {
    let outcome = turn.outcome.as_deref();
    let message = outcome
        .and_then(|outcome| outcome.error.as_ref())
        .map(|error| error.message.as_str())
        .filter(|message| !message.is_empty());
    match turn.status {
        TurnStatus::Refused => match &turn.trouble {
            Some(Trouble::Refused(detail)) => Some(refused(detail)),
            _ => Some(refused("")),
        },
        TurnStatus::Outcome(Status::Failed) => {
            Some(Line::new(Tone::Bad, message.unwrap_or(text::FAILED)))
        }
        TurnStatus::Outcome(Status::Interrupted) => {
            Some(Line::new(Tone::Bad, message.unwrap_or(text::INTERRUPTED)))
        }
        TurnStatus::Outcome(Status::Cancelled) if turn.shown.text().is_empty() => {
            Some(Line::new(Tone::Calm, text::CANCELLED))
        }
        TurnStatus::Outcome(Status::Cancelled) => {
            Some(Line::new(Tone::Calm, text::CANCELLED_WITH_TEXT))
        }
        _ => match outcome?.answer.as_ref()?.finish? {
            Finish::Stop => None,
            Finish::Length => Some(Line::new(Tone::Caution, text::CUT_BY_LENGTH)),
            Finish::Filtered => Some(Line::new(Tone::Caution, text::CUT_BY_FILTER)),
        },
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use holdfast_protocol::{Answer, Failure, FailureCode, Outcome};

    use super::*;

    fn turn(status: Status, change: impl FnOnce(&mut Outcome)) -> Turn {
        let id = "018f2b6e-7c11-7cc3-9d5a-0123456789ab";
        let mut outcome = Outcome::bare(id.parse().unwrap(), id.parse().unwrap(), status, None);
        change(&mut outcome);
        Turn::of_outcome(outcome)
    }

    fn said(turn: &Turn) -> (String, bool) {
        let line = line(turn, 1_000, true).unwrap();
        (line.sentence, line.busy)
    }

    #[test]
    fn a_pending_ask_says_how_far_it_is() {
        let accepted = turn(Status::Pending, |outcome| {
            outcome.state = Some(State::Accepted);
            outcome.queue = Some(2);
        });
        assert_eq!(said(&accepted), ("Accepted. 2 questions are before it".into(), true));
        let running = turn(Status::Pending, |outcome| outcome.state = Some(State::Running));
        assert!(line(&running, 0, true).unwrap().elapsed);
        let archiving = turn(Status::Pending, |outcome| outcome.state = Some(State::Archiving));
        assert!(said(&archiving).0.starts_with("Not archived yet"));
    }

    #[test]
    fn trouble_is_said_before_anything_else() {
        let mut lost = turn(Status::Pending, |outcome| outcome.state = Some(State::Running));
        lost.trouble = Some(Trouble::Checking);
        assert_eq!(said(&lost), (text::CHECKING_ANSWER.into(), true));
        lost.outcome = None;
        lost.status = TurnStatus::Unknown;
        assert_eq!(said(&lost).0, text::CHECKING_SENT);
        lost.trouble = Some(Trouble::Waiting("Shutting down.".into()));
        lost.next_attempt = Some(3_500);
        assert_eq!(said(&lost).0, "Shutting down. Trying again in 3 s.");
        lost.status = TurnStatus::Unreachable;
        lost.trouble = Some(Trouble::Unreachable);
        assert_eq!(said(&lost), (text::UNREACHABLE.into(), false));
    }

    #[test]
    fn the_end_is_said_with_the_servers_own_words() {
        let completed = turn(Status::Completed, |_| {});
        assert_eq!(line(&completed, 0, true), None);
        let failed = turn(Status::Failed, |outcome| {
            outcome.error = Some(Failure {
                code: FailureCode::ProviderTimeout,
                message: "The provider was silent for 60 s.".into(),
                retryable: true,
            });
        });
        assert_eq!(said(&failed), ("The provider was silent for 60 s.".into(), false));
        assert_eq!(said(&turn(Status::Interrupted, |_| {})).0, text::INTERRUPTED);
        let stopped = turn(Status::Cancelled, |outcome| {
            outcome.answer = Some(Answer { text: "partial".into(), ..Answer::default() });
        });
        assert_eq!(said(&stopped).0, text::CANCELLED_WITH_TEXT);
        let cut = turn(Status::Completed, |outcome| {
            outcome.answer = Some(Answer { finish: Some(Finish::Length), ..Answer::default() });
        });
        assert_eq!(said(&cut).0, text::CUT_BY_LENGTH);
    }

    #[test]
    fn a_refusal_without_words_still_says_something() {
        let mut refused = turn(Status::Pending, |_| {});
        refused.status = TurnStatus::Refused;
        refused.trouble = Some(Trouble::Refused(String::new()));
        assert_eq!(said(&refused).0, text::REFUSED);
        refused.trouble = Some(Trouble::Refused("Too long.".into()));
        assert_eq!(said(&refused).0, "Too long.");
    }
}
