//! Every turn this page has shown, by id, and the lists the screen wants of them. Not here: how a
//! turn came to be as it is.

use std::sync::Arc;

use crate::field::Field;
use crate::screen::{Elsewhere, TurnCell};
use holdfast_protocol::{ConversationId, RequestId};
use holdfast_recovery::{Action, Millis, Trouble, Turn};

/// A day. A pointer's time that is further away says more of the clock than of the wait.
const DAY: Millis = 24 * 60 * 60 * 1_000;

/// A turn and what puts it in order.
struct Entry {
    cell: TurnCell,
    conversation_id: ConversationId,
    seq: Option<u64>,
    retry_of: Option<RequestId>,
    at_rest: bool,
    never_sent: bool,
    /// It was pending while its conversation was not in view.
    missed: bool,
}

/// The turns.
#[derive(Default)]
pub(super) struct Book {
    /// As they came.
    entries: Vec<Entry>,
    /// Answers that a person went back to, in place of the last one to the same question.
    chosen: Vec<RequestId>,
    pulse: u64,
}

impl Book {
    /// Takes a turn as it is now. Says whether there is more text of it than before.
    pub(super) fn show(&mut self, turn: Turn, now: Millis, view: Option<ConversationId>) -> bool {
        let at_rest = turn.status.is_at_rest();
        let never_sent = turn.trouble == Some(Trouble::NeverSent);
        let in_view = view == Some(turn.conversation_id);
        let request_id = turn.request_id;
        // What comes to rest without a place of its own stays behind what was there by then.
        let here = turn.conversation_id;
        let rested = at_rest.then(|| self.last_seq(here));
        if self.find(request_id).is_none_or(|it| it.at_rest != at_rest || it.seq < turn.seq) {
            self.pulse += 1;
        }
        if let Some(entry) = self.find(request_id) {
            entry.seq = turn.seq.or(entry.seq).or(rested);
            entry.retry_of = turn.retry_of.or(entry.retry_of);
            entry.missed = !in_view && (entry.missed || !entry.at_rest);
            entry.at_rest = at_rest;
            entry.never_sent = never_sent;
            let before = entry.cell.turn.with_untracked(|old| old.shown.text().len());
            let grown = turn.shown.text().len() > before;
            entry.cell.turn.set(turn);
            return grown;
        }
        let entry = Entry {
            conversation_id: turn.conversation_id,
            seq: turn.seq,
            retry_of: turn.retry_of,
            at_rest,
            never_sent,
            missed: false,
            cell: TurnCell {
                request_id,
                since: waiting_since(&turn, now),
                turn: Arc::new(Field::new(turn)),
                chain: Arc::new(Field::new((1, 1))),
            },
        };
        self.entries.push(entry);
        true
    }

