//! Reading and writing JSON, always by way of a [`Value`]. Each type then meets one reader and one
//! writer; meeting the text itself as well, each would be compiled twice, and every byte of the page
//! is fetched before the first question.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The value, if this is JSON and of its shape.
pub(crate) fn read<T: DeserializeOwned>(text: &[u8]) -> Option<T> {
    serde_json::from_value(serde_json::from_slice(text).ok()?).ok()
}

/// The JSON of a value.
pub(crate) fn write<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
