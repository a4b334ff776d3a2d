//! What the model is told before every question of one conversation.

use leptos::html::{Dialog, Textarea};
use leptos::prelude::*;

use super::part::{Words, button, sentence};
use crate::text;

/// A dialog in which they are written: of a conversation that has a title, or of a new one; `now` is
/// `None` until it is known what they say, and `trouble` says why they could not be kept. Whoever shows it
/// takes it away when it is closed.
pub(super) fn dialog(
    title: Option<String>,
    now: Option<String>,
    trouble: Words,
    keep: impl Fn(String) + 'static,
    close: impl Fn() + Copy + 'static,
) -> AnyView {
    let dialog = NodeRef::<Dialog>::new();
    let field = NodeRef::<Textarea>::new();
    Effect::new(move |_| {
        if let Some(dialog) = dialog.get() {
            // Where it is one already, nothing is to be done.
            let _ = dialog.show_modal();
        }
    });
    let keep = move || {
        if let Some(field) = field.get_untracked() {
            keep(field.value());
        }
    };
    let title = title.map(|title| view! { ": " <bdi>{title}</bdi> });
    let body = match now {
        None => sentence("state loading", text::LOADING_INSTRUCTIONS),
        Some(now) => view! {
            <textarea
                node_ref=field
                class="field"
                rows="8"
                dir="auto"
                maxlength="16000"
                aria-label=text::INSTRUCTIONS
                prop:value=now
            ></textarea>
            <p class="state" data-tone="bad" role="alert">
                {trouble}
            </p>
            <div class="actions">
                {button("button", None, text::SAVE, keep)}
                {button("button quiet", None, text::CANCEL, close)}
            </div>
        }
        .into_any(),
    };
    view! {
        <dialog node_ref=dialog class="instructions" aria-label=text::INSTRUCTIONS on:close=move |_| close()>
            <h2 dir="auto">{text::INSTRUCTIONS} {title}</h2>
            <p>{text::INSTRUCTIONS_MORE}</p>
            {body}
        </dialog>
    }
    .into_any()
}
