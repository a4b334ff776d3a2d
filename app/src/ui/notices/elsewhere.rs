//! Asks of other conversations: under way, or finished since the person looked away.

use leptos::prelude::*;

use super::Page;
use crate::screen::Elsewhere;
use crate::{route, text};

/// A quiet line for each.
#[component]
pub(super) fn ElsewhereStrip() -> impl IntoView {
    let Page { screen, .. } = expect_context();
    let line = |ask| view! { <ElsewhereLine ask /> }.into_any();
    (move || screen.elsewhere.get().into_iter().map(line).collect_view()).into_any()
}

#[component]
fn ElsewhereLine(ask: Elsewhere) -> impl IntoView {
    let Page { driver, .. } = expect_context();
    let href = route::fragment(Some(ask.conversation_id));
    let label = if ask.settled { text::SETTLED_ELSEWHERE } else { text::PENDING_ELSEWHERE };
    let request_id = ask.request_id;
    let dismiss = ask.settled.then(|| {
        view! {
            <button type="button" class="button quiet" on:click=move |_| driver.dismiss(request_id)>
                {text::DISMISS}
            </button>
        }
        .into_any()
    });
    view! {
        <div class="strip" data-elsewhere=request_id.to_string()>
            <p class="strip-text">
                <span class="strip-label">{label}</span>
                <span class="strip-question" dir="auto">{ask.question}</span>
            </p>
            <a class="button quiet" href=href>{text::OPEN}</a>
            {dismiss}
        </div>
    }
    .into_any()
}
