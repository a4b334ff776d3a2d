//! Questions that another tab wrote down and never got accepted: offered, never sent unasked.

use leptos::prelude::*;

use super::Page;
use super::strip::strip;
use crate::screen::TurnCell;
use crate::text;
use crate::ui::part::list;
use crate::ui::turn::Actions;

/// One line each.
#[component]
pub(super) fn NeverSentList() -> impl IntoView {
    let Page { screen, .. } = expect_context();
    let line = |cell: TurnCell| {
        let question = cell.turn.with_untracked(|turn| turn.question.clone());
        let actions = vec![view! { <Actions cell /> }.into_any()];
        strip("strip", text::NEVER_SENT.to_owned(), question, actions)
    };
    list(move || screen.never_sent.get().into_iter().map(line).collect())
}
