//! Asking, and questions that come back.

use holdfast_protocol::limits::QUESTION_CHARS;
use holdfast_protocol::{AskBody, ConversationId, Question, QuestionError, RequestId};
use holdfast_recovery::{Event, Returned};

use super::Driver;
use crate::screen::Offer;
use crate::ui::{composer, scroll};
use crate::{ids, storage, text};

impl Driver {
    /// A person presses Send. The composer is empty when this returns, so that a second click and a
    /// held key find nothing to send.
    pub(crate) fn ask(&'static self) {
        let screen = self.screen;
        let draft = screen.draft.get_untracked();
        let question = match Question::parse(&draft) {
            Ok(question) => question.into_string(),
            Err(QuestionError::Empty) => return composer::focus(),
            Err(QuestionError::TooLong(chars)) => {
                return screen.complaint.set(Some(text::too_long(chars, QUESTION_CHARS)));
            }
            Err(error @ QuestionError::Nul) => {
                return screen.complaint.set(Some(error.to_string()));
            }
        };
        let view = screen.view.get_untracked();
        screen.draft.set(String::new());
        screen.complaint.set(None);
        let conversation_id = view.unwrap_or_else(ids::conversation_id);
        if view.is_none() {
            let instructions = self.instructions.get(None);
            self.instructions.set(None, "");
            self.instructions.set(Some(conversation_id), &instructions);
            self.founded(conversation_id);
        }
        self.submit(ids::request_id(), conversation_id, question);
        // Only now: until the pointer was stored the draft was all there was.
        self.drafts.set(view, "");
        scroll::go_to_end(screen);
        composer::focus();
    }

    /// A person asks the same again. It is an ask of its own, and may cost again.
    pub(crate) fn ask_again(&'static self, request_id: RequestId) {
        let mut book = self.book.borrow_mut();
        let turn = book.go_on_from(request_id);
        let again = turn.map(|turn| turn.with_untracked(|turn| turn.again(ids::request_id())));
        drop(book);
        if let Some(again) = again.filter(|again| !again.question.is_empty()) {
            self.feed(Event::Submitted(again));
            // The button that was pressed is gone with the answer it stood under.
            composer::focus();
        }
    }

    /// A person wants the rest of an answer that was cut off.
    pub(crate) fn go_on(&'static self, request_id: RequestId) {
        let mut book = self.book.borrow_mut();
        let turn = book.go_on_from(request_id);
        let conversation_id = turn.map(|turn| turn.with_untracked(|turn| turn.conversation_id));
        drop(book);
        if let Some(conversation_id) = conversation_id {
            let id = ids::following(request_id);
            self.submit(id, conversation_id, text::GO_ON.to_owned());
            scroll::go_to_end(self.screen);
        }
    }

    fn submit(
        &'static self,
        request_id: RequestId,
        conversation_id: ConversationId,
        question: String,
    ) {
        let view = Some(conversation_id);
        if self.book.borrow().last_seq(conversation_id) > 0 {
            // The conversation has its own by now.
            self.instructions.set(view, "");
        }
        let instructions = self.instructions.get(view);
        self.feed(Event::Submitted(AskBody {
            request_id,
            conversation_id,
            question,
            current: None,
            remember: None,
            language: None,
            model: None,
            retry_of: None,
            system_prompt: Some(instructions).filter(|text| !text.is_empty()),
        }));
    }

    /// A person writes what the model is to be told in the conversation that the next question begins.
    pub(crate) fn instruct(&self, text: &str) {
        let text = text.trim();
        self.instructions.set(self.screen.view.get_untracked(), text);
        self.screen.instructions.set(text.to_owned());
    }

    /// Puts an example question into the composer.
    pub(crate) fn suggest(&'static self, question: &str) {
        self.screen.draft.set(question.to_owned());
        composer::focus();
    }

    /// Keeps what is in the composer.
    pub(crate) fn keep_draft(&self) {
        if self.loads.is_started() {
            let screen = self.screen;
            screen
                .draft
                .with_untracked(|draft| self.drafts.set(screen.view.get_untracked(), draft));
        }
    }

    /// A question came back. It goes into the composer if that is where a person would look for it
    /// and nothing is written there, else it waits beside it.
    pub(super) fn take_returned(
        &'static self,
        request_id: RequestId,
        conversation_id: ConversationId,
        question: String,
        why: &Returned,
    ) {
        let screen = self.screen;
        let in_view = screen.view.get_untracked() == Some(conversation_id);
        let wanted_here = in_view || *why == Returned::TakenBack;
        let is_empty = screen.draft.with_untracked(|draft| draft.trim().is_empty());
        match why {
            Returned::Expired => {}
            _ if wanted_here && is_empty => {
                screen.draft.set(question);
                self.keep_draft();
                return composer::focus();
            }
            _ if !wanted_here && self.drafts.get(Some(conversation_id)).trim().is_empty() => {
                return self.drafts.set(Some(conversation_id), &question);
            }
            _ => {}
        }
        screen.offers.update(|offers| {
            offers.push(Offer { request_id, question, reason: text::returned(why) });
        });
        self.keep_offers();
    }

    /// A person takes a question that came back: what is in the composer takes its place.
    pub(crate) fn take_offer(&'static self, request_id: RequestId) {
        let screen = self.screen;
        let mut offers = screen.offers.get_untracked();
        let Some(at) = offers.iter().position(|offer| offer.request_id == request_id) else {
            return;
        };
        let offer = offers.remove(at);
        let draft = screen.draft.get_untracked();
        if !draft.trim().is_empty() {
            let reason = text::PUT_ASIDE.to_owned();
            offers.push(Offer { request_id, question: draft, reason });
        }
        screen.draft.set(offer.question);
        screen.offers.set(offers);
        self.keep_draft();
        self.keep_offers();
        composer::focus();
    }

    /// A person does not want it.
    pub(crate) fn drop_offer(&'static self, request_id: RequestId) {
        self.screen.offers.update(|offers| offers.retain(|offer| offer.request_id != request_id));
        self.keep_offers();
    }

    fn keep_offers(&self) {
        self.screen.offers.with_untracked(|offers| storage::store_offers(offers));
    }
}
