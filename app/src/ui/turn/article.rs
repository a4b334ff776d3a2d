//! The turn as a whole.

use holdfast_recovery::Turn;
use leptos::prelude::*;

use super::actions::Actions;
use super::answer::Answer;
use super::chain::Chain;
use super::reasoning::Reasoning;
use super::receipt::ReceiptLine;
use super::state_line::StateLine;
use crate::screen::TurnCell;
use crate::text;
use crate::ui::part::{Words, words};

/// An article, so that assistive technology can go from turn to turn.
#[component]
pub(crate) fn TurnArticle(cell: TurnCell) -> impl IntoView {
    let request_id = cell.request_id.to_string();
    let heading = format!("question-{request_id}");
    let labelled_by = heading.clone();
    let turn = cell.turn.clone();
    let of_turn = |say: fn(&Turn) -> Option<String>| -> Words {
        let turn = turn.clone();
        words(move || turn.with(say))
    };
    view! {
        <article
            class="turn"
            aria-labelledby=labelled_by
            aria-busy=of_turn(|turn| Some((!turn.status.is_at_rest()).to_string()))
            data-request-id=request_id
            data-status=of_turn(|turn| Some(turn.status.as_str().to_owned()))
            data-recovered=of_turn(|turn| turn.recovered.then(|| "true".to_owned()))
        >
            <h2 class="question" id=heading dir="auto">
                <span class="visually-hidden">{text::QUESTION}": "</span>
                {of_turn(|turn| Some(turn.question.clone()))}
            </h2>
            <Reasoning cell=cell.clone() />
            <Answer cell=cell.clone() />
            <StateLine cell=cell.clone() />
            <Actions cell=cell.clone() />
            <div class="turn-foot">
                <Chain cell=cell.clone() />
                <ReceiptLine cell />
            </div>
        </article>
    }
}
