//! A new chat: what this is, and something to begin with.

use leptos::prelude::*;

use super::Page;
use crate::text;
use crate::ui::part::button;

/// A welcome and three questions that Holdfast's own handbook answers.
#[component]
pub(super) fn Empty() -> impl IntoView {
    let Page { driver, .. } = expect_context();
    let examples = text::EXAMPLES
        .map(|question| button("example", None, question, move || driver.suggest(question)));
    view! {
        <div class="empty">
            <h2>{text::WELCOME}</h2>
            <p>{text::WELCOME_MORE}</p>
            <div class="examples" role="group" aria-label=text::TRY_ONE>
                {examples.into_iter().collect_view()}
            </div>
        </div>
    }
    .into_any()
}
