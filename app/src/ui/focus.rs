//! Where the keyboard goes when what it was on is taken away.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

/// To the first thing that a selector names, once what was changed is drawn.
pub(super) fn on(selector: impl Into<String>) {
    first_of([selector.into()]);
}

/// To what the first of these selectors names that names anything.
pub(super) fn first_of<const N: usize>(selectors: [String; N]) {
    request_animation_frame(move || {
        let document = document();
        let named = |selector: &String| document.query_selector(selector).ok().flatten();
        let found = selectors.iter().find_map(named);
        if let Some(found) = found.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
            let _ = found.focus();
        }
    });
}
