//! An ask in memory: from its claim until it has settled, seen by all who look.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use holdfast_protocol::{Answer, ConversationId, Outcome, State};
use tokio::sync::watch;

use super::Refusal;
use super::deadlines::{Overdue, Watch};
use super::line::Position;
use super::text;
use crate::journal::{Fingerprint, Key};
use crate::provider::Piece;

/// Why a run is to end early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Somebody cancelled it.
    Cancel,
    /// The server goes down and has no more patience.
    Interrupt,
    /// Its provider takes too long.
    Overdue(Overdue),
}

/// How far it is.
#[expect(clippy::large_enum_variant, reason = "an ask is known for nearly all of its life here")]
pub(super) enum Progress {
    /// Whether it is known, and whether it is accepted, is being found out.
    Admitting,
    /// It was not accepted. Nothing of it remains.
    Refused(Refusal),
    /// It is in the journal; the outcome holds the text so far.
    Known { outcome: Outcome, fingerprint: Option<Fingerprint> },
}

/// One ask under way.
pub(super) struct Live {
    key: Key,
    progress: watch::Sender<Progress>,
    stop: watch::Sender<Option<Stop>>,
    submissions: AtomicU32,
    position: OnceLock<Position>,
    deadlines: Watch,
}

impl Live {
    pub(super) fn new(key: Key) -> Self {
        Self {
            key,
            progress: watch::Sender::new(Progress::Admitting),
            stop: watch::Sender::new(None),
            submissions: AtomicU32::new(1),
            position: OnceLock::new(),
            deadlines: Watch::default(),
        }
    }

    pub(super) const fn key(&self) -> Key {
        self.key
    }

    /// The journal knows it, as this.
    pub(super) fn know(
        &self,
        outcome: Outcome,
        fingerprint: Option<Fingerprint>,
        submissions: u32,
    ) {
        self.submissions.fetch_max(submissions, Ordering::Relaxed);
        self.progress.send_replace(Progress::Known { outcome, fingerprint });
    }

    /// It was not accepted.
    pub(super) fn refuse(&self, refusal: Refusal) {
        self.progress.send_replace(Progress::Refused(refusal));
    }

    /// Where it stands in the line of its conversation.
    pub(super) fn stand(&self, position: Position) {
        // An ask stands in one line, once.
        let _ = self.position.set(position);
    }

    /// How long its provider may take.
    pub(super) const fn watch_over(&self) -> &Watch {
        &self.deadlines
    }

    fn change(&self, change: impl FnOnce(&mut Outcome)) {
        self.progress.send_if_modified(|progress| match progress {
            Progress::Known { outcome, .. } if !outcome.status.is_settled() => {
                change(outcome);
                true
            }
            _ => false,
        });
    }

    pub(super) fn enter(&self, state: State) {
        self.change(|outcome| outcome.state = Some(state));
    }

    /// A piece has arrived.
    pub(super) fn push(&self, piece: Piece) {
        if piece == Piece::Life {
            return;
        }
        self.change(|outcome| {
            let answer = outcome.answer.get_or_insert_with(Answer::default);
            match piece {
                Piece::Life => {}
                Piece::Text(text) => {
                    answer.text.push_str(&text);
                    answer.bytes = answer.text.len() as u64;
                }
                Piece::Reasoning(text) => {
                    answer.reasoning.get_or_insert_default().push_str(&text);
                }
            }
        });
    }

    /// It has settled: the outcome is what the journal has.
    pub(super) fn settle(&self, settled: Outcome) {
        self.change(|outcome| *outcome = settled);
    }

    /// Asks its run to end early. The first reason counts, save that a cancel beats an interruption
    /// that nobody has heeded.
    pub(super) fn stop(&self, stop: Stop) {
        self.stop.send_if_modified(|current| {
            let counts = current.is_none_or(|current| current != stop && stop == Stop::Cancel);
            if counts {
                *current = Some(stop);
            }
            counts
        });
    }

