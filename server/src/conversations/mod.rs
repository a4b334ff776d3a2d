//! What is done with whole conversations: they are listed, found, renamed, deleted, and taken
//! along.
//!
//! Here belongs what is about a conversation rather than about one of its asks. Not here: HTTP and SQL;
//! what becomes of an ask, and a conversation's turns as they stand now, which only
//! [`runs`](crate::runs) can say.
//!
//! *Architecture invariant:* nothing here knows how an ask is run. What has to stop is stopped by the
//! runs, once they are told that its conversation is deleted.

mod delete;
mod export;
mod import;
mod importing;
mod index;
mod sweep;

use std::sync::Arc;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::try_unfold;
use holdfast_protocol::{ConversationList, ConversationSummary};
use tokio::sync::{Mutex, Notify, Semaphore};

pub use self::delete::Restored;
pub use self::export::Format;
pub(crate) use self::export::disposition;
pub use self::import::ImportError;
pub use self::importing::Importing;
use crate::clock::Clock;
use crate::journal::{
    Changes, ConversationKey, Journal, JournalError, Listing, Moment, PrincipalId,
};
use crate::runs::{Phase, Runs, Until};

/// Why an export breaks off.
const DELETED: &str = "the conversation was deleted while it was exported";
/// How many turns are read at once of a conversation that is taken along.
const STRETCH: u32 = 50;

/// The conversations of every principal. Clones are the same.
#[derive(Clone)]
pub struct Conversations(Arc<Inner>);

struct Inner {
    journal: Arc<dyn Journal>,
    runs: Runs,
    clock: Arc<dyn Clock>,
    /// Something was deleted.
    deleted: Notify,
    /// What is deleted or taken back stands in the journal and with the runs: in the same order.
    deleting: Mutex<()>,
    /// A file may be large: one at a time.
    importing: Arc<Semaphore>,
}

impl Conversations {
    /// Those of a journal. What was deleted stays until [`Conversations::start`].
    pub fn new(journal: Arc<dyn Journal>, runs: Runs, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner {
            journal,
            runs,
            clock,
            deleted: Notify::new(),
            deleting: Mutex::new(()),
            importing: Arc::new(Semaphore::new(1)),
        }))
    }

    /// Begins, in the background, to take away what was deleted for good, and to index what has settled,
    /// now and from now on.
    pub fn start(&self) {
        let (sweeping, indexing) = (self.clone(), self.clone());
        self.0.runs.spawn(async move { sweeping.sweep().await });
        self.0.runs.spawn(async move { indexing.index().await });
    }

    /// Waits until asks are served. False if that will never be.
    async fn serving(&self) -> bool {
        self.0.runs.phase().wait_for(|phase| *phase >= Phase::Serving).await.is_ok()
    }

    /// A page of the principal's, the newest first.
    pub async fn list(
        &self,
        principal: PrincipalId,
        listing: Listing,
        until: Until,
    ) -> Result<ConversationList, JournalError> {
        until.in_time(self.0.journal.conversations(principal, listing)).await?
    }

    /// Changes one, if there is such a one.
    pub async fn change(
        &self,
        key: ConversationKey,
        changes: Changes,
        until: Until,
    ) -> Result<Option<ConversationSummary>, JournalError> {
        until.in_time(self.0.journal.change(key, changes)).await?
    }

    /// Begins to take one along: its title, and the text, piece by piece. Nothing where there is no such
    /// conversation.
    pub async fn export(
        &self,
        key: ConversationKey,
        format: Format,
        until: Until,
    ) -> Result<
        Option<(String, impl Stream<Item = Result<Bytes, JournalError>> + use<>)>,
        JournalError,
    > {
        let journal = Arc::clone(&self.0.journal);
        let first = until.in_time(journal.transcript(key, 0, STRETCH)).await??;
        let Some(first) = first else { return Ok(None) };
        let title = first.title.clone();
        let state = Some((first, true));
        let pieces = try_unfold(state, move |state| {
            let journal = Arc::clone(&journal);
            async move {
                let Some((stretch, is_first)) = state else { return Ok(None) };
                let mut text = if is_first { format.head(&stretch) } else { String::new() };
                for (at, turn) in stretch.turns.iter().enumerate() {
                    text.push_str(&format.turn(turn, is_first && at == 0));
                }
                let last = stretch.turns.last().and_then(|turn| turn.outcome.seq);
                let is_over = stretch.turns.len() < STRETCH as usize;
                let next = match last.filter(|_| !is_over) {
                    Some(last) => match journal.transcript(key, last, STRETCH).await? {
                        // It must not look whole.
                        None => return Err(JournalError::Unavailable(DELETED.to_owned())),
                        next => next,
                    },
                    None => None,
                };
                if next.is_none() {
                    text.push_str(format.tail());
                }
                Ok(Some((Bytes::from(text), next.map(|next| (next, false)))))
            }
        });
        Ok(Some((title, pieces)))
    }

    fn now(&self) -> Moment {
        Moment { wall: self.0.clock.now(), up: self.0.clock.uptime() }
    }
}
