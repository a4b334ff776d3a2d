//! What a person can do about a turn.

use holdfast_recovery::{Action, Event};
use leptos::prelude::*;

use super::Page;
use crate::screen::TurnCell;
use crate::text;
use crate::ui::part::{button, list};

/// A button for each action.
#[component]
pub(crate) fn Actions(cell: TurnCell) -> impl IntoView {
    let Page { screen, driver } = expect_context();
    let TurnCell { request_id, turn, .. } = cell;
    let actions = move || {
        // The newest ask is stopped by the composer's own button.
        let has_own_stop = screen.stoppable.get() == Some(request_id);
        turn.with(|turn| {
            let wanted = |action: &Action| match action {
                Action::Stop => !has_own_stop && !turn.stopping,
                // It has to say that it may cost again.
                Action::AskAgain => false,
                _ => true,
            };
            turn.actions.iter().copied().filter(wanted).collect::<Vec<_>>()
        })
    };
    let button = move |action| {
        let label = match action {
            Action::Stop => text::STOP_THIS,
            Action::CheckAgain => text::CHECK_AGAIN,
            Action::SendNow => text::SEND_NOW,
            Action::TakeBack => text::TAKE_BACK,
            Action::Discard | Action::AskAgain => text::DISCARD,
        };
        button("button", None, label, move || {
            driver.feed(match action {
                Action::Stop => Event::Stopped(request_id),
                Action::CheckAgain | Action::SendNow => Event::CheckedAgain(request_id),
                Action::TakeBack => Event::TakenBack(request_id),
                Action::Discard | Action::AskAgain => Event::Discarded(request_id),
            });
        })
    };
    let buttons = list(move || actions().into_iter().map(&button).collect());
    view! { <div class="actions">{buttons}</div> }
}
