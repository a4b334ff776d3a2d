//! The conversation in view: moving to another, and what the address bar says.

use holdfast_protocol::{ConversationId, RequestId};
use holdfast_recovery::Event;

use super::Driver;
use crate::screen::Loading;
use crate::ui::{composer, scroll};
use crate::{clock, route};

impl Driver {
    /// The address may have changed: go where it says.
    pub(super) fn moved(&'static self) {
        self.pointers.moved();
        let view = route::current();
        let is_first = !self.loads.is_started();
        if is_first || view != self.screen.view.get_untracked() {
            self.open(view);
        }
    }

    /// A person wants a new chat.
    pub(crate) fn new_chat(&'static self) {
        if self.screen.view.get_untracked().is_some() {
            route::push(None);
            self.moved();
        }
        composer::focus();
    }

    /// A person wants to see a conversation.
    pub(crate) fn go_to(&'static self, id: ConversationId) {
        route::push(Some(id));
        self.moved();
    }

    /// A conversation has got another title.
    pub(crate) fn renamed(&'static self, id: ConversationId, title: &str) {
        if self.screen.view.get_untracked() == Some(id) {
            self.screen.title.set(Some(title.to_owned()));
            self.refresh();
        }
    }

    /// A person has deleted a conversation, and the server has said so.
    pub(crate) fn deleted(&'static self, id: ConversationId) {
        self.feed(Event::Deleted(id));
        self.book.borrow_mut().forget(id);
        self.refresh();
    }

    /// A person wants to see another answer to the same question. Says which that is.
    pub(crate) fn show_another(
        &'static self,
        request_id: RequestId,
        forward: bool,
    ) -> Option<RequestId> {
        let other = self.book.borrow_mut().choose(request_id, forward);
        self.refresh();
        other
    }

    /// Whether somebody can be looking.
    pub(crate) fn is_looked_at() -> bool {
        super::signs::is_visible()
    }

    /// Shows another conversation at once, with what is known of it, and loads the rest.
    fn open(&'static self, view: Option<ConversationId>) {
        let screen = self.screen;
        self.keep_draft();
        screen.view.set(view);
        screen.title.set(None);
        screen.earlier.set(None);
        screen.new_text.set(false);
        screen.complaint.set(None);
        screen.loading.set(Loading::Idle);
        screen.now.set(clock::now());
        screen.draft.set(self.drafts.get(view));
        screen.instructions.set(self.instructions.get(view));
        if let Some(view) = view {
            self.book.borrow_mut().viewed(view);
        }
        self.feed(Event::Viewing(view));
        scroll::go_to_end(screen);
        self.load(view);
    }

    /// The first ask of a new chat has made it a conversation.
    pub(super) fn founded(&'static self, id: ConversationId) {
        self.loads.supersede();
        self.screen.view.set(Some(id));
        route::replace(Some(id));
        self.pointers.moved();
        self.feed(Event::Viewing(Some(id)));
    }

    /// A person does not want to be reminded of a settled ask elsewhere.
    pub(crate) fn dismiss(&'static self, request_id: RequestId) {
        self.book.borrow_mut().dismiss(request_id);
        self.refresh();
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.book.borrow().is_waiting()
    }
}
