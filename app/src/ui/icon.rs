//! Icons, drawn inline so that none is fetched. All are decoration: what they mean stands in words.

use leptos::prelude::*;

/// One icon of 20 by 20, in the colour of the text around it.
#[component]
pub(super) fn Icon(
    /// The path, for a stroke.
    path: &'static str,
) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
            <path d=path />
        </svg>
    }
}

pub(super) const ARROW_UP: &str = "M10 16V4.5M5 9l5-5 5 5";
pub(super) const ARROW_DOWN: &str = "M10 4v11.5M5 11l5 5 5-5";
pub(super) const LINES: &str = "M3.5 6h13M3.5 10h13M3.5 14h13";
pub(super) const LEFT: &str = "M12 4.5 6.5 10l5.5 5.5";
pub(super) const RIGHT: &str = "M8 4.5 13.5 10 8 15.5";
pub(super) const SQUARE: &str = "M6 6h8v8H6z";
pub(super) const PLUS: &str = "M10 4v12M4 10h12";
