//! Guarded access to the two storages. Blocked storage throws on mere access, full storage on
//! writing, and a page of another origin may have left anything in it.

use gloo_storage::{LocalStorage, SessionStorage, Storage as _};
use holdfast_protocol::Owner;
use holdfast_recovery::Millis;
use serde::de::DeserializeOwned;

use serde_json::Value;

use crate::json;

const OWNER: &str = "holdfast.owner";
const BUFFERING: &str = "holdfast.buffering";

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// This tab's, until it is closed.
    Session,
    /// All tabs'.
    Local,
}

/// The browser did not let us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocked;

impl Area {
    fn raw(self) -> Result<web_sys::Storage, Blocked> {
        let window = web_sys::window().ok_or(Blocked)?;
        let storage = match self {
            Self::Session => window.session_storage(),
            Self::Local => window.local_storage(),
        };
        storage.ok().flatten().ok_or(Blocked)
    }

    /// The text under a key.
    pub(super) fn text(self, key: &str) -> Result<Option<String>, Blocked> {
        self.raw()?.get_item(key).map_err(|_| Blocked)
    }

    /// The value under a key; `None` too where what is there cannot be read.
    pub(crate) fn value<T: DeserializeOwned>(self, key: &str) -> Option<T> {
        json::read(self.text(key).ok()??.as_bytes())
    }

    /// Writes a text as it is.
    pub(super) fn put_text(self, key: &str, text: &str) -> Result<(), Blocked> {
        self.raw()?.set_item(key, text).map_err(|_| Blocked)
    }

    /// Writes a value as JSON.
    pub(crate) fn put(self, key: &str, value: &Value) -> Result<(), Blocked> {
        // gloo-storage takes for granted that the storage can be reached.
        self.raw()?;
        match self {
            Self::Session => SessionStorage::set(key, value),
            Self::Local => LocalStorage::set(key, value),
        }
        .map_err(|_| Blocked)
    }

    /// Forgets a key.
    pub(crate) fn remove(self, key: &str) -> Result<(), Blocked> {
        self.raw()?.remove_item(key).map_err(|_| Blocked)
    }

    /// Every key there is.
    pub(super) fn keys(self) -> Vec<String> {
        let Ok(storage) = self.raw() else { return Vec::new() };
        let length = storage.length().unwrap_or_default();
        (0..length).filter_map(|index| storage.key(index).ok().flatten()).collect()
    }
}

/// Keeps whose session it is for the next start.
pub(crate) fn remember(owner: &Owner) {
    // Without it the next start waits for the session, which costs a round trip and nothing else.
    let _ = Area::Local.put(OWNER, &owner.as_str().into());
}

/// Whose session it was.
pub(crate) fn remembered() -> Option<Owner> {
    Area::Local.value(OWNER)
}

/// Keeps when a stream was last seen to be held back.
pub(crate) fn remember_buffering(seen: Millis) {
    // Without it the next page finds out by itself.
    let _ = Area::Local.put_text(BUFFERING, &seen.to_string());
}

/// When that was.
pub(crate) fn buffering() -> Option<Millis> {
    Area::Local.text(BUFFERING).ok()??.parse().ok()
}
