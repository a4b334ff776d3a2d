//! The whole screen, top to bottom.

use leptos::prelude::*;

use super::Page;
use super::composer::Composer;
use super::header::Header;
use super::part::{button, part, sentence};
use super::scroll;
use super::status::StatusRegion;
use crate::driver::Driver;
use crate::screen::{Later, Screen};
use crate::{clock, later, text};

/// Everything.
#[component]
pub(crate) fn App() -> impl IntoView {
    let online = window().navigator().on_line();
    let screen = Screen::new(online, clock::now());
    let driver = Driver::start(screen);
    let page = Page { screen, driver };
    provide_context(page);
    scroll::stay_at_end(screen);
    later::fetch(&screen.later);

    view! {
        {part(move || match screen.later.get() {
            Later::Here(drawn) => Some((drawn.beside)()),
            _ => None,
        })}
        <Header />
        <main>{part(move || draw(screen.later.get()))}</main>
        <Composer />
        <StatusRegion />
    }
}

fn draw(later: Later) -> Option<AnyView> {
    let reload = || _ = window().location().reload();
    match later {
        Later::Coming => None,
        Later::Delayed => Some(sentence("banner", text::PART_DELAYED)),
        Later::Missing => {
            let missing = sentence("banner", text::PART_MISSING);
            Some((missing, button("button", None, text::RELOAD, reload)).into_any())
        }
        Later::Here(drawn) => Some((drawn.within)()),
    }
}
