//! The conversations beside the chat; on a phone, a drawer.

mod row;
mod search;
mod undo;

use holdfast_protocol::ConversationId;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use self::row::{refocus, row};
use self::search::search;
use self::undo::undo;
use super::Page;
use super::part::{button, button_unless, part, sentence, words};
use super::{focus, instructions};
use crate::driver::unseen;
use crate::shelf::{Day, Instructions, Line, Shelf, TheShelf};
use crate::text;

/// The whole shelf.
pub(crate) fn draw() -> AnyView {
    let Page { screen, driver } = expect_context();
    let shelf = Shelf::start(screen, driver);
    let close = move || screen.shelf_open.set(false);
    let is_open = words(move || screen.shelf_open.get().then(|| "true".to_owned()));
    let on_keydown = move |event: web_sys::KeyboardEvent| {
        // What is open within is closed first.
        let is_within = shelf.renaming.with_untracked(Option::is_some)
            || shelf.instructions.with_untracked(Option::is_some);
        if event.key() == "Escape" && !is_within && !close_menu() {
            close();
            focus::on(".shelf-opener");
        }
    };
    // While it is a drawer, what it covers cannot be reached.
    Effect::new(move |_| cover(screen.shelf_open.get()));
    let on_resize = move |_| {
        // Beside the chat it is no drawer, and has no button that opens it.
        let opener = document().query_selector(".shelf-opener").ok().flatten();
        let opener = opener.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok());
        if opener.is_some_and(|it| it.offset_parent().is_none()) {
            close();
        }
    };
    window_event_listener_untyped("resize", on_resize);
    view! {
        <aside
            class="shelf"
            aria-label=text::CONVERSATIONS
            data-open=is_open
            on:keydown=on_keydown
        >
            {search(shelf)}
            <nav aria-label=text::CONVERSATIONS>
                <For each=move || lines(shelf) key=Standing::key children=move |line| line.draw(shelf) />
                {part(move || none(shelf))}
                {part(move || more(shelf))}
            </nav>
            {undo(shelf)}
            {part(move || shelf.instructions.get().map(|it| instruct(shelf, it)))}
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

/// The instructions of a conversation, while somebody looks at them.
fn instruct(shelf: TheShelf, Instructions { id, title, text }: Instructions) -> AnyView {
    on_cleanup(move || refocus(id));
    let close = move || shelf.instructions.set(None);
    let trouble = words(move || shelf.not_kept.get());
    instructions::dialog(Some(title), text, trouble, move |text| shelf.instruct(text), close)
}

/// What stands in the list.
enum Standing {
    /// Of a span of days, before its first row.
    Heading(Day, ConversationId),
    Row(ConversationId, Line),
}

impl Standing {
    /// A row changes in place, and what is open in it stays open.
    fn key(&self) -> String {
        match self {
            Self::Heading(day, first) => format!("{}{first}", heading(*day)),
            Self::Row(id, _) => id.to_string(),
        }
    }

    fn draw(self, of: TheShelf) -> AnyView {
        match self {
            Self::Heading(day, _) => view! { <h2 class="shelf-day">{heading(day)}</h2> }.into_any(),
            Self::Row(id, line) => row(of, id, line),
        }
    }
}

const fn heading(day: Day) -> &'static str {
    match day {
        Day::Today => text::TODAY,
        Day::Yesterday => text::YESTERDAY,
        Day::Week => text::THIS_WEEK,
        Day::Month => text::THIS_MONTH,
        Day::Earlier => text::BEFORE,
    }
}

/// The rows under their headings.
fn lines(shelf: TheShelf) -> Vec<Standing> {
    let mut lines = Vec::new();
    let mut day: Option<Day> = None;
    for line in shelf.rows.get() {
        let (id, of) = line.with_untracked(|row| (row.conversation.id, row.day));
        if day != Some(of) {
            day = Some(of);
            lines.push(Standing::Heading(of, id));
        }
        lines.push(Standing::Row(id, line));
    }
    lines
}

/// Why there are no rows.
fn none(shelf: TheShelf) -> Option<AnyView> {
    let is_searching = shelf.query.with(|query| !query.trim().is_empty());
    let why = if is_searching { text::NOTHING_FOUND } else { text::NO_CONVERSATIONS };
    let is_empty = shelf.rows.with(Vec::is_empty) && !shelf.is_new.get();
    is_empty.then(|| sentence("shelf-none", why))
}

/// A button, while there is a page after the last one.
fn more(shelf: TheShelf) -> Option<AnyView> {
    let there_is = shelf.next.with(Option::is_some);
    there_is.then(|| button("button quiet", None, text::MORE, move || shelf.more()))
}

/// Closes the menu that is open, if one is.
fn close_menu() -> bool {
    let menu = document().query_selector(".shelf-menu[open]").ok().flatten();
    let Some(menu) = menu else { return false };
    let _ = menu.remove_attribute("open");
    if let Some(summary) = menu.query_selector("summary").ok().flatten()
        && let Ok(summary) = summary.dyn_into::<web_sys::HtmlElement>()
    {
        let _ = summary.focus();
    }
    true
}

/// Whether a drawer lies over everything but itself.
fn cover(is_covered: bool) {
    for part in ["header.bar", "main", "footer"] {
        if let Some(part) = document().query_selector(part).ok().flatten() {
            let _ = part.toggle_attribute_with_force("inert", is_covered);
        }
    }
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
    let says = part(move || {
        let says = shelf.trouble.get().or_else(|| shelf.says.get());
        says.map(|it| sentence("shelf-says", it))
    });
    view! {
        <div class="shelf-foot">
            <div aria-live="polite">{says}</div>
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
        focus::on(search::FIELD);
    };
    let missing =
        words(move || (!screen.later.with(crate::screen::Later::is_here)).then(String::new));
    button_unless(
        Some(missing),
        "button quiet shelf-opener",
        Some(super::icon::LINES),
        text::CONVERSATIONS,
        open,
    )
}
