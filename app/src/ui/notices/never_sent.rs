//! Questions that another tab wrote down and never got accepted: offered, never sent unasked.

use leptos::prelude::*;

use super::Page;
use crate::screen::TurnCell;
use crate::text;
use crate::ui::turn::Actions;

/// One card each.
#[component]
pub(super) fn NeverSentList() -> impl IntoView {
    let Page { screen, .. } = expect_context();
    let card = |cell| view! { <NeverSentCard cell /> }.into_any();
    (move || screen.never_sent.get().into_iter().map(card).collect_view()).into_any()
}

#[component]
fn NeverSentCard(cell: TurnCell) -> impl IntoView {
    let (request_id, turn) = (cell.request_id, cell.turn.clone());
    view! {
        <div class="strip" data-offered=request_id.to_string()>
            <p class="strip-text">
                <span class="strip-label">{text::NEVER_SENT}</span>
                <span class="strip-question" dir="auto">
                    {move || turn.with(|turn| turn.question.clone())}
                </span>
            </p>
            <Actions cell />
        </div>
    }
    .into_any()
}
