//! The history entry's state, which outlives a plain reload even where storage is blocked.

use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;

use super::pointers::PENDING;

/// What an earlier [`put`] of this history entry left.
pub(super) fn get() -> Option<String> {
    let state = web_sys::window()?.history().ok()?.state().ok()?;
    if !state.is_object() {
        return None;
    }
    Reflect::get(&state, &PENDING.into()).ok()?.as_string()
}

/// Puts the text into the current entry; `None` takes it out. Says whether it worked.
pub(super) fn put(text: Option<&str>) -> bool {
    let state = match text {
        Some(text) => {
            let state = Object::new();
            if Reflect::set(&state, &PENDING.into(), &text.into()).is_err() {
                return false;
            }
            state.into()
        }
        None => JsValue::NULL,
    };
    web_sys::window()
        .and_then(|window| window.history().ok())
        .is_some_and(|history| history.replace_state(&state, "").is_ok())
}
