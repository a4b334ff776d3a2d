//! Deletions that can still be undone.

use leptos::prelude::*;

use crate::shelf::{Deleted, TheShelf};
use crate::text;
use crate::ui::part::{button, list};

/// A line with a button for each, for a minute.
pub(super) fn undo(shelf: TheShelf) -> AnyView {
    let line = move |Deleted { id, title, .. }| {
        let undo = button("button", None, text::UNDO, move || shelf.restore(id));
        view! {
            <div class="shelf-undo">
                <p>
                    {text::DELETED} " " <bdi>{title}</bdi>
                </p>
                {undo}
            </div>
        }
        .into_any()
    };
    let lines = list(move || shelf.deleted.get().into_iter().map(line).collect());
    view! { <div aria-live="polite">{lines}</div> }.into_any()
}
