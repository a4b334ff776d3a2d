//! A question that was asked again is one turn: which of its answers is shown, and the others.

use leptos::prelude::*;

use super::Page;
use crate::screen::TurnCell;
use crate::text;
use crate::ui::focus;
use crate::ui::icon::{LEFT, RIGHT};
use crate::ui::part::{button_unless, part, words};

/// ‹ 1/2 ›, where there is more than one.
#[component]
pub(super) fn Chain(cell: TurnCell) -> impl IntoView {
    let Page { driver, .. } = expect_context();
    let TurnCell { request_id, chain, .. } = cell;
    part(move || {
        let (at, count) = chain.get();
        (count > 1).then(|| {
            let step = |forward: bool, icon, label| {
                let none = if forward { at == count } else { at == 1 };
                let none = words(move || none.then(String::new));
                let go = move || {
                    // The button that was pressed goes with the answer it stands under.
                    if let Some(other) = driver.show_another(request_id, forward) {
                        let step = if forward { "last" } else { "first" };
                        focus::first_of([
                            format!("[data-request-id=\"{other}\"] .chain :{step}-child:enabled"),
                            format!("[data-request-id=\"{other}\"] .chain :enabled"),
                        ]);
                    }
                };
                button_unless(Some(none), "button quiet", Some(icon), label, go)
            };
            view! {
                <div class="chain" role="group" aria-label=text::ANSWERS>
                    {step(false, LEFT, text::PREVIOUS_ANSWER)}
                    <span>{format!("{at}/{count}")}</span>
                    {step(true, RIGHT, text::NEXT_ANSWER)}
                </div>
            }
            .into_any()
        })
    })
}
