//! One line with a question in it and something to do about it.

use leptos::prelude::*;

/// A label, a question, and actions.
pub(crate) fn strip(
    class: &'static str,
    label: String,
    question: String,
    actions: Vec<AnyView>,
) -> AnyView {
    view! {
        <div class=class>
            <p class="strip-text">
                <span class="strip-label">{label}</span>
                <span class="strip-question" dir="auto">{question}</span>
            </p>
            {actions}
        </div>
    }
    .into_any()
}
