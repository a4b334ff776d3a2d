//! One conversation of the list: where it leads, how it stands, and what can be done with it.

use holdfast_protocol::ConversationId;
use holdfast_protocol::limits::TITLE_CHARS;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use super::Page;
use crate::shelf::{Row, TheShelf};
use crate::ui::part::{button, part, words};
use crate::{net, route, text};

/// A link and a menu; or a field, while its title is being written.
pub(super) fn row(shelf: TheShelf, row: Row) -> AnyView {
    let id = row.conversation.id;
    let draw = part(move || {
        let is_renamed = shelf.renaming.with(|renaming| *renaming == Some(id));
        let title = row.conversation.title.clone();
        Some(if is_renamed { rename(shelf, id, title) } else { line(shelf, &row) })
    });
    view! { <div class="shelf-row">{draw}</div> }.into_any()
}

fn line(shelf: TheShelf, row: &Row) -> AnyView {
    let Page { screen, .. } = expect_context();
    let conversation = &row.conversation;
    let id = conversation.id;
    let current =
        words(move || screen.view.with(|view| *view == Some(id)).then(|| "page".to_owned()));
    // What is looked at is read.
    let unread = row.unread && screen.view.get_untracked() != Some(id);
    let mark = match (conversation.pending > 0, unread) {
        (true, _) => Some(("working", text::WORKING_MARK)),
        (false, true) => Some(("unread", text::UNREAD_MARK)),
        (false, false) => None,
    };
    let mark = mark.map(|(kind, says)| {
        view! {
            <span class="shelf-mark" data-mark=kind>
                <span class="visually-hidden">{says}</span>
            </span>
        }
    });
    let excerpt = conversation.excerpt.clone().map(|excerpt| {
        view! { <span class="shelf-excerpt" dir="auto">{excerpt}</span> }
    });
    view! {
        <a
            class="shelf-link"
            href=route::fragment(Some(id))
            aria-current=current
            on:click=move |_| screen.shelf_open.set(false)
        >
            {mark}
            <span class="shelf-title" dir="auto">{conversation.title.clone()}</span>
            {excerpt}
        </a>
        {menu(shelf, id, &conversation.title)}
    }
    .into_any()
}

fn menu(shelf: TheShelf, id: ConversationId, title: &str) -> AnyView {
    let label = text::more_about(title);
    let title = title.to_owned();
    let rename = move || shelf.renaming.set(Some(id));
    let named = title.clone();
    let instruct = move || shelf.open_instructions(id, named.clone());
    let delete = move || shelf.delete(id, title.clone());
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
    let on_keydown = move |event: web_sys::KeyboardEvent| {
        let composing = event.is_composing() || event.key_code() == 229;
        match event.key().as_str() {
            "Enter" if !composing => keep(),
            "Escape" => shelf.keep_title(),
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
