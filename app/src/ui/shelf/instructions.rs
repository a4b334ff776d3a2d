//! What the model is told before every question of one conversation.

use leptos::html::{Dialog, Textarea};
use leptos::prelude::*;

use crate::shelf::{Instructions, TheShelf};
use crate::text;
use crate::ui::part::{button, part, sentence};

/// A dialog, while they are looked at.
pub(super) fn instructions(shelf: TheShelf) -> AnyView {
    part(move || shelf.instructions.get().map(|instructions| dialog(shelf, instructions)))
        .into_any()
}

fn dialog(shelf: TheShelf, instructions: Instructions) -> AnyView {
    let dialog = NodeRef::<Dialog>::new();
    let field = NodeRef::<Textarea>::new();
    Effect::new(move |_| {
        if let Some(dialog) = dialog.get() {
            // Where it is one already, nothing is to be done.
            let _ = dialog.show_modal();
        }
    });
    let close = move || shelf.instructions.set(None);
    let keep = move || {
        if let Some(field) = field.get_untracked() {
            shelf.instruct(field.value());
        }
    };
    let body = match instructions.text {
        None => sentence("state loading", text::LOADING_INSTRUCTIONS),
        Some(now) => view! {
            <textarea
                node_ref=field
                class="field"
                rows="8"
                dir="auto"
                aria-label=text::INSTRUCTIONS
                prop:value=now
            ></textarea>
            <div class="actions">
                {button("button", None, text::SAVE, keep)}
                {button("button quiet", None, text::CANCEL, close)}
            </div>
        }
        .into_any(),
    };
    view! {
        <dialog node_ref=dialog class="instructions" aria-label=text::INSTRUCTIONS on:close=move |_| close()>
            <h2 dir="auto">{text::INSTRUCTIONS} ": " <bdi>{instructions.title}</bdi></h2>
            <p>{text::INSTRUCTIONS_MORE}</p>
            {body}
        </dialog>
    }
    .into_any()
}
