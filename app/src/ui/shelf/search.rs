//! Looking for words in questions and answers.

use leptos::prelude::*;

use crate::shelf::TheShelf;
use crate::text;

/// What selects the field.
pub(super) const FIELD: &str = ".shelf-search input";

/// A field that searches while it is written in.
pub(super) fn search(shelf: TheShelf) -> AnyView {
    view! {
        <search class="shelf-search">
            <input
                type="search"
                dir="auto"
                autocomplete="off"
                placeholder=text::SEARCH
                aria-label=text::SEARCH
                prop:value=move || shelf.query.get()
                on:input=move |event| shelf.search(event_target_value(&event))
            />
        </search>
    }
    .into_any()
}
