//! The conversations beside the chat: which there are, which were found, and what a person does with
//! one as a whole. Not here: how they are drawn (`ui::shelf`), and anything about an ask.
//!
//! *Architecture invariant:* the list is a copy of the server's and decides nothing. What is done goes
//! to the server first; the list then shows what came of it.

mod day;
mod list;
mod seen;

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use holdfast_protocol::{ConversationId, ConversationSummary};
use holdfast_recovery::Millis;
use leptos::leptos_dom::helpers::set_timeout;
use send_wrapper::SendWrapper;

pub(crate) use self::day::Day;
use self::seen::Seen;
use crate::driver::Driver;
use crate::field::Field;
use crate::net;
use crate::screen::Screen;
use crate::{clock, task, text};

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

/// One line as views hold it: it changes in place, so that what is open in it stays open.
pub(crate) type Line = Arc<Field<Row>>;

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
    /// Counts up whenever other words are looked for.
    searches: Cell<u64>,
    /// Counts up whenever the list is loaded anew.
    loads: Cell<u64>,
    loaded_at: Cell<Millis>,
    scheduled: Cell<bool>,
    /// What was looked for when the lines were found.
    answered: RefCell<String>,
    /// What is looked for.
    pub(crate) query: Field<String>,
    /// The lines.
    pub(crate) rows: Field<Vec<Line>>,
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
    /// Why the instructions that somebody looks at could not be kept.
    pub(crate) not_kept: Field<Option<String>>,
    /// What can be undone.
    pub(crate) deleted: Field<Vec<Deleted>>,
}

impl Shelf {
    /// A shelf that keeps itself up to date.
    pub(crate) fn start(screen: &'static Screen, driver: &'static Driver) -> TheShelf {
        // Views must be sendable in general; a browser has one thread.
        let shelf: TheShelf = Box::leak(Box::new(SendWrapper::new(Self {
            screen,
            driver,
            seen: Seen::load(),
            searches: Cell::new(0),
            loads: Cell::new(0),
            loaded_at: Cell::new(clock::now()),
            scheduled: Cell::new(false),
            answered: RefCell::default(),
            query: Field::new(String::new()),
            rows: Field::new(Vec::new()),
            next: Field::new(None),
            is_new: Field::new(true),
            trouble: Field::new(None),
            says: Field::new(None),
            renaming: Field::new(None),
            instructions: Field::new(None),
            not_kept: Field::new(None),
            deleted: Field::new(Vec::new()),
        })));
        shelf.keep_up();
        shelf
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
        self.not_kept.set(None);
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

    /// Tells the model something else from now on. What could not be kept stays open, with the reason.
    pub(crate) fn instruct(&'static self, text: String) {
        let Some(Instructions { id, .. }) = self.instructions.get_untracked() else { return };
        self.not_kept.set(None);
        task::spawn(async move {
            match net::shelf::instruct(id, text.trim()).await {
                Ok(_) => self.instructions.set(None),
                Err(why) => self.not_kept.set(Some(why)),
            }
        });
    }

    /// Deletes a conversation; what is in view then is a new chat.
    pub(crate) fn delete(&'static self, id: ConversationId, title: String) {
        self.act(async move {
            net::shelf::delete(id).await?;
            self.rows.update(|rows| {
                rows.retain(|line| line.with_untracked(|row| row.conversation.id != id));
            });
            self.driver.deleted(id);
            if self.screen.view.get_untracked() == Some(id) {
                self.driver.new_chat();
            }
            let until = clock::now() + UNDO;
            self.deleted.update(|deleted| deleted.push(Deleted { id, title, until }));
            let forget = || self.forget(|deleted| deleted.until <= clock::now());
            set_timeout(forget, Duration::from_millis(UNDO + 50));
            Ok(None)
        });
    }

    /// Undoes a deletion.
    pub(crate) fn restore(&'static self, id: ConversationId) {
        self.act(async move {
            net::shelf::restore(id).await?;
            self.forget(|deleted| deleted.id == id);
            self.driver.go_to(id);
            Ok(None)
        });
    }

    /// Offers no more to undo these.
    fn forget(&self, which: impl Fn(&Deleted) -> bool) {
        self.deleted.update(|deleted| deleted.retain(|it| !which(it)));
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
