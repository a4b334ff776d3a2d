//! The bar at the top: the product, the model, and a new chat.

mod model;

use leptos::prelude::*;

use self::model::ModelName;
use super::Page;
use super::icon::{Icon, PLUS};
use crate::text;

/// The bar at the top.
#[component]
pub(super) fn Header() -> impl IntoView {
    let Page { driver, .. } = expect_context();
    view! {
        <header class="bar">
            <h1 class="wordmark">{text::PRODUCT}</h1>
            <ModelName />
            <button type="button" class="button quiet" on:click=move |_| driver.new_chat()>
                <Icon path=PLUS />
                {text::NEW_CHAT}
            </button>
        </header>
    }
    .into_any()
}
