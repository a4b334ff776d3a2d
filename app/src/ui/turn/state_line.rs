//! How a turn stands, beside its text and never instead of it.

use leptos::prelude::*;

use super::Page;
use super::state::{self, Line};
use crate::screen::TurnCell;
use crate::text;

/// One line, with a calm mark while something is under way.
#[component]
pub(super) fn StateLine(cell: TurnCell) -> impl IntoView {
    let Page { screen, .. } = expect_context();
    let TurnCell { turn, since, .. } = cell;
    // The clock is read only where it matters: a settled turn is not drawn again each second.
    let line = Memo::new(move |_| {
        let online = screen.online.get();
        turn.with(|turn| {
            let now = if turn.next_attempt.is_some() { screen.now.get() } else { 0 };
            state::line(turn, now, online)
        })
    });
    let draw = move |Line { tone, sentence, busy, elapsed }| {
        let seconds = move || screen.now.get().saturating_sub(since) / 1_000;
        let elapsed =
            elapsed.then(|| move || Some(seconds()).filter(|&it| it > 1).map(text::lasting));
        view! {
            <p class="state" data-tone=tone.as_str() data-busy=busy.to_string()>
                <span dir="auto">{sentence}</span>
                <span class="elapsed">{elapsed}</span>
            </p>
        }
        .into_any()
    };
    (move || line.get().map(draw)).into_any()
}
