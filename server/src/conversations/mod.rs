//! What is done with whole conversations: they are listed, found and renamed.
//!
//! Here belongs what is about a conversation rather than about one of its asks. Not here: HTTP and SQL;
//! what becomes of an ask, and a conversation's turns as they stand now, which only
//! [`runs`](crate::runs) can say.
//!
//! *Architecture invariant:* nothing here knows how an ask is run. What has to stop is stopped by asking
//! the runs to, as any tab would.

use std::sync::Arc;

use holdfast_protocol::{ConversationList, ConversationSummary};

use crate::journal::{Changes, ConversationKey, Journal, JournalError, Listing, PrincipalId};
use crate::runs::Until;

/// The conversations of every principal. Clones are the same.
#[derive(Clone)]
pub struct Conversations {
    journal: Arc<dyn Journal>,
}

impl Conversations {
    /// Those of a journal.
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Self { journal }
    }

    /// A page of the principal's, the newest first.
    pub async fn list(
        &self,
        principal: PrincipalId,
        listing: Listing,
        until: Until,
    ) -> Result<ConversationList, JournalError> {
        until.in_time(self.journal.conversations(principal, listing)).await?
    }

    /// Changes one, if there is such a one.
    pub async fn change(
        &self,
        key: ConversationKey,
        changes: Changes,
        until: Until,
    ) -> Result<Option<ConversationSummary>, JournalError> {
        until.in_time(self.journal.change(key, changes)).await?
    }
}
