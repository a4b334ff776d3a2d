//! A new chat: what this is, something to begin with, and what the model is to be told in it.

use leptos::prelude::*;

use super::Page;
use crate::text;
use crate::ui::instructions;
use crate::ui::part::{button, part};

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
    let label =
        move || if now().is_empty() { text::INSTRUCTIONS } else { text::INSTRUCTIONS_GIVEN };
    view! {
        <div class="empty">
            <h2>{text::WELCOME}</h2>
            <p>{text::WELCOME_MORE}</p>
            <div class="examples" role="group" aria-label=text::TRY_ONE>
                {examples.into_iter().collect_view()}
            </div>
            {part(move || Some(button("button quiet instruct", None, label(), move || is_open.set(true))))}
            {part(move || is_open.get().then(|| instructions::dialog(None, Some(now()), keep, close)))}
        </div>
    }
    .into_any()
}
