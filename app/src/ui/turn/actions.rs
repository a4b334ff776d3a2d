//! What a person can do about a turn.

use holdfast_protocol::{Finish, Status};
use holdfast_recovery::{Action, Event, Turn};
use leptos::prelude::*;

use super::Page;
use super::copy::copy_button;
use crate::screen::TurnCell;
use crate::text;
use crate::ui::part::{button, list, part};

/// A button for each action.
#[component]
pub(crate) fn Actions(cell: TurnCell) -> impl IntoView {
    let Page { screen, driver } = expect_context();
    let TurnCell { request_id, turn, .. } = cell;
    let (rest, continued, copied, paid) = (turn.clone(), turn.clone(), turn.clone(), turn.clone());
    let actions = move || {
        // The newest ask is stopped by the composer's own button.
        let has_own_stop = screen.stoppable.get() == Some(request_id);
        turn.with(|turn| {
            let wanted =
                |action: &Action| *action != Action::Stop || !(has_own_stop || turn.stopping);
            turn.actions.iter().copied().filter(wanted).collect::<Vec<_>>()
        })
    };
    let press = move |action| {
        let label = match action {
            Action::Stop => text::STOP_THIS,
            Action::CheckAgain => text::CHECK_AGAIN,
            Action::SendNow => text::SEND_NOW,
            Action::TakeBack => text::TAKE_BACK,
            Action::Discard => text::DISCARD,
            Action::AskAgain if paid.with_untracked(may_cost_again) => text::ASK_AGAIN_COSTS,
            Action::AskAgain => text::ASK_AGAIN,
        };
        let class = if action == Action::AskAgain { "button quiet" } else { "button" };
        button(class, None, label, move || {
            driver.feed(match action {
                Action::Stop => Event::Stopped(request_id),
                Action::CheckAgain | Action::SendNow => Event::CheckedAgain(request_id),
                Action::TakeBack => Event::TakenBack(request_id),
                Action::Discard => Event::Discarded(request_id),
                Action::AskAgain => return driver.ask_again(request_id),
            });
        })
    };
    // What needs no leave of recovery's.
    // Only the last answer can be gone on from: what was said since then does not follow it.
    let is_last = move || {
        screen.turns.with(|turns| turns.last().is_some_and(|last| last.request_id == request_id))
    };
    let is_cut_off = move || continued.with(is_cut_off) && is_last();
    let is_over =
        move || rest.with(|turn| turn.status.is_at_rest() && !turn.shown.text().is_empty());
    let go_on = part(move || {
        let go_on = move || driver.go_on(request_id);
        is_cut_off().then(|| button("button", None, text::CONTINUE, go_on))
    });
    let copy = part(move || {
        is_over()
            .then(|| copied.with_untracked(|turn| turn.shown.text().to_owned()))
            .and_then(copy_button)
    });
    let buttons = list(move || actions().into_iter().map(&press).collect());
    view! { <div class="actions">{go_on} {buttons} {copy}</div> }
}

/// Whether a model was called for an answer that is not whole: to be told before it is asked again.
fn may_cost_again(turn: &Turn) -> bool {
    let outcome = turn.outcome.as_ref().filter(|it| it.status != Status::Completed);
    let receipt = outcome.and_then(|outcome| outcome.receipt.as_ref());
    receipt.is_some_and(|receipt| receipt.provider_calls > 0)
}

/// Whether the model would have gone on.
fn is_cut_off(turn: &Turn) -> bool {
    let answer = turn.outcome.as_ref().and_then(|outcome| outcome.answer.as_ref());
    turn.status.is_at_rest() && answer.is_some_and(|it| it.finish == Some(Finish::Length))
}
