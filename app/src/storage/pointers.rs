//! This tab's pointers: in `sessionStorage`, and where that fails in the history entry.

use std::cell::RefCell;

use holdfast_recovery::Pointers;

use super::{Area, history};

/// The key, in both places.
pub(super) const PENDING: &str = "holdfast.pending";

/// Where the pointers are now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Where they belong.
    Well,
    /// In the history entry: a plain reload finds them, closing the tab loses them.
    InHistory,
    /// In memory alone: a reload loses them.
    Nowhere,
}

/// Keeps the pointers.
#[derive(Default)]
pub(crate) struct PointerStore {
    /// What could not be put into `sessionStorage`, to be put into each new history entry.
    fallback: RefCell<Option<String>>,
}

impl PointerStore {
    /// What the last page in this tab left.
    pub(crate) fn load(&self) -> Pointers {
        let stored = Area::Session.text(PENDING).ok().flatten();
        let spare = history::get();
        let mut pointers = stored.as_deref().map(Pointers::parse).unwrap_or_default();
        if let Some(spare) = spare {
            merge(&mut pointers, Pointers::parse(&spare));
            self.fallback.replace(Some(spare));
        }
        pointers
    }

    /// Keeps these and no others. Returns before anything is sent.
    pub(crate) fn store(&self, pointers: &Pointers) -> Kept {
        let text = (!pointers.is_empty()).then(|| pointers.to_json());
        let stored = match &text {
            Some(text) => Area::Session.put_text(PENDING, text),
            None => Area::Session.remove(PENDING),
        };
        // Storage that cannot be read is no better than storage that cannot be written: only what
        // comes back is kept.
        let is_kept = stored.is_ok() && Area::Session.text(PENDING).is_ok_and(|held| held == text);
        if is_kept {
            // An older copy in the history would bring back what has settled since.
            if self.fallback.take().is_some() {
                history::put(None);
            }
            return Kept::Well;
        }
        // What stood there before would speak against what the history says: a stopped ask would
        // run after a reload. Taking away works in full storage too.
        let _ = Area::Session.remove(PENDING);
        let kept = history::put(text.as_deref());
        let is_empty = text.is_none();
        self.fallback.replace(text);
        match (is_empty, kept) {
            (true, _) => Kept::Well,
            (false, true) => Kept::InHistory,
            (false, false) => Kept::Nowhere,
        }
    }

    /// The address changed: the new history entry has to carry the pointers too.
    pub(crate) fn moved(&self) {
        match &*self.fallback.borrow() {
            Some(text) => history::put(Some(text)),
            // An entry from before they settled may still carry them.
            None => history::get().is_none() || history::put(None),
        };
    }
}

/// Adds what is not there yet, and that Stop was pressed.
fn merge(pointers: &mut Pointers, more: Pointers) {
    for pointer in more.readable {
        match pointers.readable.iter_mut().find(|known| known.request_id == pointer.request_id) {
            // Whichever is the older one: Stop is never undone.
            Some(known) => known.cancel |= pointer.cancel,
            None => pointers.readable.push(pointer),
        }
    }
    for value in more.unreadable {
        if !pointers.unreadable.contains(&value) {
            pointers.unreadable.push(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(ids: &[u8]) -> Pointers {
        let entry = |id: &u8| {
            let request_id = format!("018f2b6e-7c11-7cc3-9d5a-0123456789{id:02x}");
            let conversation_id = "018f2b6e-7c11-7cc3-9d5a-0123456789ff";
            serde_json::json!({
                "request_id": request_id, "conversation_id": conversation_id, "question": "Why?",
                "asked_at": "2026-01-31T09:00:00.000Z", "owner": "p.a",
                "ask": {"request_id": request_id, "conversation_id": conversation_id,
                        "question": "Why?"},
            })
        };
        Pointers::parse(&ids.iter().map(entry).collect::<serde_json::Value>().to_string())
    }

    #[test]
    fn both_places_are_joined_without_doubles() {
        let mut joined = pointers(&[1, 2]);
        assert_eq!(joined.readable.len(), 2, "{joined:?}");
        merge(&mut joined, pointers(&[2, 3]));
        merge(&mut joined, Pointers::parse("broken"));
        merge(&mut joined, Pointers::parse("broken"));
        assert_eq!(joined.readable, pointers(&[1, 2, 3]).readable);
        assert_eq!(joined.unreadable.len(), 1);
    }

    #[test]
    fn stop_is_never_undone() {
        for stopped_first in [true, false] {
            let (mut stopped, mut other) = (pointers(&[1]), pointers(&[1]));
            stopped.readable.iter_mut().for_each(|pointer| pointer.cancel = true);
            if stopped_first {
                std::mem::swap(&mut stopped, &mut other);
            }
            merge(&mut stopped, other);
            assert!(stopped.readable.iter().all(|pointer| pointer.cancel));
        }
    }
}
