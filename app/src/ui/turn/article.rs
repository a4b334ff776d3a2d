//! The turn as a whole.

use leptos::prelude::*;

use super::actions::Actions;
use super::answer::Answer;
use super::receipt::ReceiptLine;
use super::state_line::StateLine;
use crate::screen::TurnCell;
use crate::text;

/// An article, so that assistive technology can go from turn to turn.
#[component]
pub(crate) fn TurnArticle(cell: TurnCell) -> impl IntoView {
    let request_id = cell.request_id.to_string();
    let heading = format!("question-{request_id}");
    let labelled_by = heading.clone();
    let turn = cell.turn.clone();
    let status = {
        let turn = turn.clone();
        move || turn.with(|turn| turn.status.as_str())
    };
    let recovered = {
        let turn = turn.clone();
        move || turn.with(|turn| turn.recovered.then_some("true"))
    };
    let busy = {
        let turn = turn.clone();
        move || turn.with(|turn| (!turn.status.is_at_rest()).to_string())
    };
    view! {
        <article
            class="turn"
            aria-labelledby=labelled_by
            aria-busy=busy
            data-request-id=request_id
            data-status=status
            data-recovered=recovered
        >
            <h2 class="question" id=heading dir="auto">
                <span class="visually-hidden">{text::QUESTION}": "</span>
                {move || turn.with(|turn| turn.question.clone())}
            </h2>
            <Answer cell=cell.clone() />
            <StateLine cell=cell.clone() />
            <Actions cell=cell.clone() />
            <ReceiptLine cell />
        </article>
    }
    .into_any()
}
