//! Scrolling: the page follows the text only while the reader is at its end.

use std::cell::Cell;

use leptos::prelude::*;
use wasm_bindgen::{JsCast as _, closure::Closure};

use crate::screen::Screen;

/// Nearer to the end than this, in CSS pixels, is at the end.
const NEAR: f64 = 24.0;

struct Position {
    top: f64,
    below: f64,
}

fn position() -> Option<Position> {
    let root = document().document_element()?;
    let top = window().scroll_y().unwrap_or_default();
    let below = f64::from(root.scroll_height()) - f64::from(root.client_height()) - top;
    Some(Position { top, below })
}

/// Whether the end of the conversation is in sight.
pub(crate) fn is_at_end() -> bool {
    position().is_none_or(|position| position.below <= NEAR)
}

/// Brings the end into sight.
pub(crate) fn to_end() {
    if let Some(root) = document().document_element() {
        window().scroll_to_with_x_and_y(0.0, f64::from(root.scroll_height()));
    }
}

/// Something will be put above what the reader sees: keeps that where it is. Browsers with scroll
/// anchoring do so themselves, unless the reader is at the very top.
pub(crate) fn keep_place() {
    let Some(root) = document().document_element() else { return };
    let (height, top) = (root.scroll_height(), window().scroll_y().unwrap_or_default());
    request_animation_frame(move || {
        let anchored = window().scroll_y().unwrap_or_default() - top > 1.0;
        let grown = f64::from(root.scroll_height() - height);
        if !anchored && grown > 0.0 {
            window().scroll_to_with_x_and_y(0.0, top + grown);
        }
    });
}

/// Brings the end into sight, and follows it from now on.
pub(crate) fn go_to_end(screen: &Screen) {
    screen.follows.set(true);
    screen.new_text.set(false);
    request_animation_frame(to_end);
}

/// Follows the end while the reader is there, and stops as soon as the reader scrolls up.
pub(super) fn stay_at_end(screen: &'static Screen) {
    let last_top = Cell::new(0.0);
    let on_scroll = Closure::<dyn Fn()>::new(move || {
        let Some(Position { top, below }) = position() else { return };
        let went_up = top < last_top.replace(top) - 1.0;
        // Near the end counts for somebody coming down; somebody leaving it is let go at once.
        if below <= 2.0 || (!went_up && below <= NEAR) {
            screen.follows.set(true);
            screen.new_text.set(false);
        } else if went_up {
            screen.follows.set(false);
        }
    });
    let _ = window().add_event_listener_with_callback("scroll", on_scroll.as_ref().unchecked_ref());
    on_scroll.forget();

    let on_resize = Closure::<dyn Fn()>::new(move || {
        if screen.follows.get_untracked() {
            to_end();
        }
    });
    if let (Ok(observer), Some(body)) =
        (web_sys::ResizeObserver::new(on_resize.as_ref().unchecked_ref()), document().body())
    {
        observer.observe(&body);
    }
    on_resize.forget();
}
