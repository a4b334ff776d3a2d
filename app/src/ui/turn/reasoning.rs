//! What the model thought aloud: folded, for those who want to know.

use leptos::prelude::*;

use crate::screen::TurnCell;
use crate::text;
use crate::ui::part::{part, words};

/// Closed until somebody opens it; it stays as it is while the text in it grows.
#[component]
pub(super) fn Reasoning(cell: TurnCell) -> impl IntoView {
    let (there, said, thought) = (cell.turn.clone(), cell.turn.clone(), cell.turn);
    let is_there = Memo::new(move |_| there.with(|turn| !turn.reasoning.text().is_empty()));
    let summary = move || {
        let thinks = said.with(|turn| !turn.status.is_at_rest() && turn.shown.text().is_empty());
        Some(if thinks { text::THINKING } else { text::REASONING }.to_owned())
    };
    let thought = move || thought.with(|turn| Some(turn.reasoning.text().to_owned()));
    part(move || {
        is_there.get().then(|| {
            view! {
                <details class="reasoning">
                    <summary>{words(summary.clone())}</summary>
                    <p dir="auto">{words(thought.clone())}</p>
                </details>
            }
            .into_any()
        })
    })
}
