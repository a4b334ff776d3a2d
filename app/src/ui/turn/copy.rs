//! Copying code, where the browser lets a page do so (https and loopback).

use std::time::Duration;

use leptos::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::text;

/// Copies a text. Not there where it could not work.
#[component]
pub(super) fn CopyButton(text: String) -> impl IntoView {
    let copied = RwSignal::new(false);
    let can_copy = clipboard().is_some();
    let copy = move |_| {
        let text = text.clone();
        wasm_bindgen_futures::spawn_local(async move {
            if write(&text).await.is_some() {
                // The block may be gone by now: its signal then takes nothing.
                let _ = copied.try_set(true);
                set_timeout(move || _ = copied.try_set(false), Duration::from_secs(2));
            }
        });
    };
    let button = can_copy.then(|| {
        view! {
            <button type="button" class="copy" on:click=copy>
                {move || if copied.get() { text::COPIED } else { text::COPY }}
            </button>
        }
    });
    button.into_any()
}

/// `navigator.clipboard`, which plain http lacks and `web-sys` takes for granted.
fn clipboard() -> Option<web_sys::Clipboard> {
    let clipboard = web_sys::window()?.navigator().clipboard();
    (!clipboard.is_undefined()).then_some(clipboard)
}

async fn write(text: &str) -> Option<()> {
    JsFuture::from(clipboard()?.write_text(text)).await.ok().map(drop)
}
