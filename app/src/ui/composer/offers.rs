//! Questions that came back while something else was being written.

use leptos::prelude::*;

use super::Page;
use crate::screen::Offer;
use crate::text;

/// One card each.
#[component]
pub(super) fn OfferList() -> impl IntoView {
    let Page { screen, .. } = expect_context();
    let card = |offer| view! { <OfferCard offer /> }.into_any();
    (move || screen.offers.get().into_iter().map(card).collect_view()).into_any()
}

#[component]
fn OfferCard(offer: Offer) -> impl IntoView {
    let Page { driver, .. } = expect_context();
    let request_id = offer.request_id;
    let taker = driver.clone();
    view! {
        <div class="strip offer" data-returned=request_id.to_string()>
            <p class="strip-text">
                <span class="strip-label">{offer.reason}</span>
                <span class="strip-question" dir="auto">{offer.question}</span>
            </p>
            <button type="button" class="button" on:click=move |_| taker.take_offer(request_id)>
                {text::USE_IT}
            </button>
            <button
                type="button"
                class="button quiet"
                on:click=move |_| driver.drop_offer(request_id)
            >
                {text::DISMISS}
            </button>
        </div>
    }
    .into_any()
}
