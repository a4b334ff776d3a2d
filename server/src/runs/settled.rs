//! What has settled and was looked up lately, as it goes out.
//!
//! A settled outcome does not change, so whoever looks it up again gets the same bytes, without the
//! journal. There are two exceptions, and neither is ever served from here:
//!
//! *Architecture invariant:* only outcomes that have their question and no successor are kept, and
//! whatever gives one a successor, or deletes it, forgets it before it says so ([`Settled::forget`],
//! [`Settled::forget_all_of`]). A second process would have to do the same, should one ever share the
//! store.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use holdfast_protocol::{ConversationId, Outcome, RequestId};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::Runs;
use crate::journal::{ConversationKey, Key, PrincipalId};

/// How much memory may be kept, in bytes.
const KEPT: u64 = 32 * 1024 * 1024;
/// What an outcome takes beside its bytes, about.
const BESIDE: u64 = 128;
/// How large outcomes are expected to be.
const USUAL: u64 = 2048;

/// The outcomes that are kept.
pub(super) struct Settled {
    kept: Cache<Key, Kept, Weight>,
    /// How often something was forgotten: what was read before that may be out of date.
    forgotten: AtomicU64,
}

#[derive(Clone)]
struct Kept {
    conversation_id: ConversationId,
    json: Bytes,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Kept> for Weight {
    fn weight(&self, _: &Key, kept: &Kept) -> u64 {
        kept.json.len() as u64 + BESIDE
    }
}

/// A moment, to be noted before the journal is read.
#[derive(Clone, Copy)]
pub(super) struct Moment(u64);

impl Default for Settled {
    fn default() -> Self {
        Self::of(KEPT)
    }
}

impl Settled {
    fn of(bytes: u64) -> Self {
        let outcomes = usize::try_from(bytes / USUAL).unwrap_or(usize::MAX);
        Self { kept: Cache::with_weighter(outcomes, bytes, Weight), forgotten: AtomicU64::new(0) }
    }

    /// The outcome's JSON, if it is at hand and of this conversation.
    pub(super) fn get(&self, key: Key, conversation_id: ConversationId) -> Option<Bytes> {
        let kept = self.kept.get(&key)?;
        (kept.conversation_id == conversation_id).then_some(kept.json)
    }

    pub(super) fn now(&self) -> Moment {
        Moment(self.forgotten.load(Ordering::SeqCst))
    }

    /// Keeps an outcome that was read after `read`, if it is one that does not change, and gives its
    /// JSON back.
    pub(super) fn keep(&self, key: Key, outcome: &Outcome, read: Moment) -> Option<Bytes> {
        let can_change = outcome.question.is_none() || outcome.retried_by.is_some();
        if !outcome.status.is_settled() || can_change {
            return None;
        }
        // Without what the vector has to spare: it would be kept, and not counted.
        let json = Bytes::from(serde_json::to_vec(outcome).ok()?.into_boxed_slice());
        let conversation_id = outcome.conversation_id;
        self.kept.insert(key, Kept { conversation_id, json: json.clone() });
        // Only now: whoever forgets it after this finds it.
        if self.now().0 != read.0 {
            self.kept.remove(&key);
        }
        Some(json)
    }

    /// The same for every ask of a conversation: it was deleted.
    pub(super) fn forget_all_of(&self, conversation: ConversationKey) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        self.kept.retain(|key, kept| {
            (key.principal, kept.conversation_id) != (conversation.principal, conversation.id)
        });
    }

    /// Must be called once the journal may have another outcome of this ask, and before anybody is
    /// told so.
    pub(super) fn forget(&self, key: Key) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        self.kept.remove(&key);
    }
}

impl Runs {
    /// Must be called once an import may have given these asks successors, and before anybody is told so.
    pub fn repeated(&self, principal: PrincipalId, asks: impl IntoIterator<Item = RequestId>) {
        for request_id in asks {
            self.0.settled.forget(Key::new(principal, request_id));
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use holdfast_protocol::{Answer, Status};
    use uuid::Uuid;

    use super::*;

    fn outcome(id: u128) -> Outcome {
        let id = Uuid::from_u128(id);
        let mut outcome =
            Outcome::bare(RequestId::new(id), ConversationId::new(id), Status::Completed, None);
        outcome.question = Some("Why?".to_owned());
        outcome
    }

    fn key(outcome: &Outcome) -> Key {
        Key::new(PrincipalId(1), outcome.request_id)
    }

    fn is_kept(settled: &Settled, outcome: &Outcome) -> bool {
        settled.get(key(outcome), outcome.conversation_id).is_some()
    }

    #[test]
    fn what_is_kept_comes_back_to_its_owner_in_its_conversation() {
        let (settled, outcome) = (Settled::default(), outcome(1));
        let json = settled.keep(key(&outcome), &outcome, settled.now()).unwrap();
        assert_eq!(json, serde_json::to_vec(&outcome).unwrap());
        assert_eq!(settled.get(key(&outcome), outcome.conversation_id), Some(json));
        let elsewhere = ConversationId::new(Uuid::from_u128(2));
        assert_eq!(settled.get(key(&outcome), elsewhere), None);
        let somebody_else = Key { principal: PrincipalId(2), ..key(&outcome) };
        assert_eq!(settled.get(somebody_else, outcome.conversation_id), None);
    }

    #[test]
    fn what_can_change_is_not_kept() {
        let settled = Settled::default();
        let pending = Outcome { status: Status::Pending, ..outcome(1) };
        let unheard = Outcome { question: None, status: Status::Cancelled, ..outcome(1) };
        let retried = Outcome { retried_by: Some(outcome(2).request_id), ..outcome(1) };
        for outcome in [pending, unheard, retried] {
            assert_eq!(settled.keep(key(&outcome), &outcome, settled.now()), None);
            assert!(!is_kept(&settled, &outcome));
        }
    }

    #[test]
    fn what_is_forgotten_does_not_come_back_by_an_older_reading() {
        let (settled, outcome) = (Settled::default(), outcome(1));
        let read = settled.now();
        settled.keep(key(&outcome), &outcome, read);
        settled.forget(key(&outcome));
        assert!(!is_kept(&settled, &outcome));
        settled.keep(key(&outcome), &outcome, read);
        assert!(!is_kept(&settled, &outcome));
        settled.keep(key(&outcome), &outcome, settled.now());
        assert!(is_kept(&settled, &outcome));
    }

    #[test]
    fn a_deleted_conversation_is_forgotten_and_no_other() {
        let (settled, gone, stays) = (Settled::default(), outcome(1), outcome(2));
        let read = settled.now();
        settled.keep(key(&gone), &gone, read);
        settled.keep(key(&stays), &stays, read);
        let somebody_else = ConversationKey::new(PrincipalId(2), stays.conversation_id);
        settled.forget_all_of(somebody_else);
        settled.forget_all_of(ConversationKey::new(PrincipalId(1), gone.conversation_id));
        assert!(!is_kept(&settled, &gone) && is_kept(&settled, &stays));
        settled.keep(key(&gone), &gone, read);
        assert!(!is_kept(&settled, &gone), "not by an older reading either");
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let settled = Settled::of(64 * 1024);
        for id in 0..1000 {
            let text = "x".repeat(1024);
            let answer = Some(Answer { text, ..Answer::default() });
            let outcome = Outcome { answer, ..outcome(id) };
            settled.keep(key(&outcome), &outcome, settled.now());
            assert!(settled.kept.weight() <= 64 * 1024);
        }
        assert!(!settled.kept.is_empty());
    }
}