    /// Resolves when it is to end early for a reason that `counts`.
    pub(super) async fn stopped(&self, counts: impl Fn(Stop) -> bool) -> Stop {
        let mut stop = self.stop.subscribe();
        match stop.wait_for(|stop| stop.is_some_and(&counts)).await.map(|stop| *stop) {
            Ok(Some(stop)) => stop,
            // The sender is this very ask's; whoever waits here holds it.
            _ => std::future::pending().await,
        }
    }

    pub(super) fn count_submission(&self) {
        self.submissions.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn submissions(&self) -> u32 {
        self.submissions.load(Ordering::Relaxed)
    }

    pub(super) fn is_admitted(&self) -> bool {
        matches!(*self.progress.borrow(), Progress::Known { .. })
    }

    /// Whether it was cancelled before it arrived and has not arrived since.
    pub(super) fn lacks_question(&self) -> bool {
        matches!(*self.progress.borrow(), Progress::Known { fingerprint: None, .. })
    }

    /// Resolves when it is known or refused.
    pub(super) async fn admitted(&self) -> Result<(), Refusal> {
        let mut progress = self.progress.subscribe();
        match progress
            .wait_for(|progress| !matches!(progress, Progress::Admitting))
            .await
            .as_deref()
        {
            Ok(Progress::Refused(refusal)) => Err(refusal.clone()),
            _ => Ok(()),
        }
    }

    /// Resolves when it has settled.
    pub(super) async fn settled(&self) {
        let mut progress = self.progress.subscribe();
        // An error would mean that this ask is gone, which whoever waits here prevents.
        let _ = progress.wait_for(Progress::is_settled).await;
    }

    /// Its progress, to be watched.
    pub(super) fn watch(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Whether a submission or a look-up means this ask. Without a fingerprint only the conversation
    /// counts; an ask of which only the cancel was heard has none to compare.
    pub(super) fn is_same_ask(
        &self,
        conversation_id: ConversationId,
        theirs: Option<Fingerprint>,
    ) -> bool {
        match &*self.progress.borrow() {
            Progress::Known { outcome, fingerprint } => {
                outcome.conversation_id == conversation_id
                    && match (fingerprint, theirs) {
                        (Some(ours), Some(theirs)) => *ours == theirs,
                        _ => true,
                    }
            }
            _ => false,
        }
    }

    /// The outcome as of now.
    pub(super) fn outcome(&self) -> Outcome {
        self.seen(Clone::clone)
    }

    /// The outcome as of now, with the piece of its answer that follows `after`.
    pub(super) fn page(&self, after: u64) -> Outcome {
        self.seen(|outcome| text::page(outcome, after))
    }

    fn seen(&self, seen: impl FnOnce(&Outcome) -> Outcome) -> Outcome {
        let mut outcome = match &*self.progress.borrow() {
            Progress::Known { outcome, .. } => seen(outcome),
            // Only those who saw it admitted ask; and an admitted ask is never refused.
            _ => Outcome::bare(
                self.key.request_id,
                ConversationId::new(uuid::Uuid::nil()),
                holdfast_protocol::Status::Pending,
                Some(State::Unknown),
            ),
        };
        if outcome.state == Some(State::Accepted) {
            outcome.queue = self.queue();
        }
        outcome
    }

    /// How many asks are before it in its line, if it stands in one.
    pub(super) fn queue(&self) -> Option<u32> {
        self.position.get().map(Position::before)
    }

    /// Its line, to be watched, if it stands in one.
    pub(super) fn line(&self) -> Option<watch::Receiver<BTreeSet<u64>>> {
        self.position.get().map(Position::watch)
    }
}

impl Progress {
    /// The answer so far, if there is any.
    pub(super) fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Known { outcome, .. } => outcome.answer.as_ref(),
            _ => None,
        }
    }

    fn is_settled(&self) -> bool {
        matches!(self, Self::Known { outcome, .. } if outcome.status.is_settled())
    }
}
