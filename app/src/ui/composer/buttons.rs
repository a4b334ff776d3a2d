//! Send and Stop.

use holdfast_protocol::limits::QUESTION_CHARS;
use holdfast_recovery::Event;
use leptos::prelude::*;

use super::Page;
use crate::text;
use crate::ui::icon::{ARROW_UP, Icon, SQUARE};
use crate::ui::part::words;

/// From here on the count is shown.
const COUNT_FROM: usize = QUESTION_CHARS / 10 * 9;

/// Both are always there. Send stays enabled, so that it is never a riddle why it is not.
#[component]
pub(super) fn Buttons() -> impl IntoView {
    let Page { screen, driver } = expect_context();
    let count = words(move || {
        screen.draft.with(|draft| {
            // Bytes are never fewer than characters: most drafts need no counting.
            let chars = if draft.len() < COUNT_FROM { 0 } else { draft.trim().chars().count() };
            (chars >= COUNT_FROM).then(|| text::characters(chars, QUESTION_CHARS))
        })
    });
    let stop = move |_| {
        if let Some(request_id) = screen.stoppable.get_untracked() {
            driver.feed(Event::Stopped(request_id));
        }
    };
    view! {
        <div class="composer-buttons">
            <span class="count">{count}</span>
            <button
                type="button"
                class="button round stop"
                disabled=move || screen.stoppable.with(Option::is_none)
                on:click=stop
            >
                <Icon path=SQUARE />
                <span>{text::STOP}</span>
            </button>
            <button type="submit" class="button round send">
                <Icon path=ARROW_UP />
                <span>{text::SEND}</span>
            </button>
        </div>
    }
}
