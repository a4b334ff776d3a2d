//! The whole screen, top to bottom.

use leptos::prelude::*;

use super::Page;
use super::composer::Composer;
use super::conversation::Conversation;
use super::header::Header;
use super::notices::Notices;
use super::scroll;
use super::status::StatusRegion;
use crate::clock;
use crate::driver::Driver;
use crate::screen::Screen;

/// Everything.
#[component]
pub(crate) fn App() -> impl IntoView {
    let online = window().navigator().on_line();
    let screen = Screen::new(online, clock::now());
    let driver = Driver::start(screen);
    let page = Page { screen, driver };
    provide_context(page);
    scroll::stay_at_end(screen);

    view! {
        <Header />
        <main>
            <Notices />
            <Conversation />
        </main>
        <Composer />
        <StatusRegion />
    }
}
