//! Send and Stop.

use holdfast_protocol::limits::QUESTION_CHARS;
use holdfast_recovery::Event;
use leptos::prelude::*;

use super::Page;
use crate::text;
use crate::ui::icon::{ARROW_UP, SQUARE};
use crate::ui::part::{button, button_unless, words};

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
    let nothing_to_stop =
        words(move || screen.stoppable.with(Option::is_none).then(|| "disabled".to_owned()));
    let stop = move || {
        if let Some(request_id) = screen.stoppable.get_untracked() {
            driver.feed(Event::Stopped(request_id));
        }
    };
    view! {
        <div class="composer-buttons">
            <span class="count">{count}</span>
            {button_unless(Some(nothing_to_stop), "button round stop", Some(SQUARE), text::STOP, stop)}
            {button("button round send", Some(ARROW_UP), text::SEND, move || driver.ask())}
        </div>
    }
}
