//! Reading JSON, always by way of a [`Value`]. Each type then meets one reader; meeting the text itself
//! as well, it would be compiled twice, and every byte of the page is fetched before the first question.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The value, if this is JSON and of its shape.
pub(crate) fn read<T: DeserializeOwned>(text: &[u8]) -> Option<T> {
    serde_json::from_value(serde_json::from_slice::<Value>(text).ok()?).ok()
}
