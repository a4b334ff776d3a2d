//! Every ask under way, by its id.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::line::Lines;
use super::live::Live;
use crate::journal::Key;

/// The asks under way.
#[derive(Default)]
pub(super) struct Registry {
    /// In an order, so that what is done to all of them is done in the same one each time.
    live: Mutex<BTreeMap<Key, Arc<Live>>>,
    pub(super) lines: Lines,
}

/// The result of a claim on an id.
pub(super) enum Claim {
    /// Nobody had it: the claimant must find out what it is, and release it.
    Mine(Arc<Live>),
    /// Somebody has it: the claimant attaches.
    Theirs(Arc<Live>),
}

/// Forgets an ask when dropped.
pub(super) struct Release<'a> {
    registry: &'a Registry,
    key: Key,
}

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.registry.lock().remove(&self.key);
    }
}

impl Registry {
    /// Claims an id.
    pub(super) fn claim(&self, key: Key) -> Claim {
        match self.lock().entry(key) {
            Entry::Occupied(entry) => Claim::Theirs(Arc::clone(entry.get())),
            Entry::Vacant(entry) => Claim::Mine(Arc::clone(entry.insert(Arc::new(Live::new(key))))),
        }
    }

    pub(super) fn get(&self, key: Key) -> Option<Arc<Live>> {
        self.lock().get(&key).cloned()
    }

    /// Forgets an ask when the result is dropped: once it has settled or was refused. The journal
    /// knows the rest.
    pub(super) const fn release_at_last(&self, key: Key) -> Release<'_> {
        Release { registry: self, key }
    }

    pub(super) fn all(&self) -> Vec<Arc<Live>> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Arc<Live>>> {
        // No code that can panic runs under it.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
