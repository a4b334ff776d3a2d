//! Conducting an ask: its turn, its run, its settlement.

use std::convert::Infallible;
use std::sync::OnceLock;
use std::time::Duration;

use holdfast_protocol::{Outcome, State};
use tokio::time::{Instant, sleep, timeout_at};

use super::admit::Standing;
use super::end::{End, Run};
use super::line::Place;
use super::live::{Live, Progress, Stop};
use super::slots::Slot;
use super::{AGAIN, Runs};
use crate::ask::{self, Asked, Context};
use crate::journal::{Begin, Partial, Record};
use crate::provider::Piece;

/// Partial text is journalled at least this often while it comes …
const PARTIAL_EVERY: Duration = Duration::from_millis(250);
/// … or as soon as there is so much of it, in bytes.
const PARTIAL_BYTES: usize = 4096;

/// What became of the wait for a turn.
enum Turn {
    Begun(Slot),
    Cancelled,
    Settled(Box<Outcome>),
}

impl Runs {
    /// Runs an unsettled ask to its end.
    pub(super) async fn conduct(
        &self,
        live: &Live,
        record: &Record,
        place: Option<Place>,
        standing: Standing,
    ) {
        let (Some(asked), Some(place)) = (Asked::of(record), place) else {
            // The store has a rule that every unsettled ask has its question.
            return self.settle(live, End::unreadable()).await;
        };
        let turn = if let Standing::Begun(slot) = standing {
            Turn::Begun(slot)
        } else {
            let is_marked = matches!(standing, Standing::Marked);
            tokio::select! {
                biased;
                _ = live.stopped(|stop| stop == Stop::Cancel) => Turn::Cancelled,
                turn = self.turn(live, &place, is_marked) => turn,
            }
        };
        match turn {
            Turn::Begun(mut slot) => {
                live.enter(State::Running);
                let end = self.run(live, &asked).await;
                // Nobody else needs to wait for the final write.
                slot.make_room();
                self.settle(live, end).await;
            }
            Turn::Cancelled => self.settle(live, End::cancelled_in_line()).await,
            Turn::Settled(outcome) => live.settle(*outcome),
        }
    }

    /// Waits until the ask is the first of its conversation, a slot is free, and the journal has
    /// marked it, unless it `is_marked` already.
    async fn turn(&self, live: &Live, place: &Place, is_marked: bool) -> Turn {
        let mut has_said = false;
        loop {
            place.first().await;
            let slot = self.0.slots.take().await;
            if is_marked {
                return Turn::Begun(slot);
            }
            match self.0.journal.begin(live.key(), self.mark()).await {
                Ok(Begin::Begun) => return Turn::Begun(slot),
                Ok(Begin::Settled(outcome)) => return Turn::Settled(Box::new(outcome)),
                Err(error) if !std::mem::replace(&mut has_said, true) => {
                    tracing::warn!(%error, "a run cannot begin yet");
                }
                // An earlier ask is durable already and about to enter the line; or it has been said.
                Ok(Begin::NotYet) | Err(_) => {}
            }
            drop(slot);
            sleep(AGAIN).await;
        }
    }

    /// One run: context, generation, and the journal beside it.
    async fn run(&self, live: &Live, asked: &Asked) -> End {
        let started = Instant::now();
        let provider = &*self.0.provider;
        let mut run = Run::new(provider);
        run.context = tokio::select! {
            biased;
            stop = live.stopped(|_| true) => return run.stopped(stop, started.elapsed()),
            context = self.context(asked) => match context {
                Some(context) => context,
                None => return run.without_context(),
            },
        };
        let call = asked.call(&run.context);
        let first_text = OnceLock::new();
        let (clock, limits) = (&self.0.clock, &self.0.settings.limits);
        // Anew: the context may have taken its time.
        live.watch_over().set(limits.from(clock.uptime()));
        let mut pieces = |piece: Piece| {
            live.watch_over().live(clock.uptime().after(limits.silence));
            if matches!(piece, Piece::Text(_)) {
                first_text.get_or_init(|| started.elapsed());
            }
            live.push(piece);
        };
        run.called = !provider.is_in_process();
        let ended = tokio::select! {
            biased;
            ended = ask::generate(provider, &call, &mut pieces) => Ok(ended),
            stop = live.stopped(|_| true) => Err(stop),
            never = self.journal_pieces(live) => match never {},
        };
        run.first_text = first_text.into_inner();
        match ended {
            Ok(ended) => run.ended(ended, started.elapsed()),
            Err(stop) => run.stopped(stop, started.elapsed()),
        }
    }

