//! Deleting a conversation, and taking that back.

use holdfast_protocol::ConversationSummary;
use tokio::sync::oneshot;

use super::Conversations;
use crate::journal::{ConversationKey, Deletion, JournalError, Restore};
use crate::runs::Until;

/// What became of the wish to take a deletion back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restored {
    /// The conversation is there; perhaps it was never deleted.
    There(ConversationSummary),
    /// It is too late.
    Deleted,
    /// There never was one.
    Unknown,
}

impl Conversations {
    /// Deletes one, and cancels what runs of it. Whether there is such a one; it may have been deleted
    /// before.
    pub async fn delete(&self, key: ConversationKey, until: Until) -> Result<bool, JournalError> {
        let conversations = self.clone();
        let deleted = self.seen_to(async move {
            let _turn = conversations.0.deleting.lock().await;
            let at = conversations.now();
            let is_known = conversations.0.journal.delete(key, at).await?;
            if is_known {
                conversations.0.runs.delete(key);
                conversations.0.deleted.notify_one();
            }
            Ok(is_known)
        });
        until.in_time(deleted).await?
    }

    /// Takes a deletion back, unless it is final. What ran stays cancelled.
    pub async fn restore(
        &self,
        key: ConversationKey,
        until: Until,
    ) -> Result<Restored, JournalError> {
        let conversations = self.clone();
        let restored = self.seen_to(async move {
            let _turn = conversations.0.deleting.lock().await;
            conversations.restored(key).await
        });
        until.in_time(restored).await?
    }

    async fn restored(&self, key: ConversationKey) -> Result<Restored, JournalError> {
        let journal = &self.0.journal;
        let now = self.now();
        let is_final = |it: &Deletion| it.conversation == key && it.is_final(now);
        if journal.deletions().await?.iter().any(is_final) {
            return Ok(Restored::Deleted);
        }
        match journal.restore(key).await? {
            Restore::Purged => Ok(Restored::Deleted),
            Restore::Unknown => Ok(Restored::Unknown),
            Restore::There(summary) => {
                self.0.runs.restore(key);
                Ok(Restored::There(summary))
            }
        }
    }

    /// Does what must not end half-way because whoever asked for it leaves.
    pub(super) async fn seen_to<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, JournalError>> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (reply, done) = oneshot::channel();
        self.0.runs.spawn(async move {
            // Whoever asked may have left.
            let _ = reply.send(work.await);
        });
        let lost = |_| JournalError::Unavailable("the server is going down".to_owned());
        done.await.map_err(lost)?
    }
}