    fn find(&mut self, request_id: RequestId) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.cell.request_id == request_id)
    }

    /// The last place that the server has given in this conversation; 0 while no question of it has
    /// arrived.
    pub(super) fn last_seq(&self, id: ConversationId) -> u64 {
        let here = self.entries.iter().filter(|it| it.conversation_id == id);
        here.filter_map(|it| it.seq).max().unwrap_or(0)
    }

    /// A conversation is gone.
    pub(super) fn forget(&mut self, id: ConversationId) {
        self.entries.retain(|entry| entry.conversation_id != id);
    }

    /// Counts up whenever an ask is new, has got its place, or has come to rest.
    pub(super) const fn pulse(&self) -> u64 {
        self.pulse
    }

    /// Takes a turn off the screen.
    pub(super) fn hide(&mut self, request_id: RequestId) {
        self.entries.retain(|entry| entry.cell.request_id != request_id);
    }

    /// The person looks at a conversation: nothing of it is missed any more.
    pub(super) fn viewed(&mut self, view: ConversationId) {
        for entry in self.entries.iter_mut().filter(|entry| entry.conversation_id == view) {
            entry.missed = false;
        }
    }

    /// A person does not want to be reminded of a settled ask elsewhere.
    pub(super) fn dismiss(&mut self, request_id: RequestId) {
        if let Some(entry) = self.find(request_id) {
            entry.missed = false;
        }
    }

    /// The turns of a conversation: those the server has placed by their `seq`, then the others as
    /// they came. The browser's clock has no say in it. A question that was asked again is one turn,
    /// where it was asked first.
    pub(super) fn turns(&self, view: Option<ConversationId>) -> Vec<TurnCell> {
        let Some(view) = view else { return Vec::new() };
        let place = |entry: &Entry| entry.seq.unwrap_or(u64::MAX);
        let mut turns: Vec<&Entry> = Vec::new();
        for entry in &self.entries {
            if entry.conversation_id == view && !entry.never_sent {
                // Mostly at the end: they come in order.
                let at = turns.partition_point(|other| place(other) <= place(entry));
                turns.insert(at, entry);
            }
        }
        let is_here = |id: RequestId| turns.iter().any(|entry| entry.cell.request_id == id);
        let is_first = |entry: &&&Entry| !entry.retry_of.is_some_and(is_here);
        let shown = turns.iter().filter(is_first).map(|first| self.shown(first, &turns));
        shown.collect()
    }

    /// The answer that stands for all those to a question; the last, unless a person chose another.
    fn shown(&self, first: &Entry, turns: &[&Entry]) -> TurnCell {
        let chain = chain(first, turns);
        let at = chain.iter().position(|it| self.chosen.contains(&it.cell.request_id));
        let at = at.unwrap_or(chain.len() - 1);
        let shown = chain.get(at).copied().unwrap_or(first);
        shown.cell.chain.set((at + 1, chain.len()));
        shown.cell.clone()
    }

    /// A person wants to see the next, or the previous, of the answers to a question; which that is.
    pub(super) fn choose(&mut self, request_id: RequestId, forward: bool) -> Option<RequestId> {
        let next = if forward {
            let next = self.entries.iter().find(|entry| entry.retry_of == Some(request_id));
            next.map(|entry| entry.cell.request_id)
        } else {
            self.find(request_id).and_then(|entry| entry.retry_of)
        };
        if let Some(next) = next {
            self.chosen.retain(|chosen| *chosen != request_id);
            self.chosen.push(next);
        }
        next
    }

    /// A turn that a person goes on from: what comes of it is what that person wants to see.
    pub(super) fn go_on_from(&mut self, request_id: RequestId) -> Option<&Field<Turn>> {
        self.chosen.retain(|chosen| *chosen != request_id);
        self.find(request_id).map(|entry| &*entry.cell.turn)
    }

    /// Other conversations' asks under way, and those that settled unseen.
    pub(super) fn elsewhere(&self, view: Option<ConversationId>) -> Vec<Elsewhere> {
        let entries = self
            .entries
            .iter()
            .filter(|entry| view != Some(entry.conversation_id) && !entry.never_sent)
            .filter(|entry| !entry.at_rest || entry.missed);
        let describe = |entry: &Entry| Elsewhere {
            request_id: entry.cell.request_id,
            conversation_id: entry.conversation_id,
            question: entry.cell.turn.with_untracked(|turn| turn.question.clone()),
            settled: entry.at_rest,
        };
        entries.map(describe).collect()
    }

    /// Other tabs' questions that were never sent.
    pub(super) fn never_sent(&self) -> Vec<TurnCell> {
        let entries = self.entries.iter().filter(|entry| entry.never_sent);
        entries.map(|entry| entry.cell.clone()).collect()
    }

    /// Whether an ask is offered from another tab.
    pub(super) fn is_never_sent(&self, request_id: RequestId) -> bool {
        self.entries.iter().any(|it| it.cell.request_id == request_id && it.never_sent)
    }

    /// Whether anything is expected by itself.
    pub(super) fn is_waiting(&self) -> bool {
        self.entries.iter().any(|entry| !entry.at_rest)
    }

    /// Forgets the settled turns of a conversation whose ids are not among these: what lies between
    /// them and these is not known.
    pub(super) fn keep_only(&mut self, view: ConversationId, ids: &[RequestId]) {
        self.entries.retain(|entry| {
            let kept = ids.contains(&entry.cell.request_id);
            entry.conversation_id != view || !entry.at_rest || kept
        });
    }

    /// Whether one of these is shown already.
    pub(super) fn holds_any(&self, ids: &[RequestId]) -> bool {
        self.entries.iter().any(|entry| ids.contains(&entry.cell.request_id))
    }
}

