//! Asks of other conversations: under way, or finished since the person looked away.

use leptos::prelude::*;

use super::Page;
use super::strip::strip;
use crate::screen::Elsewhere;
use crate::ui::part::{button, list};
use crate::{route, text};

/// A quiet line for each.
#[component]
pub(super) fn ElsewhereStrip() -> impl IntoView {
    let Page { screen, driver } = expect_context();
    let line = move |Elsewhere { request_id, conversation_id, question, settled }| {
        let label = if settled { text::SETTLED_ELSEWHERE } else { text::PENDING_ELSEWHERE };
        let href = route::fragment(Some(conversation_id));
        let open = view! { <a class="button quiet" href=href>{text::OPEN}</a> }.into_any();
        let dismiss = settled.then(|| {
            button("button quiet", None, text::DISMISS, move || driver.dismiss(request_id))
        });
        let actions = std::iter::once(open).chain(dismiss).collect();
        strip("strip", label.to_owned(), question, actions)
    };
    list(move || screen.elsewhere.get().into_iter().map(&line).collect())
}
