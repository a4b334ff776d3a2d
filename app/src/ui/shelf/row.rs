//! One conversation of the list: where it leads, how it stands, and what can be done with it.

use holdfast_protocol::ConversationId;
use holdfast_protocol::limits::TITLE_CHARS;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use super::Page;
use crate::shelf::{Line, TheShelf};
use crate::ui::focus;
use crate::ui::part::{button, part, words};
use crate::{net, route, text};

/// A link and a menu; or a field, while its title is being written.
pub(super) fn row(shelf: TheShelf, id: ConversationId, row: Line) -> AnyView {
    let draw = part(move || {
        let is_renamed = shelf.renaming.with(|renaming| *renaming == Some(id));
        Some(if is_renamed { rename(shelf, id, title(&row)) } else { line(shelf, id, &row) })
    });
    view! { <div class="shelf-row" data-id=id.to_string()>{draw}</div> }.into_any()
}

/// What it is called, this once.
fn title(row: &Line) -> String {
    row.with_untracked(|row| row.conversation.title.clone())
}

fn line(shelf: TheShelf, id: ConversationId, row: &Line) -> AnyView {
    let Page { screen, .. } = expect_context();
    let current =
        words(move || screen.view.with(|view| *view == Some(id)).then(|| "page".to_owned()));
    let (marked, called, found) = (row.clone(), row.clone(), row.clone());
    let mark = part(move || {
        // What is looked at is read.
        let is_read = screen.view.with(|view| *view == Some(id));
        let (kind, says) = marked.with(|row| match (row.conversation.pending > 0, row.unread) {
            (true, _) => Some(("working", text::WORKING_MARK)),
            (false, true) if !is_read => Some(("unread", text::UNREAD_MARK)),
            (false, _) => None,
        })?;
        let mark = view! {
            <span class="shelf-mark" data-mark=kind>
                <span class="visually-hidden">{says}</span>
            </span>
        };
        Some(mark.into_any())
    });
    let called = words(move || Some(called.with(|row| row.conversation.title.clone())));
    let excerpt = part(move || {
        let excerpt = found.with(|row| row.conversation.excerpt.clone())?;
        Some(view! { <span class="shelf-excerpt" dir="auto">{excerpt}</span> }.into_any())
    });
    view! {
        <a
            class="shelf-link"
            href=route::fragment(Some(id))
            aria-current=current
            on:click=move |_| screen.shelf_open.set(false)
        >
            {mark}
            <span class="shelf-title" dir="auto">{called}</span>
            {excerpt}
        </a>
        {menu(shelf, id, row)}
    }
    .into_any()
}

fn menu(shelf: TheShelf, id: ConversationId, row: &Line) -> AnyView {
    let (named, instructed, deleted) = (row.clone(), row.clone(), row.clone());
    let label = words(move || Some(named.with(|row| text::more_about(&row.conversation.title))));
    let rename = move || shelf.renaming.set(Some(id));
    let instruct = move || shelf.open_instructions(id, title(&instructed));
    let delete = move || shelf.delete(id, title(&deleted));
    let export = |format: &str, label: &'static str| {
        let href = net::shelf::export_path(id, format);
        view! { <a class="button quiet" href=href download="">{label}</a> }
    };
    // Open until something is chosen, or the focus goes elsewhere.
    let close = |event: web_sys::Event| {
        let within = event.current_target().and_then(|it| it.dyn_into::<web_sys::Element>().ok());
        if let Some(menu) = within.and_then(|it| it.closest("details").ok().flatten()) {
            let _ = menu.remove_attribute("open");
        }
    };
    let left = move |event: web_sys::FocusEvent| {
        let menu = event.current_target().and_then(|it| it.dyn_into::<web_sys::Node>().ok());
        let next = event.related_target().and_then(|it| it.dyn_into::<web_sys::Node>().ok());
        if next.is_some() && !menu.is_some_and(|menu| menu.contains(next.as_ref())) {
            close(event.into());
        }
    };
    view! {
        <details class="shelf-menu" on:focusout=left>
            <summary class="button quiet" aria-label=label>
                "⋯"
            </summary>
            <div class="shelf-choices" on:click=move |event| close(event.into())>
                {button("button quiet", None, text::RENAME, rename)}
                {button("button quiet", None, text::INSTRUCTIONS, instruct)}
                {export("markdown", text::EXPORT_MARKDOWN)} {export("json", text::EXPORT_JSON)}
                {button("button quiet", None, text::DELETE, delete)}
            </div>
        </details>
    }
    .into_any()
}

/// Puts the focus where it was before something was chosen from the menu of a conversation.
pub(super) fn refocus(id: ConversationId) {
    focus::on(format!(".shelf-row[data-id=\"{id}\"] summary"));
}

fn rename(shelf: TheShelf, id: ConversationId, title: String) -> AnyView {
    let field = NodeRef::<leptos::html::Input>::new();
    Effect::new(move |_| {
        if let Some(field) = field.get() {
            let _ = field.focus();
            field.select();
        }
    });
    let keep = move || {
        // A field that is taken away loses the focus as well.
        if shelf.renaming.with_untracked(|renaming| *renaming == Some(id))
            && let Some(field) = field.get_untracked()
        {
            shelf.rename(id, field.value());
        }
    };
    // By the keyboard: where else it would go is nowhere.
    let keep_and_stay = move || {
        keep();
        refocus(id);
    };
    let on_keydown = move |event: web_sys::KeyboardEvent| {
        let composing = event.is_composing() || event.key_code() == 229;
        match event.key().as_str() {
            "Enter" if !composing => keep_and_stay(),
            "Escape" => {
                shelf.keep_title();
                refocus(id);
            }
            _ => {}
        }
    };
    view! {
        <input
            node_ref=field
            class="shelf-rename"
            dir="auto"
            autocomplete="off"
            maxlength=TITLE_CHARS.to_string()
            aria-label=text::TITLE
            value=title
            on:keydown=on_keydown
            on:blur=move |_| keep()
        />
    }
    .into_any()
}
