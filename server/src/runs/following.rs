//! Following an ask: everything that happens to it, from wherever somebody left off, to its end.
//!
//! A follower holds no queue. It remembers how much it has told, and takes the next piece out of the
//! ask itself, so that snapshot and tail are one text with no seam between them; whoever is slow finds
//! more of it the next time. Once the ask has settled the follower lets go of it, and takes what
//! remains from the journal, a window at a time.
//!
//! Not here: what an event looks like on the wire, and signs of life between events.
//!
//! *Architecture invariant:* a follower owns no part of a run. A run never waits for one, and does not
//! know that there are any.
//!
//! *Architecture invariant:* what a follower holds of an answer's text has a bound, however long that is
//! and however slowly it is taken; and what it does for a piece costs what the piece is long.

use std::collections::BTreeSet;
use std::future::pending;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use holdfast_protocol::following::Followed;
use holdfast_protocol::limits::PAGE_BYTES;
use holdfast_protocol::{Answer, ConversationId, Outcome, State};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::live::{Live, Progress};
use super::look_up::Met;
use super::text::{piece, resume, upto};
use super::{Phase, Refusal, Runs, Submission, Until};
use crate::journal::Key;

/// The least time between two pieces of a text that grows: a lone token is told at once, and those of a
/// burst together, as often as a screen can show them.
const BREATH: Duration = Duration::from_millis(20);
/// How much of a settled text is held at once, in bytes.
const WINDOW: usize = 4 * PAGE_BYTES;
/// How long the journal may take to give the next window.
const PATIENCE: Duration = Duration::from_secs(25);

/// What following finds.
pub enum Following {
    /// There is such an ask.
    Known(Follower),
    /// The journal has never heard of it: the outcome that says so.
    Unknown(Box<Outcome>),
}

/// Somebody who follows one ask.
pub struct Follower {
    runs: Runs,
    key: Key,
    conversation_id: ConversationId,
    source: Source,
    cursor: Cursor,
    /// When it may go on, where it has just told all there was of what grows.
    breath: Option<Instant>,
    /// The next window on its way out of the journal, however often somebody stops waiting for it.
    fetching: Option<Fetching>,
}

type Fetching = Pin<Box<dyn Future<Output = Option<Box<Outcome>>> + Send>>;

/// Where an ask is read.
enum Source {
    /// Where it happens.
    Live(Watched),
    /// Where it does not change: of its answer's text only the window that begins at `answer.offset`.
    Still(Box<Outcome>),
    /// It was told to its end.
    Over,
}

/// An ask under way, and what may change about it.
struct Watched {
    live: Arc<Live>,
    progress: watch::Receiver<Progress>,
    /// Its line, where it stands in one.
    line: Option<watch::Receiver<BTreeSet<u64>>>,
    phase: watch::Receiver<Phase>,
}

/// How much was told.
#[derive(Default)]
struct Cursor {
    /// Of the answer's text, in bytes.
    text: usize,
    /// Of the reasoning, in bytes.
    reasoning: usize,
    /// How far the ask was, and its place in line.
    standing: Option<(Option<State>, Option<u32>)>,
}

/// What a look at the source comes to.
enum Look {
    Told(Followed),
    /// There is nothing new.
    Nothing,
    /// It has settled, as this, with a window of its text.
    Settled(Box<Outcome>),
    /// More of the text is in the journal.
    Fetch,
    /// There is nothing more.
    End,
}

impl Runs {
    /// Follows an ask from so many bytes of its text on; from its beginning, where the text is shorter
    /// or a character would be cut. Never starts or changes anything.
    pub async fn follow(
        &self,
        key: Key,
        conversation_id: ConversationId,
        after: u64,
        until: Until,
    ) -> Result<Following, Refusal> {
        let source = match Box::pin(self.meet(key, conversation_id, until)).await? {
            Met::Outcome(outcome) if outcome.is_unknown() => {
                return Ok(Following::Unknown(outcome));
            }
            Met::Outcome(outcome) => {
                let at = resume(outcome.text(), after);
                window(&outcome, at).map_or(Source::Over, Source::Still)
            }
            Met::Live(live) => Source::Live(Watched::new(live, self)),
        };
        Ok(Following::Known(self.follower(key, conversation_id, source, after)))
    }

