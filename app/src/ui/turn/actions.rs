//! What a person can do about a turn.

use holdfast_protocol::RequestId;
use holdfast_recovery::{Action, Event};
use leptos::prelude::*;

use super::Page;
use crate::screen::TurnCell;
use crate::text;

/// A button for each action.
#[component]
pub(crate) fn Actions(cell: TurnCell) -> impl IntoView {
    let Page { screen, .. } = expect_context();
    let TurnCell { request_id, turn, .. } = cell;
    let actions = Memo::new(move |_| {
        // The newest ask is stopped by the composer's own button.
        let has_own_stop = screen.stoppable.get() == Some(request_id);
        turn.with(|turn| {
            let wanted =
                |action: &Action| *action != Action::Stop || !(has_own_stop || turn.stopping);
            turn.actions.iter().copied().filter(wanted).collect::<Vec<_>>()
        })
    });
    let button = move |action| view! { <ActionButton action request_id /> }.into_any();
    let buttons = move || actions.get().into_iter().map(button).collect_view();
    view! { <div class="actions">{buttons}</div> }.into_any()
}

#[component]
fn ActionButton(action: Action, request_id: RequestId) -> impl IntoView {
    let Page { driver, .. } = expect_context();
    let label = match action {
        Action::Stop => text::STOP_THIS,
        Action::CheckAgain => text::CHECK_AGAIN,
        Action::SendNow => text::SEND_NOW,
        Action::TakeBack => text::TAKE_BACK,
        Action::Discard => text::DISCARD,
    };
    let act = move |_| {
        driver.feed(match action {
            Action::Stop => Event::Stopped(request_id),
            Action::CheckAgain | Action::SendNow => Event::CheckedAgain(request_id),
            Action::TakeBack => Event::TakenBack(request_id),
            Action::Discard => Event::Discarded(request_id),
        });
    };
    view! { <button type="button" class="button" on:click=act>{label}</button> }.into_any()
}
