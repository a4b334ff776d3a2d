//! Carrying out one effect of recovery's.

use std::time::Duration;

use holdfast_recovery::{Announcement, Effect, Event, Millis, Notice, TimerId};
use leptos::leptos_dom::helpers::set_timeout;

use super::Driver;
use crate::screen::{ANNOUNCEMENTS, StorageTrouble};
use crate::storage::{self, Kept};
use crate::{clock, net, task};

impl Driver {
    pub(super) fn perform(&'static self, effect: Effect) {
        match effect {
            Effect::Store(pointers) => self.say_kept(self.pointers.store(&pointers)),
            Effect::Mirror(pointer) => storage::mirror(&pointer),
            Effect::Unmirror(request_id) => storage::unmirror(request_id),
            Effect::Remember(owner) => storage::remember(&owner),
            Effect::RememberBuffering(seen) => storage::remember_buffering(seen),
            Effect::FetchSession { exchange, deadline } => self.fetch_session(exchange, deadline),
            Effect::Send(sending) => self.send(sending),
            Effect::Abort(exchange) => self.abort(exchange),
            Effect::Sleep { timer, millis } => self.sleep(timer, millis),
            Effect::Show(turn) => self.show(*turn),
            Effect::Hide(request_id) => self.book.borrow_mut().hide(request_id),
            Effect::Return { request_id, conversation_id, question, why } => {
                self.take_returned(request_id, conversation_id, question, &why);
            }
            Effect::Announce(announcement) => self.announce(announcement),
            Effect::Notice(notice) => self.notice(notice),
        }
    }

    fn say_kept(&self, kept: Kept) {
        let trouble = match kept {
            Kept::Well => return,
            Kept::InHistory => StorageTrouble::ClosingLoses,
            Kept::Nowhere => StorageTrouble::ReloadLoses,
        };
        self.screen.storage.set(Some(trouble));
    }

    fn sleep(&'static self, timer: TimerId, millis: Millis) {
        // A later timer of the same ask makes this one void: there is nothing to clear.
        set_timeout(move || self.feed(Event::Timer(timer)), Duration::from_millis(millis));
    }

    fn show(&self, turn: holdfast_recovery::Turn) {
        let view = self.screen.view.get_untracked();
        let in_view = view == Some(turn.conversation_id);
        let grown = self.book.borrow_mut().show(turn, clock::now(), view);
        if grown && in_view && !crate::ui::scroll::is_at_end() {
            self.screen.new_text.set(true);
        }
    }

    fn announce(&self, announcement: Announcement) {
        self.arrived(announcement);
        let count = self.announced.get();
        self.announced.set(count.wrapping_add(1));
        self.screen.announcements.update(|all| {
            if let Some(slot) = all.get_mut(count % ANNOUNCEMENTS) {
                *slot = Some(announcement);
            }
        });
    }

    fn notice(&self, notice: Notice) {
        match notice {
            Notice::ServerUnreachable => self.screen.unreachable.set(true),
            Notice::ServerReached => self.screen.unreachable.set(false),
            Notice::SignInRequired => self.screen.sign_in.set(true),
        }
    }

    fn fetch_session(&'static self, exchange: u64, deadline: Millis) {
        task::spawn(async move {
            let (reply, session) = net::session(&net::Abort::after(deadline)).await;
            if let Some(session) = session {
                self.screen.sign_in.set(false);
                self.screen.unreachable.set(false);
                self.screen.session.set(Some(session));
            }
            self.feed(Event::Session(exchange, reply));
        });
    }
}
