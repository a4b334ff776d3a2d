//! A new chat: what this is, something to begin with, and what the model is to be told in it.

use leptos::prelude::*;

use super::Page;
use crate::text;
use crate::ui::part::{button, part, words};
use crate::ui::{focus, instructions};

/// A welcome and three questions that Holdfast's own handbook answers.
#[component]
pub(super) fn Empty() -> impl IntoView {
    let Page { driver, screen } = expect_context();
    let examples = text::EXAMPLES
        .map(|question| button("example", None, question, move || driver.suggest(question)));
    let is_open = RwSignal::new(false);
    let close = move || is_open.set(false);
    let keep = move |text: String| {
        driver.instruct(&text);
        close();
    };
    let now = move || screen.instructions.get();
    let dialog = move || {
        on_cleanup(|| focus::on(".instruct"));
        instructions::dialog(None, Some(now()), words(|| None), keep, close)
    };
    let label = words(move || {
        let label = if now().is_empty() { text::INSTRUCTIONS } else { text::INSTRUCTIONS_GIVEN };
        Some(label.to_owned())
    });
    view! {
        <div class="empty">
            <h2>{text::WELCOME}</h2>
            <p>{text::WELCOME_MORE}</p>
            <div class="examples" role="group" aria-label=text::TRY_ONE>
                {examples.into_iter().collect_view()}
            </div>
            {button("button quiet instruct", None, label, move || is_open.set(true))}
            {part(move || is_open.get().then(dialog))}
        </div>
    }
    .into_any()
}
