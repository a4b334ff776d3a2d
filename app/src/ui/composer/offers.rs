//! Questions that came back while something else was being written.

use leptos::prelude::*;

use super::Page;
use crate::screen::Offer;
use crate::text;
use crate::ui::notices::strip;
use crate::ui::part::{button, list};

/// One line each.
#[component]
pub(super) fn OfferList() -> impl IntoView {
    let Page { screen, driver } = expect_context();
    let line = move |Offer { request_id, question, reason }| {
        let actions = vec![
            button("button", None, text::USE_IT, move || driver.take_offer(request_id)),
            button("button quiet", None, text::DISMISS, move || driver.drop_offer(request_id)),
        ];
        strip("strip offer", reason, question, actions)
    };
    list(move || screen.offers.get().into_iter().map(&line).collect())
}
