//! The conversations beside the chat; on a phone, a drawer.

mod row;
mod search;
mod undo;

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use self::row::row;
use self::search::search;
use self::undo::undo;
use super::Page;
use super::part::{button, button_unless, part, sentence, words};
use crate::driver::unseen;
use crate::shelf::{Day, Shelf, TheShelf};
use crate::text;

/// The name by which the button in the bar finds it.
pub(super) const SHELF: &str = "shelf";

/// The whole shelf.
pub(crate) fn draw() -> AnyView {
    let Page { screen, driver } = expect_context();
    let shelf = Shelf::start(screen, driver);
    let close = move || screen.shelf_open.set(false);
    let is_open =
        move |open: &'static str| words(move || screen.shelf_open.get().then(|| open.to_owned()));
    let rows = part(move || Some(groups(shelf)));
    let on_keydown = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Escape" && shelf.renaming.with_untracked(Option::is_none) {
            close();
        }
    };
    view! {
        <aside
            id=SHELF
            class="shelf"
            aria-label=text::CONVERSATIONS
            data-open=is_open("true")
            on:keydown=on_keydown
        >
            {search(shelf)}
            <nav aria-label=text::CONVERSATIONS>{rows}</nav>
            {undo(shelf)}
            {foot(shelf)}
        </aside>
        {part(move || {
            screen
                .shelf_open
                .get()
                .then(|| button("shelf-shade", None, text::CLOSE_CONVERSATIONS, close))
        })}
    }
    .into_any()
}

/// The rows under their headings, or why there are none.
fn groups(shelf: TheShelf) -> AnyView {
    let mut drawn = Vec::new();
    let mut day: Option<Day> = None;
    for line in shelf.rows.get() {
        if day != Some(line.day) {
            day = Some(line.day);
            drawn.push(view! { <h2 class="shelf-day">{text::day(line.day)}</h2> }.into_any());
        }
        drawn.push(row(shelf, line));
    }
    let is_searching = shelf.query.with(|query| !query.trim().is_empty());
    match (drawn.is_empty(), shelf.is_new.get(), is_searching) {
        (true, false, false) => drawn.push(sentence("shelf-none", text::NO_CONVERSATIONS)),
        (true, false, true) => drawn.push(sentence("shelf-none", text::NOTHING_FOUND)),
        _ => {}
    }
    if shelf.next.with(Option::is_some) {
        drawn.push(button("button quiet", None, text::MORE, move || shelf.more()));
    }
    drawn.into_any()
}

/// What came of the last act, and bringing conversations in.
fn foot(shelf: TheShelf) -> AnyView {
    let chosen = move |event: web_sys::Event| {
        let input = event.target().and_then(|it| it.dyn_into::<web_sys::HtmlInputElement>().ok());
        let Some(input) = input else { return };
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            shelf.import(file);
        }
        // So that the same file can be chosen again.
        input.set_value("");
    };
    // Asked for once; then the browser's own settings say.
    let may_ask = RwSignal::new(unseen::may_ask());
    let ask = move || unseen::ask(move || may_ask.set(unseen::may_ask()));
    let notify =
        part(move || may_ask.get().then(|| button("button quiet", None, text::NOTIFY, ask)));
    let says = part(move || shelf.says.get().map(|it| sentence("shelf-says", it)));
    view! {
        <div class="shelf-foot">
            <div role="status">{says}</div>
            {notify}
            <label class="button quiet">
                {text::IMPORT}
                <input class="visually-hidden" type="file" accept=".json,application/json" on:change=chosen />
            </label>
        </div>
    }
    .into_any()
}

/// The button in the bar that opens the drawer.
pub(super) fn opener() -> AnyView {
    let Page { screen, .. } = expect_context();
    let open = move || {
        screen.shelf_open.set(true);
        if let Some(search) = document().get_element_by_id(search::FIELD)
            && let Ok(search) = search.dyn_into::<web_sys::HtmlElement>()
        {
            let _ = search.focus();
        }
    };
    let missing =
        words(move || (!screen.later.with(crate::later::Later::is_here)).then(String::new));
    button_unless(
        Some(missing),
        "button quiet shelf-opener",
        Some(super::icon::LINES),
        text::CONVERSATIONS,
        open,
    )
}