/// All answers to a question, from the first on.
fn chain<'a>(first: &'a Entry, turns: &[&'a Entry]) -> Vec<&'a Entry> {
    let mut chain = vec![first];
    let mut last = first.cell.request_id;
    // At most one ask repeats another, and none comes before what it repeats.
    while let Some(next) = turns.iter().find(|entry| entry.retry_of == Some(last)) {
        if chain.len() > turns.len() {
            break;
        }
        last = next.cell.request_id;
        chain.push(next);
    }
    chain
}

/// The newest of these turns that can be stopped. One that has not been sent, or waits to be sent again,
/// is stopped by taking it back.
pub(super) fn stoppable(turns: &[TurnCell]) -> Option<RequestId> {
    let can_stop = |turn: &Turn| {
        let has = |action| turn.actions.contains(&action);
        !turn.stopping && (has(Action::Stop) || has(Action::SendNow))
    };
    let newest = turns.iter().rev().find(|cell| cell.turn.with_untracked(can_stop));
    newest.map(|cell| cell.request_id)
}

/// Since when, by the browser's clock. The server's `asked_at` is by another clock.
fn waiting_since(turn: &Turn, now: Millis) -> Millis {
    match (turn.asked_at, &turn.outcome) {
        (Some(asked_at), None) if now.saturating_sub(asked_at.millis()) < DAY => {
            asked_at.millis().min(now)
        }
        _ => now,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use holdfast_protocol::{Outcome, State, Status, Timestamp};
    use holdfast_recovery::TurnStatus;

    use super::*;

    fn id<T: std::str::FromStr>(number: u8) -> T
    where
        T::Err: std::fmt::Debug,
    {
        format!("018f2b6e-7c11-7cc3-9d5a-0123456789{number:02x}").parse().unwrap()
    }

    fn turn(number: u8, conversation: u8, seq: Option<u64>, status: Status) -> Turn {
        let mut outcome = Outcome::bare(id(number), id(conversation), status, None);
        outcome.seq = seq;
        outcome.question = Some(format!("question {number}"));
        Turn::of_outcome(outcome)
    }

    fn ids(cells: &[TurnCell]) -> Vec<RequestId> {
        cells.iter().map(|cell| cell.request_id).collect()
    }

    #[test]
    fn a_refused_turn_stays_where_it_was_refused() {
        let mut book = Book::default();
        let view = Some(id(9));
        let mut refused = turn(2, 9, None, Status::Pending);
        refused.status = TurnStatus::Sending;
        book.show(turn(1, 9, Some(1), Status::Completed), 0, view);
        book.show(refused.clone(), 0, view);
        refused.status = TurnStatus::Refused;
        book.show(refused, 0, view);
        book.show(turn(3, 9, Some(2), Status::Completed), 0, view);
        assert_eq!(ids(&book.turns(view)), [id(1), id(2), id(3)]);
    }

    #[test]
    fn turns_stand_in_the_servers_order_and_unplaced_ones_last() {
        let mut book = Book::default();
        for turn in [
            turn(1, 9, None, Status::Pending),
            turn(2, 9, Some(7), Status::Completed),
            turn(3, 8, Some(1), Status::Completed),
            turn(4, 9, Some(3), Status::Completed),
        ] {
            book.show(turn, 0, Some(id(9)));
        }
        assert_eq!(ids(&book.turns(Some(id(9)))), [id(4), id(2), id(1)]);
        book.show(turn(1, 9, Some(5), Status::Pending), 0, Some(id(9)));
        assert_eq!(ids(&book.turns(Some(id(9)))), [id(4), id(1), id(2)]);
        assert!(book.turns(None).is_empty());
    }

    #[test]
    fn a_question_asked_again_is_one_turn_where_it_was_asked_first() {
        let mut book = Book::default();
        let view = Some(id(9));
        for (number, retry_of) in [(1, None), (2, None), (3, Some(1)), (4, Some(3))] {
            let mut turn = turn(number, 9, Some(number.into()), Status::Completed);
            turn.retry_of = retry_of.map(id);
            book.show(turn, 0, view);
        }
        let shows = |book: &Book| {
            let turns = book.turns(view);
            let at = turns.first().map(|cell| cell.chain.get_untracked());
            (ids(&turns), at.unwrap())
        };
        assert_eq!(shows(&book), (vec![id(4), id(2)], (3, 3)), "the last answer");
        book.choose(id(4), false);
        assert_eq!(shows(&book), (vec![id(3), id(2)], (2, 3)));
        book.choose(id(3), false);
        assert_eq!(shows(&book), (vec![id(1), id(2)], (1, 3)));
        book.choose(id(1), false);
        assert_eq!(shows(&book), (vec![id(1), id(2)], (1, 3)), "nothing comes before the first");
        book.choose(id(1), true);
        book.choose(id(3), true);
        assert_eq!(shows(&book), (vec![id(4), id(2)], (3, 3)));
        book.hide(id(1));
        assert_eq!(shows(&book).0, [id(2), id(4)], "what it repeats is not here");
    }

    #[test]
    fn what_settles_elsewhere_is_told_until_it_is_looked_at() {
        let mut book = Book::default();
        book.show(turn(1, 9, None, Status::Pending), 0, Some(id(8)));
        book.show(turn(2, 9, Some(1), Status::Completed), 0, Some(id(8)));
        let elsewhere = book.elsewhere(Some(id(8)));
        assert_eq!(elsewhere.len(), 1, "a settled turn that was never pending here is no news");
        assert_eq!(elsewhere.first().map(|ask| ask.settled), Some(false));
        book.show(turn(1, 9, Some(2), Status::Completed), 0, Some(id(8)));
        let elsewhere = book.elsewhere(Some(id(8)));
        assert_eq!(elsewhere.first().map(|ask| ask.settled), Some(true));
        book.viewed(id(9));
        assert!(book.elsewhere(Some(id(8))).is_empty());
        assert!(!book.is_waiting());
    }

    #[test]
    fn more_text_is_news() {
        let mut book = Book::default();
        let with_text = |text: &str| {
            let mut outcome = Outcome::bare(id(1), id(9), Status::Pending, Some(State::Running));
            outcome.answer =
                Some(holdfast_protocol::Answer { text: text.to_owned(), ..Default::default() });
            Turn::of_outcome(outcome)
        };
        assert!(book.show(with_text("a"), 0, None));
        assert!(!book.show(with_text("a"), 0, None));
        assert!(book.show(with_text("ab"), 0, None));
    }

    #[test]
    fn a_wait_is_counted_by_the_browsers_clock_alone() {
        let mut asked = turn(1, 9, None, Status::Pending);
        asked.status = TurnStatus::Sending;
        asked.asked_at = Some(Timestamp::from_millis(1_000));
        assert_eq!(waiting_since(&asked, 5_000), 5_000, "the outcome's time is the server's");
        asked.outcome = None;
        assert_eq!(waiting_since(&asked, 5_000), 1_000);
        assert_eq!(waiting_since(&asked, 500), 500, "a clock set back");
        assert_eq!(waiting_since(&asked, 1_000 + 2 * DAY), 1_000 + 2 * DAY);
    }
}
