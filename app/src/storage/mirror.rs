//! Asks that are not accepted yet, where other tabs and the next one find them: each a list of one, in
//! the format of the tab's own pointers.

use holdfast_protocol::RequestId;
use holdfast_recovery::{Pointer, Pointers};

use super::Area;

const PREFIX: &str = "holdfast.unsent.";

/// Whether a key of `localStorage` is one of these, and whose.
pub(crate) fn is_mirror_key(key: &str) -> Option<RequestId> {
    key.strip_prefix(PREFIX)?.parse().ok()
}

/// Keeps a pointer for other tabs.
pub(crate) fn mirror(pointer: &Pointer) {
    // Where it fails the tab's own pointer is all there is; that one says aloud if it fails too.
    let list = Pointers { readable: vec![pointer.clone()], unreadable: Vec::new() };
    let _ = Area::Local.put_text(&key(pointer.request_id), &list.to_json());
}

/// Forgets it.
pub(crate) fn unmirror(request_id: RequestId) {
    let _ = Area::Local.remove(&key(request_id));
}

/// What other tabs had not got accepted when they last wrote. What cannot be read stays where it
/// is: it may be a newer page's.
pub(crate) fn mirrored() -> Vec<Pointer> {
    let keys = Area::Local.keys().into_iter().filter(|key| is_mirror_key(key).is_some());
    let texts = keys.filter_map(|key| Area::Local.text(&key).ok().flatten());
    texts.flat_map(|text| Pointers::parse(&text).readable).collect()
}

fn key(request_id: RequestId) -> String {
    format!("{PREFIX}{request_id}")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_key_names_its_ask() {
        let id: RequestId = "018f2b6e-7c11-7cc3-9d5a-0123456789ab".parse().unwrap();
        assert_eq!(is_mirror_key(&key(id)), Some(id));
        assert_eq!(is_mirror_key("holdfast.unsent.x"), None);
        assert_eq!(is_mirror_key("holdfast.owner"), None);
    }
}
