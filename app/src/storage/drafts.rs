//! What a person was typing, for each conversation.

use std::cell::RefCell;

use holdfast_protocol::ConversationId;

use super::Area;

/// Drafts, in memory for moving between conversations and in `sessionStorage` for a reload.
#[derive(Default)]
pub(crate) struct Drafts(RefCell<Vec<(Option<ConversationId>, String)>>);

impl Drafts {
    /// The draft of a conversation, or of a new chat.
    pub(crate) fn get(&self, view: Option<ConversationId>) -> String {
        if let Some((_, draft)) = self.0.borrow().iter().find(|(of, _)| *of == view) {
            return draft.clone();
        }
        Area::Session.value(&key(view)).unwrap_or_default()
    }

    /// Keeps a draft; an empty one is forgotten.
    pub(crate) fn set(&self, view: Option<ConversationId>, draft: &str) {
        let mut drafts = self.0.borrow_mut();
        drafts.retain(|(of, _)| *of != view);
        drafts.push((view, draft.to_owned()));
        drop(drafts);
        // A draft that cannot be stored is lost by a reload, as anywhere else on the web.
        let _ = if draft.is_empty() {
            Area::Session.remove(&key(view))
        } else {
            Area::Session.put(&key(view), &draft.into())
        };
    }
}

fn key(view: Option<ConversationId>) -> String {
    view.map_or_else(|| "holdfast.draft.new".to_owned(), |id| format!("holdfast.draft.{id}"))
}
