//! The conversations beside the chat: which there are, which were found, and what a person does with
//! one as a whole. Not here: how they are drawn (`ui::shelf`), and anything about an ask.
//!
//! *Architecture invariant:* the list is a copy of the server's and decides nothing. What is done goes
//! to the server first; the list then shows what came of it.

mod day;
mod seen;

use std::cell::Cell;
use std::time::Duration;

use holdfast_protocol::{ConversationId, ConversationSummary};
use holdfast_recovery::Millis;
use leptos::leptos_dom::helpers::set_timeout;
use leptos::prelude::*;
use send_wrapper::SendWrapper;

pub(crate) use self::day::Day;
use self::seen::Seen;
use crate::driver::Driver;
use crate::field::Field;
use crate::net;
use crate::screen::Screen;
use crate::{clock, task, text};

/// As many as one page brings.
const PAGE: usize = 50;
/// The server gives no more at once.
const MOST: usize = 200;
/// Between a change and the request that it makes: people type words, and asks come in bursts.
const PAUSE: Duration = Duration::from_millis(250);
/// How long a deletion can be undone.
const UNDO: Millis = 60_000;

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// What the server says of it.
    pub(crate) conversation: ConversationSummary,
    /// Something came since the person last looked.
    pub(crate) unread: bool,
    /// Under which heading it stands.
    pub(crate) day: Day,
}

/// A deletion that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deleted {
    /// Of which conversation.
    pub(crate) id: ConversationId,
    /// What it was called.
    pub(crate) title: String,
    /// Until when.
    pub(crate) until: Millis,
}

/// The instructions of a conversation, as they are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instructions {
    /// Of which conversation.
    pub(crate) id: ConversationId,
    /// What it is called.
    pub(crate) title: String,
    /// What they say; `None` until that is known.
    pub(crate) text: Option<String>,
}

/// As views hold it.
pub(crate) type TheShelf = &'static SendWrapper<Shelf>;

/// The shelf. There is one, and it lives as long as the page.
pub(crate) struct Shelf {
    screen: &'static Screen,
    driver: &'static Driver,
    seen: Seen,
    generation: Cell<u64>,
    scheduled: Cell<bool>,
    /// What is looked for.
    pub(crate) query: Field<String>,
    /// The lines.
    pub(crate) rows: Field<Vec<Row>>,
    /// Where the next page begins.
    pub(crate) next: Field<Option<String>>,
    /// The first list is not here yet.
    pub(crate) is_new: Field<bool>,
    /// Why there is no list.
    pub(crate) trouble: Field<Option<String>>,
    /// What came of what was done last, where that does not show by itself.
    pub(crate) says: Field<Option<String>>,
    /// The conversation whose title is being written.
    pub(crate) renaming: Field<Option<ConversationId>>,
    /// What the model is told in a conversation, while somebody looks at it.
    pub(crate) instructions: Field<Option<Instructions>>,
    /// What can be undone.
    pub(crate) deleted: Field<Option<Deleted>>,
}

impl Shelf {
    /// A shelf that keeps itself up to date.
    pub(crate) fn start(screen: &'static Screen, driver: &'static Driver) -> TheShelf {
        // Views must be sendable in general; a browser has one thread.
        let shelf: TheShelf = Box::leak(Box::new(SendWrapper::new(Self {
            screen,
            driver,
            seen: Seen::load(),
            generation: Cell::new(0),
            scheduled: Cell::new(false),
            query: Field::new(String::new()),
            rows: Field::new(Vec::new()),
            next: Field::new(None),
            is_new: Field::new(true),
            trouble: Field::new(None),
            says: Field::new(None),
            renaming: Field::new(None),
            instructions: Field::new(None),
            deleted: Field::new(None),
        })));
        // An ask was accepted or has settled, another conversation is looked at, or the line is back.
        Effect::new(move |_| {
            screen.pulse.get();
            screen.view.get();
            screen.online.get();
            shelf.refresh_soon();
        });
        shelf
    }

    /// Looks for words from now on.
    pub(crate) fn search(&'static self, query: String) {
        self.query.set(query);
        self.refresh_soon();
    }

