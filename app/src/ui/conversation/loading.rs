//! How loading stands, with something to do where it failed.

use leptos::prelude::*;

use super::Page;
use crate::screen::Loading;
use crate::text;

/// A line while it loads, a sentence and a button where it failed.
#[component]
pub(super) fn LoadingLine() -> impl IntoView {
    let Page { screen, driver } = expect_context();
    let known = Memo::new(move |_| screen.turns.with(|turns| !turns.is_empty()));
    let line = move || {
        let driver = driver.clone();
        match screen.loading.get() {
            Loading::Idle => None,
            Loading::Busy => {
                let line = view! { <p class="state loading" data-busy="true">{text::LOADING}</p> };
                Some(line.into_any())
            }
            Loading::Failed(sentence) => {
                let again = move |_| driver.reload_view();
                Some(failure(sentence, text::TRY_AGAIN, again))
            }
            // The turns that are here say it better.
            Loading::Missing(_) if known.get() => None,
            Loading::Missing(sentence) => {
                let leave = move |_| driver.new_chat();
                Some(failure(sentence.to_owned(), text::NEW_CHAT_INSTEAD, leave))
            }
        }
    };
    line.into_any()
}

fn failure(
    sentence: String,
    action: &'static str,
    act: impl Fn(web_sys::MouseEvent) + 'static,
) -> AnyView {
    view! {
        <div class="load-failure">
            <p>{sentence}</p>
            <button type="button" class="button" on:click=act>{action}</button>
        </div>
    }
    .into_any()
}
