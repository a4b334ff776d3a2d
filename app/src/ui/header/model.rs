//! Which model answers, and whether it can.

use holdfast_protocol::{ModelState, Session};
use leptos::prelude::*;

use super::super::part::words;
use super::Page;
use crate::text;

/// The default model in small words; the operator's untaken offers in its tooltip.
#[component]
pub(super) fn ModelName() -> impl IntoView {
    let Page { screen, .. } = expect_context();
    let described = words(move || screen.session.with(|session| describe(session.as_ref()?)));
    let offers = words(move || {
        screen.session.with(|session| session.as_ref().map(|session| session.offers.join("\n")))
    });
    view! {
        <p class="model" title=offers>
            {described}
        </p>
    }
}

fn describe(session: &Session) -> Option<String> {
    let model = session.models.iter().find(|model| model.default).or(session.models.first())?;
    let name =
        if model.provider == "notes" { text::FROM_HANDBOOK.to_owned() } else { model.name.clone() };
    Some(match model.state {
        ModelState::Ready => name,
        ModelState::Unreachable => format!("{name} · {}", text::UNREACHABLE_MODEL),
        ModelState::KeyMissing => format!("{name} · {}", text::KEY_MISSING),
    })
}
