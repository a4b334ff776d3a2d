//! A deletion that can still be undone.

use leptos::prelude::*;

use crate::shelf::TheShelf;
use crate::text;
use crate::ui::part::{button, part};

/// A line with a button, for a minute.
pub(super) fn undo(shelf: TheShelf) -> AnyView {
    let line = part(move || {
        shelf.deleted.get().map(|deleted| {
            let undo = button("button", None, text::UNDO, move || shelf.restore());
            view! {
                <div class="shelf-undo">
                    <p>
                        {text::DELETED} " " <bdi>{deleted.title}</bdi>
                    </p>
                    {undo}
                </div>
            }
            .into_any()
        })
    });
    view! { <div aria-live="polite">{line}</div> }.into_any()
}