    /// Takes an ask as [`Runs::submit`] does, and follows it as soon as it is durable.
    pub async fn submit_and_follow(
        &self,
        submission: Submission,
        after: u64,
        until: Until,
    ) -> Result<Follower, Refusal> {
        let (key, conversation_id) = (submission.key, submission.conversation_id);
        let live = self.attach(submission, until).await?;
        let source = Source::Live(Watched::new(live, self));
        Ok(self.follower(key, conversation_id, source, after))
    }

    fn follower(
        &self,
        key: Key,
        conversation_id: ConversationId,
        source: Source,
        after: u64,
    ) -> Follower {
        let text = match &source {
            Source::Live(watched) => {
                watched.progress.borrow().answer().map_or(0, |answer| resume(&answer.text, after))
            }
            // The window begins there.
            Source::Still(outcome) => outcome.answer.as_ref().map_or(0, begin),
            Source::Over => 0,
        };
        let cursor = Cursor { text, ..Cursor::default() };
        let runs = self.clone();
        Follower { runs, key, conversation_id, source, cursor, breath: None, fetching: None }
    }
}

impl Follower {
    /// The next thing that happens. `None` once nothing more is told: after the outcome; or before it,
    /// where the server ends, its archive fails or the ask is deleted, and it has to be followed anew.
    ///
    /// A future of it that is dropped has told nothing, and the next one tells it.
    pub async fn next(&mut self) -> Option<Followed> {
        loop {
            if let Some(breath) = self.breath {
                sleep_until(breath).await;
                self.breath = None;
            }
            match self.look() {
                Look::Told(told) => return Some(told),
                Look::Settled(outcome) => self.source = Source::Still(outcome),
                Look::Nothing => self.wait().await?,
                Look::Fetch => self.fetch().await?,
                Look::End => {
                    self.source = Source::Over;
                    return None;
                }
            }
        }
    }

    fn look(&mut self) -> Look {
        // Whoever follows it anew is told why.
        if self.runs.check_kept(self.key, self.conversation_id).is_err() {
            return Look::End;
        }
        match &mut self.source {
            Source::Live(watched) => {
                let queue = watched.queue();
                let progress = watched.progress.borrow_and_update();
                let Progress::Known { outcome, .. } = &*progress else { return Look::End };
                if outcome.status.is_settled() {
                    return window(outcome, self.cursor.text).map_or(Look::End, Look::Settled);
                }
                let Some(told) = self.cursor.next(outcome, queue) else { return Look::Nothing };
                if !matches!(told, Followed::State(_)) && self.cursor.has_told(outcome) {
                    self.breath = Some(Instant::now() + BREATH);
                }
                Look::Told(told)
            }
            Source::Still(outcome) => {
                if let Some(told) = self.cursor.next(outcome, outcome.queue) {
                    return Look::Told(told);
                }
                if !self.cursor.has_told(outcome) {
                    return Look::Fetch;
                }
                match mem::replace(&mut self.source, Source::Over) {
                    Source::Still(outcome) if outcome.status.is_settled() => {
                        Look::Told(Followed::Outcome(without_window(outcome)))
                    }
                    // Nobody here has it under way, so nobody here can say how it goes on.
                    _ => Look::End,
                }
            }
            Source::Over => Look::End,
        }
    }

