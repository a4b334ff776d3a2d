//! Drives recovery: feeds it events, carries out its effects in order, and keeps the screen.
//!
//! Not here: any decision about an ask. What is decided here is only how: which request, which
//! storage, which signal.
//!
//! *Architecture invariant:* an event that arises while another is handled waits for its turn, so
//! recovery is never entered twice; and after a panic nothing is handled any more.

mod book;
mod compose;
mod effects;
mod exchanges;
mod loading;
mod signs;
mod title;
pub(crate) mod unseen;
mod view;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use holdfast_protocol::following::Followed;
use holdfast_recovery::{Event, ExchangeId, Millis, Recovery, Start};
use send_wrapper::SendWrapper;

use self::book::Book;
use self::loading::Loads;
use crate::net::Abort;
use crate::screen::Screen;
use crate::storage::{Drafts, PointerStore};
use crate::{clock, fault, ids, storage};

/// The driver. There is one, and it lives as long as the page.
pub(crate) struct Driver {
    screen: &'static Screen,
    recovery: RefCell<Recovery>,
    queue: RefCell<VecDeque<Event>>,
    handling: Cell<bool>,
    exchanges: RefCell<Vec<(ExchangeId, Abort)>>,
    /// What streams brought since the last frame.
    brought: RefCell<Vec<(ExchangeId, Followed)>>,
    awaits_frame: Cell<bool>,
    book: RefCell<Book>,
    pointers: PointerStore,
    drafts: Drafts,
    /// The instructions of conversations whose first question has not arrived.
    instructions: Drafts,
    loads: Loads,
    announced: Cell<usize>,
    /// Answers that arrived while nobody looked.
    unseen: Cell<usize>,
    ticked_at: Cell<Millis>,
}

impl Driver {
    /// Starts it: takes up what the last page left, and listens to the browser.
    pub(crate) fn start(screen: &'static Screen) -> &'static SendWrapper<Self> {
        // Views must be sendable in general; a browser has one thread.
        let driver: &'static SendWrapper<Self> = Box::leak(Box::new(SendWrapper::new(Self {
            screen,
            recovery: RefCell::new(Recovery::new(ids::seed())),
            queue: RefCell::default(),
            handling: Cell::new(false),
            exchanges: RefCell::default(),
            brought: RefCell::default(),
            awaits_frame: Cell::new(false),
            book: RefCell::default(),
            pointers: PointerStore::default(),
            drafts: Drafts::questions(),
            instructions: Drafts::instructions(),
            loads: Loads::default(),
            announced: Cell::new(0),
            unseen: Cell::new(0),
            ticked_at: Cell::new(clock::now()),
        })));
        screen.offers.set(storage::load_offers());
        let pointers = driver.pointers.load();
        driver.feed(Event::Started(Start {
            mirrored: storage::mirrored(),
            // The tab itself is a witness too: whoever asked everything that is under way in it.
            remembered: storage::remembered().or_else(|| pointers.sole_owner().cloned()),
            pointers,
            buffering: storage::buffering(),
            visible: signs::is_visible(),
            online: signs::is_online(),
        }));
        driver.moved();
        signs::listen(driver);
        driver
    }

    /// Hands recovery an event, now or as soon as it is done with the one before.
    pub(crate) fn feed(&'static self, event: Event) {
        self.queue.borrow_mut().push_back(event);
        if self.handling.replace(true) {
            return;
        }
        while let Some(event) = self.next() {
            let effects = match self.recovery.try_borrow_mut() {
                Ok(mut recovery) => recovery.handle(clock::now(), event),
                Err(_) => Vec::new(),
            };
            for effect in effects {
                self.perform(effect);
            }
        }
        self.handling.set(false);
        self.refresh();
    }

    fn next(&self) -> Option<Event> {
        if fault::is_broken() { None } else { self.queue.borrow_mut().pop_front() }
    }

    /// Brings the lists of turns up to date.
    fn refresh(&self) {
        let screen = self.screen;
        let view = screen.view.get_untracked();
        let book = self.book.borrow();
        let turns = book.turns(view);
        let elsewhere = book.elsewhere(view);
        let never_sent = book.never_sent();
        screen.pulse.set(book.pulse());
        drop(book);
        screen.stoppable.set(book::stoppable(&turns));
        screen.turns.set(turns);
        screen.elsewhere.set(elsewhere);
        screen.never_sent.set(never_sent);
        self.name_document();
    }
}
