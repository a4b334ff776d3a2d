//! The field itself.

use holdfast_protocol::limits::QUESTION_CHARS;
use leptos::html::Textarea;
use leptos::prelude::*;

use super::Page;
use crate::{screen, text};

/// A paste of more than this many UTF-16 units is refused outright: nobody shortens it by hand, and
/// a field that holds it makes the page crawl.
const PASTE_MOST: usize = 4 * QUESTION_CHARS;

/// A text field that grows with what is written.
#[component]
pub(super) fn QuestionField() -> impl IntoView {
    let Page { screen, driver } = expect_context();
    let field = NodeRef::<Textarea>::new();

    let asker = driver.clone();
    let on_keydown = move |event: web_sys::KeyboardEvent| {
        // An input method that confirms a word with Enter says so in one of two ways (Safari: 229).
        let composing = event.is_composing() || event.key_code() == 229;
        let plain = !(event.shift_key() || event.ctrl_key() || event.alt_key() || event.meta_key());
        if event.key() == "Enter" && plain && !composing {
            event.prevent_default();
            if !event.repeat() {
                asker.ask();
            }
        }
    };
    let on_paste = move |event: web_sys::ClipboardEvent| {
        let pasted = event.clipboard_data().and_then(|data| data.get_data("text/plain").ok());
        let length = pasted.map_or(0, |pasted| pasted.encode_utf16().count());
        if length > PASTE_MOST {
            event.prevent_default();
            screen.complaint.set(Some(text::paste_too_long(length, QUESTION_CHARS)));
        }
    };
    let on_input = move |event| {
        screen.draft.set(event_target_value(&event));
        screen::set(screen.complaint, None);
        driver.keep_draft();
    };
    Effect::new(move |before: Option<u32>| {
        let count = screen.focus.get();
        if before.is_some_and(|before| before != count)
            && let Some(field) = field.get_untracked()
        {
            let _ = field.focus();
        }
        count
    });

    view! {
        <textarea
            node_ref=field
            class="field"
            rows="1"
            dir="auto"
            autocomplete="off"
            enterkeyhint="send"
            aria-label=text::QUESTION
            placeholder=text::PLACEHOLDER
            aria-invalid=move || screen.complaint.with(Option::is_some).to_string()
            aria-describedby=move || screen.complaint.with(|it| it.is_some().then_some("complaint"))
            prop:value=move || screen.draft.get()
            on:keydown=on_keydown
            on:paste=on_paste
            on:input=on_input
        ></textarea>
    }
    .into_any()
}
