//! The bar at the top: the product, the model, and a new chat.

mod model;

use leptos::prelude::*;

use self::model::ModelName;
use super::Page;
use super::icon::PLUS;
use super::part::button;
use super::shelf::opener;
use crate::text;

/// The bar at the top.
#[component]
pub(super) fn Header() -> impl IntoView {
    let Page { driver, .. } = expect_context();
    view! {
        <header class="bar">
            {opener()}
            <h1 class="wordmark">{text::PRODUCT}</h1>
            <ModelName />
            {button("button quiet", Some(PLUS), text::NEW_CHAT, move || driver.new_chat())}
        </header>
    }
}
