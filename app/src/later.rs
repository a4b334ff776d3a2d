//! The part of the page that is fetched once the first question can be asked: all that is drawn of
//! conversations. Here: where the page is split, and fetching the rest of it. Not here: what is in
//! either part; whatever only [`viewing`] reaches goes with it by itself.
//!
//! *Architecture invariant:* asking, stopping and recovering need nothing of the later part. Without
//! it questions go out, pointers are kept and answers are looked up; they are only not drawn.

use std::time::Duration;

use leptos::leptos_dom::helpers::set_timeout;
use wasm_split_helpers::SplitLoaderError;

use crate::field::Field;
use crate::screen::{Drawn, Later};
use crate::{task, ui};

/// How often it is tried, with a pause of 1, 2, 4 … seconds in between.
const ATTEMPTS: u32 = 5;

/// Fetches it, and says on the way how far that is.
pub(crate) fn fetch(later: &'static Field<Later>) {
    attempt(later, 1);
}

fn attempt(later: &'static Field<Later>, number: u32) {
    task::spawn(async move {
        let state = match viewing().await {
            Ok(draw) => Later::Here(draw),
            Err(_) if number < ATTEMPTS => {
                let pause = Duration::from_secs(1 << (number - 1));
                set_timeout(move || attempt(later, number + 1), pause);
                Later::Delayed
            }
            Err(_) => Later::Missing,
        };
        later.update(|later| *later = state);
    });
}

#[cfg(split)]
#[wasm_split_helpers::wasm_split(viewing, fallible)]
fn viewing() -> Result<Drawn, SplitLoaderError> {
    Ok(ui::VIEWING)
}

/// A page in one part: it is here already.
#[cfg(not(split))]
fn viewing() -> impl Future<Output = Result<Drawn, SplitLoaderError>> {
    std::future::ready(Ok(ui::VIEWING))
}
