//! The way to the turns before the first one shown.

use leptos::prelude::*;

use super::Page;
use crate::text;

/// A button, while there are earlier turns.
#[component]
pub(super) fn Earlier() -> impl IntoView {
    let Page { screen, driver } = expect_context();
    let button = move |_| {
        let driver = driver.clone();
        let load = move |_| driver.load_earlier();
        view! {
            <button type="button" class="button quiet earlier" on:click=load>
                {text::EARLIER}
            </button>
        }
        .into_any()
    };
    (move || screen.earlier.get().map(&button)).into_any()
}
