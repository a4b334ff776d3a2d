//! The lines of the shelf: loading them, keeping them up to date, and what was looked for.
//!
//! The server sends no word of what others do. So the list is loaded anew whenever something was done
//! here, whenever there is reason to look (the line is back, the page is seen again), and now and then
//! while somebody can see it. A conversation in view that has grown elsewhere is told to be looked at.

use std::time::Duration;

use holdfast_protocol::{ConversationId, ConversationList, ConversationSummary};
use holdfast_recovery::Millis;
use leptos::leptos_dom::helpers::{set_interval, set_timeout};
use leptos::prelude::*;

use super::{Day, Line, Row, Shelf};
use crate::driver::Driver;
use crate::field::Field;
use crate::{clock, net, task};

/// As many as one page brings.
const PAGE: usize = 50;
/// The server gives no more at once.
const MOST: usize = 200;
/// Between a change and the request that it makes: people type words, and asks come in bursts.
const PAUSE: Duration = Duration::from_millis(250);
/// How often it is seen whether it is time to load the list anew …
const LOOK: Duration = Duration::from_secs(5);
/// … which is after this, or at once while something elsewhere is under way.
const OLD: Millis = 10_000;

impl Shelf {
    /// Keeps the list up to date from now on.
    pub(super) fn keep_up(&'static self) {
        let screen = self.screen;
        // An ask was accepted or has settled, another conversation is looked at, or the line is back.
        Effect::new(move |_| {
            screen.pulse.get();
            screen.view.get();
            screen.online.get();
            screen.nudges.get();
            self.refresh_soon();
        });
        set_interval(
            move || {
                let age = clock::now().saturating_sub(self.loaded_at.get());
                if Driver::is_looked_at() && (age >= OLD || self.waits_elsewhere()) {
                    self.refresh();
                }
            },
            LOOK,
        );
    }

    /// Whether an ask of another conversation than that in view is under way.
    fn waits_elsewhere(&self) -> bool {
        let view = self.screen.view.get_untracked();
        let waits = |row: &Row| row.conversation.pending > 0 && view != Some(row.conversation.id);
        self.rows.with_untracked(|rows| rows.iter().any(|line| line.with_untracked(waits)))
    }

    /// Looks for words from now on.
    pub(crate) fn search(&'static self, query: String) {
        self.query.set(query);
        self.searches.set(self.searches.get() + 1);
        self.refresh_soon();
    }

    /// Loads the list anew after a pause, in which more may change.
    pub(super) fn refresh_soon(&'static self) {
        if self.scheduled.replace(true) {
            return;
        }
        set_timeout(
            move || {
                self.scheduled.set(false);
                self.refresh();
            },
            PAUSE,
        );
    }

    /// Loads the list anew, as far as it was loaded and fits into one page.
    pub(crate) fn refresh(&'static self) {
        let load = self.loads.get() + 1;
        self.loads.set(load);
        self.loaded_at.set(clock::now());
        let limit = self.rows.with_untracked(Vec::len).clamp(PAGE, MOST);
        let (query, is_wanted) = self.wanted();
        task::spawn(async move {
            let loaded = net::shelf::list(query.trim(), None, limit).await;
            // A later one is on its way, or here.
            if self.loads.get() != load || !is_wanted() {
                return;
            }
            match loaded {
                Ok(list) => self.take_first(query, list),
                // What is there stays: it is no more than old. Unless something else was looked for.
                Err(why) => {
                    if *self.answered.borrow() != query {
                        self.rows.update(Vec::clear);
                        self.next.set(None);
                    }
                    if self.rows.with_untracked(Vec::is_empty) {
                        self.trouble.set(Some(why));
                    }
                }
            }
        });
    }

    /// Loads the page after the last one.
    pub(crate) fn more(&'static self) {
        let Some(next) = self.next.get_untracked() else { return };
        let (query, is_wanted) = self.wanted();
        task::spawn(async move {
            let loaded = net::shelf::list(query.trim(), Some(&next), PAGE).await;
            // The list may have been loaded anew meanwhile; where this page follows is still the end.
            if !is_wanted() || self.next.with_untracked(|now| now.as_ref() != Some(&next)) {
                return;
            }
            match loaded {
                Ok(list) => {
                    let mut rows = self.rows.get_untracked();
                    self.take(&mut rows, list.conversations);
                    self.rows.update(|now| *now = rows);
                    self.next.set(list.next);
                }
                Err(why) => self.says.set(Some(why)),
            }
        });
    }

    /// The words that are looked for, and whether what they bring is still wanted then: something else
    /// may be looked for, or somebody writes in the list.
    fn wanted(&'static self) -> (String, impl Fn() -> bool) {
        let search = self.searches.get();
        let is_wanted =
            move || self.searches.get() == search && self.renaming.with_untracked(Option::is_none);
        (self.query.get_untracked(), is_wanted)
    }

    /// Takes the beginning of the list. What was loaded beyond it stays behind it.
    fn take_first(&'static self, query: String, list: ConversationList) {
        let mut known = self.rows.get_untracked();
        if *self.answered.borrow() != query {
            known.clear();
        }
        self.seen.begin(&list.conversations);
        let place = |it: &ConversationSummary| (it.updated_at, it.id.uuid());
        let end = list.conversations.last().map(place);
        let beyond = known.iter().filter(|line| {
            list.next.is_some() && line.with_untracked(|row| Some(place(&row.conversation)) < end)
        });
        let beyond: Vec<Line> = beyond.cloned().collect();
        let turns = self.turns_in_view(&list);
        let mut rows = Vec::with_capacity(list.conversations.len() + beyond.len());
        for conversation in list.conversations {
            let row = self.row(conversation);
            let line = find(&known, row.conversation.id).cloned();
            rows.push(match line {
                Some(line) => {
                    line.set(row);
                    line
                }
                None => Line::new(Field::new(row)),
            });
        }
        let is_whole = beyond.is_empty();
        for line in beyond {
            if find(&rows, line.with_untracked(|row| row.conversation.id)).is_none() {
                rows.push(line);
            }
        }
        self.rows.update(|now| *now = rows);
        if is_whole {
            self.next.set(list.next);
        }
        self.answered.replace(query);
        self.is_new.set(false);
        self.trouble.set(None);
        if let Some((id, turns)) = turns {
            self.driver.has_turns(id, turns);
        }
    }

    /// How many turns the conversation in view has by now.
    fn turns_in_view(&self, list: &ConversationList) -> Option<(ConversationId, u64)> {
        let view = self.screen.view.get_untracked()?;
        let seen = list.conversations.iter().find(|it| it.id == view)?;
        Driver::is_looked_at().then_some((view, seen.turns))
    }

    /// Adds those that are not there yet.
    fn take(&self, rows: &mut Vec<Line>, conversations: Vec<ConversationSummary>) {
        for conversation in conversations {
            if find(rows, conversation.id).is_none() {
                rows.push(Line::new(Field::new(self.row(conversation))));
            }
        }
    }

    fn row(&self, conversation: ConversationSummary) -> Row {
        let looked_at = self.screen.view.get_untracked() == Some(conversation.id);
        if looked_at && Driver::is_looked_at() {
            self.seen.see(&conversation);
        }
        Row {
            unread: self.seen.is_unread(&conversation),
            day: Day::of(conversation.updated_at.millis(), clock::now(), clock::offset()),
            conversation,
        }
    }
}

/// The line of a conversation.
fn find(lines: &[Line], id: ConversationId) -> Option<&Line> {
    lines.iter().find(|line| line.with_untracked(|row| row.conversation.id == id))
}
