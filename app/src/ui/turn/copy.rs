//! Copying code, where the browser lets a page do so (https and loopback).

use std::time::Duration;

use leptos::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::ui::part::{button, words};
use crate::{task, text};

/// A button that copies a text. Not there where it could not work.
pub(super) fn copy_button(text: String) -> Option<AnyView> {
    clipboard()?;
    let copied = RwSignal::new(false);
    let label = words(move || {
        let label = if copied.get() { text::COPIED } else { text::COPY };
        Some(label.to_owned())
    });
    let copy = move || {
        let text = text.clone();
        task::spawn(async move {
            if write(&text).await.is_some() {
                // The block may be gone by now: its signal then takes nothing.
                let _ = copied.try_set(true);
                set_timeout(move || _ = copied.try_set(false), Duration::from_secs(2));
            }
        });
    };
    Some(button("copy", None, label, copy))
}

/// `navigator.clipboard`, which plain http lacks and `web-sys` takes for granted.
fn clipboard() -> Option<web_sys::Clipboard> {
    let clipboard = web_sys::window()?.navigator().clipboard();
    (!clipboard.is_undefined()).then_some(clipboard)
}

async fn write(text: &str) -> Option<()> {
    JsFuture::from(clipboard()?.write_text(text)).await.ok().map(drop)
}
