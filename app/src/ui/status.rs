//! The one status region: what assistive technology is told as it happens. Answers are not in it.

use leptos::prelude::*;

use super::Page;
use crate::text;

/// Out of sight, read out when it changes.
#[component]
pub(super) fn StatusRegion() -> impl IntoView {
    let Page { screen, .. } = expect_context();
    // Each announcement is an element of its own, so that the same words twice are said twice; and
    // only what is new is read.
    view! {
        <div class="visually-hidden" role="status" aria-live="polite" aria-atomic="false">
            <For
                each=move || screen.announcements.get()
                key=|(number, _)| *number
                children=|(_, announcement)| {
                    view! { <p>{text::announcement(announcement)}</p> }.into_any()
                }
            />
        </div>
    }
    .into_any()
}