    /// Waits for a change. `None` if there will be none any more.
    async fn wait(&mut self) -> Option<()> {
        let Source::Live(Watched { progress, line, phase, .. }) = &mut self.source else {
            return None;
        };
        let moved = async {
            match line {
                Some(line) => line.changed().await.ok(),
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            // The ask and its line are held, so that neither can be gone.
            changed = progress.changed() => changed.ok(),
            moved = moved => moved,
            _ = phase.wait_for(|phase| *phase == Phase::Closed) => None,
        }
    }

    /// Takes the next window of a settled text out of the journal. `None` if it is not there any more,
    /// or cannot be had.
    async fn fetch(&mut self) -> Option<()> {
        let (key, conversation_id, at) = (self.key, self.conversation_id, self.cursor.text);
        let fetching = self.fetching.get_or_insert_with(|| {
            let runs = self.runs.clone();
            Box::pin(async move { runs.window(key, conversation_id, at).await })
        });
        let fetched = fetching.await;
        self.fetching = None;
        self.source = Source::Still(fetched?);
        Some(())
    }
}

impl Runs {
    /// The window of a settled ask's text that begins there.
    async fn window(
        &self,
        key: Key,
        conversation_id: ConversationId,
        at: usize,
    ) -> Option<Box<Outcome>> {
        let now = Instant::now();
        let until = Until { settled: now, told: now + PATIENCE };
        match self.meet(key, conversation_id, until).await.ok()? {
            Met::Outcome(outcome) => window(&outcome, at),
            // Somebody submits it again, or asks what became of it.
            Met::Live(live) => match &*live.watch().borrow() {
                Progress::Known { outcome, .. } => window(outcome, at),
                _ => None,
            },
        }
    }
}

impl Watched {
    fn new(live: Arc<Live>, runs: &Runs) -> Self {
        let phase = runs.0.phase.subscribe();
        Self { progress: live.watch(), line: live.line(), live, phase }
    }

    /// Its place in line, as of now: what changes from here on wakes whoever waits.
    fn queue(&mut self) -> Option<u32> {
        if let Some(line) = &mut self.line {
            line.mark_unchanged();
        }
        self.live.queue()
    }
}

impl Cursor {
    /// The next thing to tell about an ask that stands like this, if there is one.
    ///
    /// The state comes before what is told of the answer, save that an answer is told before it is
    /// said to be whole.
    fn next(&mut self, outcome: &Outcome, queue: Option<u32>) -> Option<Followed> {
        let is_accepted = outcome.state == Some(State::Accepted);
        let standing = Some((outcome.state, queue.filter(|_| is_accepted)));
        let is_new = !outcome.status.is_settled() && self.standing != standing;
        let is_whole = outcome.state == Some(State::Archiving) && self.standing.is_some();
        if is_new && !is_whole {
            return Some(self.stand(outcome, standing));
        }
        self.grow(outcome).or_else(|| is_new.then(|| self.stand(outcome, standing)))
    }

    fn stand(
        &mut self,
        outcome: &Outcome,
        standing: Option<(Option<State>, Option<u32>)>,
    ) -> Followed {
        self.standing = standing;
        let queue = standing.and_then(|(_, queue)| queue);
        Followed::state(outcome, queue)
    }

    /// The next piece of what grows.
    fn grow(&mut self, outcome: &Outcome) -> Option<Followed> {
        let answer = outcome.answer.as_ref()?;
        let reasoning = answer.reasoning.as_deref().unwrap_or_default();
        let thought = piece(reasoning, self.reasoning);
        if !thought.is_empty() {
            self.reasoning += thought.len();
            return Some(Followed::Reasoning { text: thought.to_owned() });
        }
        let text = piece(&answer.text, self.text.checked_sub(begin(answer))?);
        let offset = self.text as u64;
        self.text += text.len();
        (!text.is_empty()).then(|| Followed::Delta { offset, text: text.to_owned() })
    }

    /// Whether all that there is of the answer was told.
    fn has_told(&self, outcome: &Outcome) -> bool {
        outcome.answer.as_ref().is_none_or(|answer| {
            self.text as u64 >= answer.bytes
                && self.reasoning >= answer.reasoning.as_deref().unwrap_or_default().len()
        })
    }
}

/// Where the text at hand begins in the whole.
fn begin(answer: &Answer) -> usize {
    usize::try_from(answer.offset).unwrap_or(usize::MAX)
}

/// The outcome with no more of its text than a window from `at` on. `None` where its text does not
/// reach so far: then it is another than was told.
fn window(outcome: &Outcome, at: usize) -> Option<Box<Outcome>> {
    let text = outcome.text();
    text.is_char_boundary(at).then(|| {
        let answer = outcome.answer.as_ref().map(|answer| Answer {
            text: upto(text, at, WINDOW).to_owned(),
            offset: at as u64,
            ..answer.without_text()
        });
        Box::new(outcome.with_answer(answer))
    })
}

fn without_window(mut outcome: Box<Outcome>) -> Box<Outcome> {
    if let Some(answer) = &mut outcome.answer {
        answer.text.clear();
        answer.offset = 0;
    }
    outcome
}
