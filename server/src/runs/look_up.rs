//! Looking up what became of an ask, or of a conversation's, and waiting for its end.
//!
//! Not here: being told of it as it happens (`following`).
//!
//! *Architecture invariant:* a lookup never starts, repeats or changes anything.

use std::sync::Arc;

use bytes::Bytes;
use holdfast_protocol::{Conversation, ConversationId, Outcome};
use tokio::time::{Instant, sleep_until};

use super::live::Live;
use super::{AGAIN, Refusal, Runs, Until, text};
use crate::journal::{ConversationKey, Key};

/// What a lookup finds.
#[derive(Clone, Debug)]
pub enum Found {
    /// An outcome as it stands.
    Outcome(Box<Outcome>),
    /// The JSON of an outcome that has settled.
    Settled(Bytes),
}

impl From<Outcome> for Found {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(Box::new(outcome))
    }
}

/// Where a lookup meets an ask.
pub(super) enum Met {
    /// Under way.
    Live(Arc<Live>),
    /// As it stands.
    Outcome(Box<Outcome>),
}

impl From<Outcome> for Met {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(Box::new(outcome))
    }
}

impl Runs {
    /// What became of an ask, as [`Runs::look_up`] says it, ready to be sent where it is known to
    /// change no more.
    pub async fn look_up_whole(
        &self,
        key: Key,
        conversation_id: ConversationId,
        until: Until,
    ) -> Result<Found, Refusal> {
        self.check_kept(key, conversation_id)?;
        if let Some(json) = self.0.settled.get(key, conversation_id) {
            return Ok(Found::Settled(json));
        }
        let now = self.0.settled.now();
        let outcome = self.look_up(key, conversation_id, until).await?;
        let kept = self.0.settled.keep(key, &outcome, now);
        Ok(kept.map_or_else(|| outcome.into(), Found::Settled))
    }

    /// What became of an ask, waiting for its end. Never starts or changes anything.
    pub async fn look_up(
        &self,
        key: Key,
        conversation_id: ConversationId,
        until: Until,
    ) -> Result<Outcome, Refusal> {
        // On the heap, and gone before the wait: thousands may wait at once.
        let outcome = match Box::pin(self.meet(key, conversation_id, until)).await? {
            Met::Live(live) => self.wait(&live, until).await.outcome(),
            Met::Outcome(outcome) => *outcome,
        };
        self.check_kept(key, conversation_id)?;
        Ok(outcome)
    }

    /// The same with only the piece of the answer's text that follows `after`, at most
    /// [`PAGE_BYTES`](holdfast_protocol::limits::PAGE_BYTES) of it. An offset beyond its end, or inside
    /// a character, begins anew.
    pub async fn look_up_page(
        &self,
        key: Key,
        conversation_id: ConversationId,
        after: u64,
        until: Until,
    ) -> Result<Outcome, Refusal> {
        let page = match Box::pin(self.meet(key, conversation_id, until)).await? {
            Met::Live(live) => self.wait(&live, until).await.page(after),
            Met::Outcome(outcome) => text::page(&outcome, after),
        };
        self.check_kept(key, conversation_id)?;
        Ok(page)
    }

    /// Finds an ask where it is: under way, or in the journal.
    pub(super) async fn meet(
        &self,
        key: Key,
        conversation_id: ConversationId,
        until: Until,
    ) -> Result<Met, Refusal> {
        self.check_kept(key, conversation_id)?;
        let unknown = Outcome::unknown(key.request_id, conversation_id);
        loop {
            let live = self.0.registry.get(key).filter(|live| live.is_admitted());
            let live = match live {
                Some(live) => live,
                None => match until.in_time(self.0.journal.find(key)).await?? {
                    None => return Ok(unknown.into()),
                    Some(record) if record.outcome.conversation_id != conversation_id => {
                        return Ok(unknown.into());
                    }
                    Some(record) if record.outcome.status.is_settled() => {
                        return Ok(record.outcome.into());
                    }
                    Some(record) => match self.0.registry.get(key) {
                        // It was accepted while the journal was being read: whoever has it is about
                        // to know.
                        Some(live) => match until.in_time(live.admitted()).await? {
                            Ok(()) => live,
                            Err(_) => return Ok(unknown.into()),
                        },
                        None if Instant::now() >= until.settled => {
                            return Ok(record.outcome.into());
                        }
                        // It settled meanwhile, or another process that shares the store has it.
                        None => {
                            sleep_until((Instant::now() + AGAIN).min(until.settled)).await;
                            continue;
                        }
                    },
                },
            };
            let is_same = live.is_same_ask(conversation_id, None);
            return Ok(if is_same { Met::Live(live) } else { unknown.into() });
        }
    }

    /// A page of a conversation; its turns under way are as they stand now, not as last journalled.
    pub async fn conversation(
        &self,
        key: ConversationKey,
        before: Option<u64>,
        limit: u32,
        until: Until,
    ) -> Result<Option<Conversation>, Refusal> {
        let page = until.in_time(self.0.journal.conversation(key, before, limit)).await??;
        let Some(mut conversation) = page else {
            return Ok(None);
        };
        for turn in conversation.turns.iter_mut().filter(|turn| !turn.status.is_settled()) {
            let key = Key::new(key.principal, turn.request_id);
            *turn = match self.look_up(key, turn.conversation_id, until).await {
                Err(Refusal::RequestDeleted) => return Ok(None),
                outcome => outcome?,
            };
        }
        Ok(Some(conversation).filter(|_| !self.is_deleted(key)))
    }
}