    /// What the model is to see. Nothing has been sent yet, so that a disk that fails is tried again,
    /// for as long as a model server that does not begin would be waited for.
    async fn context(&self, asked: &Asked) -> Option<Context> {
        let given_up = Instant::now() + self.0.settings.limits.first_byte;
        let prompt = self.0.settings.system_prompt.as_deref();
        let mut has_said = false;
        loop {
            match ask::context(&*self.0.journal, asked, prompt).await {
                Ok(context) => return Some(context),
                Err(error) if !std::mem::replace(&mut has_said, true) => {
                    tracing::warn!(%error, "the context of an ask cannot be read");
                }
                Err(_) => {}
            }
            if Instant::now() >= given_up {
                return None;
            }
            sleep(AGAIN).await;
        }
    }

    /// Journals the text as it comes, so that a crash leaves it.
    async fn journal_pieces(&self, live: &Live) -> Infallible {
        let mut progress = live.watch();
        let mut journalled = Lengths::default();
        let mut last = Instant::now();
        let mut failing = false;
        // Signs of life without text move the deadline in the journal on now and then.
        let touch = self.0.settings.limits.silence / 4;
        let mut silent = live.watch_over().silent();
        loop {
            let some = progress.wait_for(|progress| journalled.missing(progress) > 0);
            // Errors of the watch cannot be: the sender is the ask's own.
            let has_text = timeout_at(last + touch, some).await.is_ok();
            if !has_text && live.watch_over().silent() == silent {
                last = Instant::now();
                continue;
            }
            if has_text {
                let enough = progress.wait_for(|p| journalled.missing(p) >= PARTIAL_BYTES);
                let _ = timeout_at(last + PARTIAL_EVERY, enough).await;
            }
            let next = live.watch_over().silent();
            let mut partial = journalled.partial(&progress.borrow(), live.submissions());
            partial.silent = Some(next);
            let now = journalled.after(&partial);
            match self.0.journal.append(live.key(), partial).await {
                Ok(()) => {
                    journalled = now;
                    silent = next;
                    failing = false;
                }
                Err(error) => {
                    if !std::mem::replace(&mut failing, true) {
                        tracing::warn!(%error, "partial text cannot be journalled");
                    }
                    sleep(PARTIAL_EVERY).await;
                }
            }
            last = Instant::now();
        }
    }
}

/// How much of an answer is journalled, in bytes.
#[derive(Clone, Copy, Default)]
struct Lengths {
    text: usize,
    reasoning: usize,
}

impl Lengths {
    /// How many bytes have come since.
    fn missing(self, progress: &Progress) -> usize {
        progress.answer().map_or(0, |answer| {
            let reasoning = answer.reasoning.as_deref().unwrap_or_default();
            (answer.text.len() + reasoning.len()).saturating_sub(self.text + self.reasoning)
        })
    }

    /// What has come since.
    fn partial(self, progress: &Progress, submissions: u32) -> Partial {
        let since = |text: &str, at| text.get(at..).unwrap_or_default().to_owned();
        let answer = progress.answer();
        let text = answer.map_or("", |answer| &answer.text);
        let reasoning = answer.and_then(|answer| answer.reasoning.as_deref()).unwrap_or_default();
        Partial {
            text_offset: self.text as u64,
            text: since(text, self.text),
            reasoning_offset: self.reasoning as u64,
            reasoning: since(reasoning, self.reasoning),
            submissions,
            silent: None,
        }
    }

    const fn after(self, partial: &Partial) -> Self {
        Self {
            text: self.text + partial.text.len(),
            reasoning: self.reasoning + partial.reasoning.len(),
        }
    }
}
