//! One sentence each about the line, signing in and storage.

use leptos::prelude::*;

use super::Page;
use crate::screen::StorageTrouble;
use crate::text;

/// The sentences that hold now.
#[component]
pub(super) fn Banners() -> impl IntoView {
    let Page { screen, .. } = expect_context();
    let line = move || {
        if !screen.online.get() {
            Some(text::OFFLINE)
        } else if screen.unreachable.get() {
            Some(text::SERVER_UNREACHABLE)
        } else {
            None
        }
    };
    let sign_in = move || screen.sign_in.get().then_some(text::SIGN_IN);
    let storage = move || {
        screen.storage.get().map(|trouble| match trouble {
            StorageTrouble::ClosingLoses => text::CLOSING_LOSES,
            StorageTrouble::ReloadLoses => text::RELOAD_LOSES,
        })
    };
    view! {
        <Banner sentence=Signal::derive(line) />
        <Banner sentence=Signal::derive(sign_in) />
        <Banner sentence=Signal::derive(storage) />
    }
    .into_any()
}

#[component]
fn Banner(sentence: Signal<Option<&'static str>>) -> impl IntoView {
    let banner = |sentence| view! { <p class="banner">{sentence}</p> }.into_any();
    (move || sentence.get().map(banner)).into_any()
}
