//! How loading stands, with something to do where it failed.

use leptos::prelude::*;

use super::Page;
use crate::screen::Loading;
use crate::text;
use crate::ui::part::{button, part, sentence};

/// A line while it loads, a sentence and a button where it failed.
#[component]
pub(super) fn LoadingLine() -> impl IntoView {
    let Page { screen, driver } = expect_context();
    part(move || {
        match screen.loading.get() {
            Loading::Idle => None,
            Loading::Busy => Some(sentence("state loading", text::LOADING)),
            Loading::Failed(sentence) => {
                let again = move || driver.reload_view();
                Some(failure(sentence, button("button", None, text::TRY_AGAIN, again)))
            }
            // The turns that are here say it better.
            Loading::Missing(_) if screen.turns.with(|turns| !turns.is_empty()) => None,
            Loading::Missing(sentence) => {
                let leave = move || driver.new_chat();
                let leave = button("button", None, text::NEW_CHAT_INSTEAD, leave);
                Some(failure(sentence.to_owned(), leave))
            }
        }
    })
}

fn failure(sentence: String, action: AnyView) -> AnyView {
    view! {
        <div class="load-failure">
            <p>{sentence}</p>
            {action}
        </div>
    }
    .into_any()
}
