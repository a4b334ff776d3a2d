//! What a person has written for a conversation and not sent: a question, or the instructions of one that
//! is not there yet.

use std::cell::RefCell;

use holdfast_protocol::ConversationId;

use super::Area;

/// Drafts of one kind, in memory for moving between conversations and in `sessionStorage` for a reload.
pub(crate) struct Drafts {
    kind: &'static str,
    kept: RefCell<Vec<(Option<ConversationId>, String)>>,
}

impl Drafts {
    /// Those of questions.
    pub(crate) const fn questions() -> Self {
        Self { kind: "draft", kept: RefCell::new(Vec::new()) }
    }

    /// Those of instructions.
    pub(crate) const fn instructions() -> Self {
        Self { kind: "instructions", kept: RefCell::new(Vec::new()) }
    }

    /// The draft of a conversation, or of a new chat.
    pub(crate) fn get(&self, view: Option<ConversationId>) -> String {
        if let Some((_, draft)) = self.kept.borrow().iter().find(|(of, _)| *of == view) {
            return draft.clone();
        }
        Area::Session.value(&self.key(view)).unwrap_or_default()
    }

    /// Keeps a draft; an empty one is forgotten.
    pub(crate) fn set(&self, view: Option<ConversationId>, draft: &str) {
        let mut drafts = self.kept.borrow_mut();
        drafts.retain(|(of, _)| *of != view);
        drafts.push((view, draft.to_owned()));
        drop(drafts);
        // A draft that cannot be stored is lost by a reload, as anywhere else on the web.
        let _ = if draft.is_empty() {
            Area::Session.remove(&self.key(view))
        } else {
            Area::Session.put(&self.key(view), &draft.into())
        };
    }

    fn key(&self, view: Option<ConversationId>) -> String {
        let kind = self.kind;
        view.map_or_else(|| format!("holdfast.{kind}.new"), |id| format!("holdfast.{kind}.{id}"))
    }
}