    /// Loads the list anew after a pause, in which more may change.
    fn refresh_soon(&'static self) {
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

    /// Loads the list anew, as far as it was loaded.
    pub(crate) fn refresh(&'static self) {
        let limit = self.rows.with_untracked(Vec::len).clamp(PAGE, MOST);
        self.load(None, limit);
    }

    /// Loads the page after the last one.
    pub(crate) fn more(&'static self) {
        if let Some(next) = self.next.get_untracked() {
            self.load(Some(next), PAGE);
        }
    }

    fn load(&'static self, before: Option<String>, limit: usize) {
        let generation = self.generation.get() + 1;
        self.generation.set(generation);
        let query = self.query.get_untracked();
        task::spawn(async move {
            let loaded = net::shelf::list(query.trim(), before.as_deref(), limit).await;
            // A later list is on its way, or here; or somebody writes in this one.
            let is_written_in = self.renaming.with_untracked(Option::is_some);
            if self.generation.get() != generation || is_written_in {
                return;
            }
            match loaded {
                Ok(list) => {
                    let mut rows = match before {
                        Some(_) => self.rows.get_untracked(),
                        None => Vec::new(),
                    };
                    self.seen.begin(&list.conversations);
                    let known = rows.len();
                    for conversation in list.conversations {
                        let is_new = rows
                            .iter()
                            .take(known)
                            .all(|row| row.conversation.id != conversation.id);
                        if is_new {
                            rows.push(self.row(conversation));
                        }
                    }
                    self.rows.set(rows);
                    self.next.set(list.next);
                    self.is_new.set(false);
                    self.trouble.set(None);
                }
                // What is there stays; a list that cannot be loaded is no more than old.
                Err(why) if self.rows.with_untracked(Vec::is_empty) => self.trouble.set(Some(why)),
                Err(_) => {}
            }
        });
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

    /// Leaves the title as it is.
    pub(crate) fn keep_title(&'static self) {
        self.renaming.set(None);
        self.refresh_soon();
    }

    /// Gives a conversation another title; nothing else than white space changes nothing.
    pub(crate) fn rename(&'static self, id: ConversationId, title: String) {
        if title.trim().is_empty() {
            return self.keep_title();
        }
        self.renaming.set(None);
        self.act(async move {
            net::shelf::rename(id, title.trim()).await?;
            self.driver.renamed(id, title.trim());
            Ok(None)
        });
    }

    /// Shows what the model is told in a conversation.
    pub(crate) fn open_instructions(&'static self, id: ConversationId, title: String) {
        self.instructions.set(Some(Instructions { id, title, text: None }));
        task::spawn(async move {
            let told = match net::shelf::instructions(id).await {
                Ok(told) => told,
                Err(why) => {
                    self.instructions.set(None);
                    return self.says.set(Some(why));
                }
            };
            self.says.set(None);
            self.instructions.update(|instructions| {
                if let Some(instructions) = instructions.as_mut().filter(|it| it.id == id) {
                    instructions.text = Some(told);
                }
            });
        });
    }

    /// Tells the model something else from now on. What could not be kept stays open.
    pub(crate) fn instruct(&'static self, text: String) {
        let Some(Instructions { id, .. }) = self.instructions.get_untracked() else { return };
        self.act(async move {
            net::shelf::instruct(id, text.trim()).await?;
            self.instructions.set(None);
            Ok(None)
        });
    }

    /// Deletes a conversation; what is in view then is a new chat.
    pub(crate) fn delete(&'static self, id: ConversationId, title: String) {
        self.act(async move {
            net::shelf::delete(id).await?;
            if self.screen.view.get_untracked() == Some(id) {
                self.driver.new_chat();
            }
            let until = clock::now() + UNDO;
            self.deleted.set(Some(Deleted { id, title, until }));
            let forget = move || {
                let due = |deleted: &Option<Deleted>| {
                    deleted.as_ref().is_some_and(|deleted| deleted.until <= clock::now())
                };
                if self.deleted.with_untracked(due) {
                    self.deleted.set(None);
                }
            };
            set_timeout(forget, Duration::from_millis(UNDO + 50));
            Ok(None)
        });
    }

    /// Undoes the last deletion.
    pub(crate) fn restore(&'static self) {
        let Some(Deleted { id, .. }) = self.deleted.get_untracked() else { return };
        self.act(async move {
            net::shelf::restore(id).await?;
            self.deleted.set(None);
            self.driver.go_to(id);
            Ok(None)
        });
    }

    /// Takes in a file that was exported here, or by another chat.
    pub(crate) fn import(&'static self, file: web_sys::File) {
        self.act(async move {
            let read = wasm_bindgen_futures::JsFuture::from(file.text()).await;
            let exported = read.ok().and_then(|text| text.as_string());
            let exported = exported.ok_or_else(|| text::FILE_UNREADABLE.to_owned())?;
            Ok(Some(text::imported(net::shelf::import(exported).await?)))
        });
    }

    /// Does something, shows what came of it, and the list as it is then.
    fn act(&'static self, act: impl Future<Output = net::shelf::Done<Option<String>>> + 'static) {
        task::spawn(async move {
            let says = act.await.unwrap_or_else(Some);
            self.refresh();
            self.says.set(says);
        });
    }
}
