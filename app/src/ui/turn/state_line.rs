//! How a turn stands, beside its text and never instead of it.

use leptos::prelude::*;

use super::Page;
use super::state::{self, Line};
use crate::screen::TurnCell;
use crate::text;
use crate::ui::part::{part, words};

/// One line, with a calm mark while something is under way.
#[component]
pub(super) fn StateLine(cell: TurnCell) -> impl IntoView {
    let Page { screen, .. } = expect_context();
    let TurnCell { turn, since, .. } = cell;
    // The clock is read only where it matters: nothing else is drawn again each second.
    let line = move || {
        let online = screen.online.get();
        turn.with(|turn| {
            let now = if turn.next_attempt.is_some() { screen.now.get() } else { 0 };
            state::line(turn, now, online)
        })
    };
    part(move || {
        let Line { tone, sentence, busy, elapsed } = line()?;
        let elapsed = words(move || {
            let seconds = elapsed.then(|| screen.now.get().saturating_sub(since) / 1_000)?;
            (seconds > 1).then(|| text::lasting(seconds))
        });
        let line = view! {
            <p class="state" data-tone=tone.as_str() data-busy=busy.to_string()>
                <span dir="auto">{sentence}</span>
                <span class="elapsed">{elapsed}</span>
            </p>
        };
        Some(line.into_any())
    })
}
