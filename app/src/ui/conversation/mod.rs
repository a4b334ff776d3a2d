//! The conversation in view: its turns, or why there are none.

mod earlier;
mod empty;
mod loading;

use leptos::prelude::*;

use self::earlier::Earlier;
use self::empty::Empty;
use self::loading::LoadingLine;
use super::Page;
use super::part::part;
use super::turn::TurnArticle;
use crate::screen::Loading;
use crate::text;

/// The column of turns.
#[component]
pub(super) fn Conversation() -> impl IntoView {
    let Page { screen, .. } = expect_context();
    let is_empty =
        move || screen.turns.with(Vec::is_empty) && screen.loading.with(|it| *it == Loading::Idle);
    view! {
        <section class="conversation" aria-label=text::CONVERSATION>
            <Earlier />
            <LoadingLine />
            <For
                each=move || screen.turns.get()
                key=|cell| cell.request_id
                children=|cell| view! { <TurnArticle cell /> }.into_any()
            />
            {part(move || is_empty().then(|| view! { <Empty /> }.into_any()))}
        </section>
    }
}
