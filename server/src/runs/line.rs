//! The line of a conversation: its unsettled asks, which run one after another.
//!
//! A line is what this process knows of the order, and only a hint: whether an ask may begin is the
//! journal's word.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::journal::ConversationKey;

type Line = watch::Sender<BTreeSet<u64>>;

/// The lines of all conversations that have unsettled asks.
#[derive(Clone, Default)]
pub(super) struct Lines(Arc<Mutex<HashMap<ConversationKey, Arc<Line>>>>);

/// An ask's place in its line, given up when dropped.
pub(super) struct Place {
    lines: Lines,
    conversation: ConversationKey,
    line: Arc<Line>,
    seq: u64,
}

/// Where an ask stands; to know it holds no place.
pub(super) struct Position {
    line: Arc<Line>,
    seq: u64,
}

impl Position {
    /// How many asks are before this one.
    pub(super) fn before(&self) -> u32 {
        u32::try_from(self.line.borrow().range(..self.seq).count()).unwrap_or(u32::MAX)
    }

    /// The line, to be watched.
    pub(super) fn watch(&self) -> watch::Receiver<BTreeSet<u64>> {
        self.line.subscribe()
    }
}

impl Lines {
    pub(super) fn enter(&self, conversation: ConversationKey, seq: u64) -> Place {
        let mut lines = self.lock();
        let line = Arc::clone(lines.entry(conversation).or_default());
        line.send_modify(|line| _ = line.insert(seq));
        drop(lines);
        Place { lines: self.clone(), conversation, line, seq }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ConversationKey, Arc<Line>>> {
        // No code that can panic runs under it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    pub(super) fn position(&self) -> Position {
        Position { line: Arc::clone(&self.line), seq: self.seq }
    }

    /// Resolves when no ask is before this one.
    pub(super) async fn first(&self) {
        // The sender is held here, so it cannot be gone.
        let _ = self.line.subscribe().wait_for(|line| line.first() == Some(&self.seq)).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Under the lock, so that nobody enters a line that is being forgotten.
        let mut lines = self.lines.lock();
        self.line.send_modify(|line| _ = line.remove(&self.seq));
        if self.line.borrow().is_empty() {
            lines.remove(&self.conversation);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use holdfast_protocol::ConversationId;
    use uuid::Uuid;

    use super::*;
    use crate::journal::PrincipalId;

    fn conversation(id: u128) -> ConversationKey {
        ConversationKey::new(PrincipalId(1), ConversationId::new(Uuid::from_u128(id)))
    }

    #[tokio::test(start_paused = true)]
    async fn asks_come_first_in_the_order_of_seq_whenever_they_enter() {
        let lines = Lines::default();
        let third = lines.enter(conversation(1), 3);
        let first = lines.enter(conversation(1), 1);
        let elsewhere = lines.enter(conversation(2), 9);
        elsewhere.first().await;
        first.first().await;
        assert_eq!((first.position().before(), third.position().before()), (0, 1));
        let waiting = tokio::time::timeout(Duration::from_secs(9), third.first()).await;
        assert!(waiting.is_err(), "the third is first while the first is there");
        drop(first);
        third.first().await;
        drop((third, elsewhere));
        assert!(lines.lock().is_empty(), "an empty line is forgotten");
    }
}
