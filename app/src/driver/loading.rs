//! Loading the conversation in view: bounded tries, and no reply that comes too late for the view.

use std::cell::Cell;
use std::time::Duration;

use holdfast_protocol::{Conversation, ConversationId};
use holdfast_recovery::{Event, Millis};
use leptos::leptos_dom::helpers::set_timeout;

use super::Driver;
use crate::net::{self, Abort, Loaded};
use crate::screen::Loading;
use crate::{clock, task, text};

/// How long the first tries may take. Later ones have twice and four times as long: a page of long answers
/// takes a slow line its time.
const DEADLINE: Millis = 12_000;
/// Tries without a reply before a person is asked.
const TRIES: u32 = 5;
/// A conversation that was loaded this long ago is not loaded again for a mere glance.
const FRESH: Millis = 10_000;

/// Which load is wanted. A reply to any other comes too late.
#[derive(Default)]
pub(super) struct Loads {
    generation: Cell<u64>,
    loaded_at: Cell<Millis>,
}

impl Loads {
    pub(super) fn is_started(&self) -> bool {
        self.generation.get() > 0
    }

    /// Makes every load under way come too late.
    pub(super) fn supersede(&self) -> u64 {
        self.generation.set(self.generation.get() + 1);
        self.generation.get()
    }
}

impl Driver {
    /// Loads the newest turns of a conversation.
    pub(super) fn load(&'static self, view: Option<ConversationId>) {
        let generation = self.loads.supersede();
        self.loads.loaded_at.set(0);
        if let Some(id) = view {
            self.screen.loading.set(Loading::Busy);
            self.attempt(id, generation, 0);
        }
    }

    /// A person wants it tried again.
    pub(crate) fn reload_view(&'static self) {
        self.load(self.screen.view.get_untracked());
    }

    /// The line, or the person, is back: what was loaded may be out of date, what failed may work.
    pub(super) fn look_at_view_again(&'static self) {
        let stale = clock::now().saturating_sub(self.loads.loaded_at.get()) > FRESH;
        let busy = self.screen.loading.with_untracked(|loading| *loading == Loading::Busy);
        let view = self.screen.view.get_untracked();
        if let Some(id) = view.filter(|_| stale && !busy) {
            let generation = self.loads.supersede();
            // Quietly where there is something to see already.
            if self.screen.turns.with_untracked(Vec::is_empty) {
                self.screen.loading.set(Loading::Busy);
            }
            self.attempt(id, generation, 0);
        }
    }

    /// A conversation has so many turns by now. One that is in view and shows fewer has grown elsewhere.
    pub(crate) fn has_turns(&'static self, id: ConversationId, turns: u64) {
        let is_behind = self.book.borrow().last_seq(id) < turns;
        let idle = self.screen.loading.with_untracked(|loading| *loading == Loading::Idle);
        if is_behind && idle && self.screen.view.get_untracked() == Some(id) {
            let generation = self.loads.supersede();
            self.attempt(id, generation, 0);
        }
    }

    fn attempt(&'static self, id: ConversationId, generation: u64, tries: u32) {
        task::spawn(async move {
            let loaded = net::conversation(id, None, &Abort::after(DEADLINE << (tries / 2))).await;
            if self.loads.generation.get() == generation {
                self.loaded(id, generation, tries, loaded);
            }
        });
    }

    fn loaded(&'static self, id: ConversationId, generation: u64, tries: u32, loaded: Loaded) {
        let known = !self.screen.turns.with_untracked(Vec::is_empty);
        let loading = match loaded {
            Loaded::Page(page) => {
                self.loads.loaded_at.set(clock::now());
                self.take_newest(id, *page);
                Loading::Idle
            }
            // Its first ask may not have arrived yet.
            Loaded::NotFound if known => Loading::Idle,
            Loaded::NotFound => Loading::Missing(text::CONVERSATION_MISSING),
            Loaded::Deleted => Loading::Missing(text::CONVERSATION_DELETED),
            Loaded::SignIn => {
                self.screen.sign_in.set(true);
                Loading::Failed(text::SIGN_IN.to_owned())
            }
            Loaded::Refused(detail) => Loading::Failed(detail),
            Loaded::Nothing(after) if tries + 1 < TRIES => {
                let pause = after.unwrap_or(Duration::from_millis(400 << tries));
                set_timeout(
                    move || {
                        if self.loads.generation.get() == generation {
                            self.attempt(id, generation, tries + 1);
                        }
                    },
                    pause,
                );
                return;
            }
            Loaded::Nothing(_) => Loading::Failed(text::CONVERSATION_UNREACHABLE.to_owned()),
        };
        self.screen.loading.set(loading);
    }

    fn take_newest(&'static self, id: ConversationId, page: Conversation) {
        let ids: Vec<_> = page.turns.iter().map(|turn| turn.request_id).collect();
        let joins = self.book.borrow().holds_any(&ids);
        let (had_earlier, reaches_back) =
            (self.screen.earlier.get_untracked(), page.next.is_none());
        if !joins {
            // Between what was known and this page there may be turns nobody here has seen.
            self.book.borrow_mut().keep_only(id, &ids);
        }
        let title = Some(page.title.clone()).filter(|title| !title.is_empty());
        self.screen.title.set(title);
        if reaches_back {
            self.screen.earlier.set(None);
        } else if had_earlier.is_none() || !joins {
            self.screen.earlier.set(page.next);
        }
        self.take_turns(page);
    }

    fn take_turns(&'static self, page: Conversation) {
        for outcome in page.turns {
            self.feed(Event::Seen(Box::new(outcome)));
        }
    }

    /// A person wants the turns before the first one shown.
    pub(crate) fn load_earlier(&'static self) {
        let (view, before) =
            (self.screen.view.get_untracked(), self.screen.earlier.get_untracked());
        let (Some(id), Some(before)) = (view, before) else { return };
        if self.screen.loading.with_untracked(|loading| *loading == Loading::Busy) {
            return;
        }
        self.screen.loading.set(Loading::Busy);
        let generation = self.loads.supersede();
        task::spawn(async move {
            let loaded = net::conversation(id, Some(before), &Abort::after(DEADLINE)).await;
            if self.loads.generation.get() != generation {
                return;
            }
            self.screen.loading.set(match loaded {
                Loaded::Page(page) => {
                    self.screen.earlier.set(page.next);
                    crate::ui::scroll::keep_place();
                    self.take_turns(*page);
                    Loading::Idle
                }
                _ => Loading::Failed(text::EARLIER_UNREACHABLE.to_owned()),
            });
        });
    }
}
