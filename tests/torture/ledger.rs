//! What clients were told, and whether it stays true. Not here: how they are told it.
//!
//! It knows of an ask what its client knows: that it was sent, what was said about it, and, last of
//! all, what is found.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use serde_json::Value;

use crate::ask::Ask;

/// What is known of one ask.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) ask: Ask,
    /// The first outcome that was told.
    pub(crate) accepted: Option<Value>,
    /// The outcome it settled with.
    pub(crate) settled: Option<Value>,
    /// The last word was that it could not be taken, and it was not sent again.
    pub(crate) turned_away: bool,
}

/// What is known of all of them.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<BTreeMap<String, Entry>>);

impl Ledger {
    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// An ask is about to be sent, perhaps once more. Gives what is known of it before.
    pub(crate) fn sent(&self, ask: &Ask) -> Entry {
        let new = || Entry { ask: ask.clone(), accepted: None, settled: None, turned_away: false };
        let mut entries = self.entries();
        let entry = entries.entry(ask.id().to_owned()).or_insert_with(new);
        entry.turned_away = false;
        entry.clone()
    }

    /// A reply to an ask, a lookup or a cancel that nothing else can have overtaken.
    ///
    /// # Panics
    /// If it does not fit what was said before.
    pub(crate) fn told(&self, ask: &Ask, status: u16, reply: &Value) {
        self.told_since(&self.get(ask.id()), status, reply);
    }

    /// A reply to a request that was sent when no more was known than `before`: what others were told
    /// since may be newer than this.
    ///
    /// # Panics
    /// If it does not fit what was said before.
    pub(crate) fn told_since(&self, before: &Entry, status: u16, reply: &Value) {
        let mut entries = self.entries();
        let entry = entries.get_mut(before.ask.id()).unwrap();
        match status {
            200 | 202 if reply["state"] == "unknown" => {
                assert!(before.accepted.is_none(), "accepted, then unknown: {before:#?}");
            }
            200 | 202 => entry.outcome(before, reply),
            503 => {
                let waits = ["archive_unavailable", "shutting_down", "starting"];
                let code = reply["code"].as_str().unwrap_or_default();
                assert!(waits.contains(&code), "{reply}");
                entry.turned_away = entry.accepted.is_none();
            }
            // One successor, and the retried one must have settled: both may be otherwise by chance.
            400 => assert_eq!(reply["code"], "invalid_retry_of", "{reply}"),
            409 => assert_eq!(reply["code"], "already_retried", "{reply}"),
            _ => panic!("{status} {reply} for {entry:#?}"),
        }
    }

    /// Everything that is known.
    pub(crate) fn all(&self) -> Vec<Entry> {
        self.entries().values().cloned().collect()
    }

    /// What is known of the ask with this id.
    pub(crate) fn get(&self, id: &str) -> Entry {
        self.entries().get(id).expect("nobody else asks").clone()
    }

    /// An ask by chance.
    pub(crate) fn any(&self, chance: &mut fastrand::Rng) -> Option<Entry> {
        chance.choice(self.entries().values()).cloned()
    }
}

impl Entry {
    fn outcome(&mut self, before: &Entry, outcome: &Value) {
        let ask = self.ask.body();
        for id in ["request_id", "conversation_id"] {
            assert_eq!(outcome[id], ask[id], "{outcome}");
        }
        if let Some(question) = outcome.get("question") {
            assert_eq!(question, &ask["question"], "byte for byte");
        }
        let first = self.accepted.get_or_insert_with(|| outcome.clone());
        // A cancel may have come first, which knows neither question nor place.
        if first.get("seq").is_some() && outcome.get("seq").is_some() {
            for fixed in ["seq", "question", "asked_at", "retry_of"] {
                assert_eq!(outcome.get(fixed), first.get(fixed), "{fixed}: {first} {outcome}");
            }
        }
        if outcome["status"] == "pending" {
            assert!(before.settled.is_none(), "settled, then pending: {before:#?} {outcome}");
            let states = ["accepted", "running", "archiving"];
            assert!(states.contains(&outcome["state"].as_str().unwrap_or_default()), "{outcome}");
            return;
        }
        let ends = ["completed", "failed", "cancelled", "interrupted"];
        assert!(ends.contains(&outcome["status"].as_str().unwrap_or_default()), "{outcome}");
        let told = frozen(outcome);
        let has_question = |outcome: &Value| outcome.get("question").is_some();
        match &mut self.settled {
            // Its question may arrive after it.
            Some(settled) if !has_question(settled) && has_question(&told) => *settled = told,
            Some(settled) if has_question(settled) && !has_question(&told) => {
                let known = before.settled.as_ref();
                assert!(!known.is_some_and(has_question), "its question is gone: {outcome}");
            }
            Some(settled) => assert_eq!(*settled, told, "a settled outcome never changes"),
            none => *none = Some(told),
        }
    }
}

/// An outcome without what may be added to it later.
fn frozen(outcome: &Value) -> Value {
    let mut frozen = outcome.clone();
    if let Some(members) = frozen.as_object_mut() {
        members.remove("retried_by");
    }
    frozen
}
