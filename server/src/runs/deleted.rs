//! Which conversations are deleted.
//!
//! The journal knows, and accepts nothing into them. This is what it said, at hand, so that no exchange
//! has to ask it.
//!
//! *Architecture invariant:* whatever deletes or restores a conversation says so here before it tells
//! anybody; and so would a second process have to hear of it, should one ever share the store.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use holdfast_protocol::ConversationId;

use super::live::Stop;
use super::{Refusal, Runs};
use crate::journal::{ConversationKey, JournalError, Key};

/// The deleted conversations.
#[derive(Default)]
pub(super) struct Deleted(RwLock<HashSet<ConversationKey>>);

impl Deleted {
    pub(super) fn has(&self, conversation: ConversationKey) -> bool {
        // Nothing that holds it panics.
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(&conversation)
    }

    fn change(&self, change: impl FnOnce(&mut HashSet<ConversationKey>)) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Runs {
    /// Reads from the journal which are deleted.
    pub(super) async fn learn_deletions(&self) -> Result<(), JournalError> {
        let deletions = self.0.journal.deletions().await?;
        let conversations = deletions.into_iter().map(|deletion| deletion.conversation);
        self.0.deleted.change(|deleted| deleted.extend(conversations));
        Ok(())
    }

    /// Must be called once the journal has deleted a conversation, and before anybody is told so: its
    /// asks are not told of any more, and what runs of it is cancelled.
    pub fn delete(&self, conversation: ConversationKey) {
        self.0.deleted.change(|deleted| {
            deleted.insert(conversation);
        });
        self.0.settled.forget_all_of(conversation);
        let principal = conversation.principal;
        let own = self.0.registry.all().into_iter().filter(|it| it.key().principal == principal);
        for live in own.filter(|live| live.is_same_ask(conversation.id, None)) {
            live.stop(Stop::Cancel);
        }
    }

    /// Must be called once the journal has restored a conversation.
    pub fn restore(&self, conversation: ConversationKey) {
        self.0.deleted.change(|deleted| {
            deleted.remove(&conversation);
        });
    }

    /// Whether somebody has deleted it.
    pub fn is_deleted(&self, conversation: ConversationKey) -> bool {
        self.0.deleted.has(conversation)
    }

    /// Refuses to take an ask into a deleted conversation.
    pub(super) fn check_open(&self, conversation: ConversationKey) -> Result<(), Refusal> {
        if self.is_deleted(conversation) { Err(Refusal::ConversationDeleted) } else { Ok(()) }
    }

    /// Refuses to tell of an ask in a deleted conversation.
    pub(super) fn check_kept(&self, key: Key, conversation: ConversationId) -> Result<(), Refusal> {
        if self.is_deleted(ConversationKey::new(key.principal, conversation)) {
            return Err(Refusal::RequestDeleted);
        }
        Ok(())
    }
}
