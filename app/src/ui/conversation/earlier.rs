//! The way to the turns before the first one shown.

use leptos::prelude::*;

use super::Page;
use crate::text;
use crate::ui::part::{button, part};

/// A button, while there are earlier turns.
#[component]
pub(super) fn Earlier() -> impl IntoView {
    let Page { screen, driver } = expect_context();
    part(move || {
        screen.earlier.get().map(|_| {
            button("button quiet earlier", None, text::EARLIER, move || driver.load_earlier())
        })
    })
}
