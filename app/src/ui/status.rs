//! The one status region: what assistive technology is told as it happens. Answers are not in it.

use leptos::prelude::*;

use super::Page;
use super::part::words;
use crate::screen::ANNOUNCEMENTS;
use crate::text;

/// Out of sight, read out when it changes.
#[component]
pub(super) fn StatusRegion() -> impl IntoView {
    let Page { screen, .. } = expect_context();
    // Each announcement takes the place of the oldest, and only what has changed is read.
    let slots = std::array::from_fn::<_, ANNOUNCEMENTS, _>(|slot| {
        let announcement = words(move || {
            let announcement = screen.announcements.with(|all| all.get(slot).copied().flatten())?;
            Some(text::announcement(announcement).to_owned())
        });
        view! { <p>{announcement}</p> }
    });
    view! {
        <div class="visually-hidden" role="status" aria-live="polite" aria-atomic="false">
            {slots}
        </div>
    }
}
