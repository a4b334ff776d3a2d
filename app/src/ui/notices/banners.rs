//! One sentence each about the line, signing in and storage.

use leptos::prelude::*;

use super::Page;
use crate::screen::StorageTrouble;
use crate::text;
use crate::ui::part::{list, sentence};

/// The sentences that hold now.
#[component]
pub(super) fn Banners() -> impl IntoView {
    let Page { screen, .. } = expect_context();
    let line = move || match (screen.online.get(), screen.unreachable.get()) {
        (false, _) => Some(text::OFFLINE),
        (true, true) => Some(text::SERVER_UNREACHABLE),
        (true, false) => None,
    };
    let sign_in = move || screen.sign_in.get().then_some(text::SIGN_IN);
    let storage = move || match screen.storage.get()? {
        StorageTrouble::ClosingLoses => Some(text::CLOSING_LOSES),
        StorageTrouble::ReloadLoses => Some(text::RELOAD_LOSES),
    };
    list(move || {
        [line(), sign_in(), storage()]
            .into_iter()
            .flatten()
            .map(|it| sentence("banner", it))
            .collect()
    })
}
