//! Where questions are written. It is never locked by an ask under way.

mod buttons;
mod field;
mod offers;

use leptos::prelude::*;

use self::buttons::Buttons;
use self::field::{COMPLAINT, QuestionField};
pub(crate) use self::field::{focus, focus_if_there_is_a_mouse};
use self::offers::OfferList;
use super::Page;
use super::icon::ARROW_DOWN;
use super::part::{button, part, sentence};
use super::scroll;
use crate::text;

/// The foot of the page.
#[component]
pub(super) fn Composer() -> impl IntoView {
    let Page { screen, .. } = expect_context();
    view! {
        <footer class="composer">
            {part(move || screen.new_text.get().then(new_text))}
            <OfferList />
            <div class="composer-box">
                <QuestionField />
                <Buttons />
            </div>
            <div id=COMPLAINT role="alert">
                {part(move || screen.complaint.get().map(|it| sentence("complaint", it)))}
            </div>
        </footer>
    }
}

fn new_text() -> AnyView {
    button("button new-text", Some(ARROW_DOWN), text::NEW_TEXT, scroll::to_end)
}
