//! The field itself.

use holdfast_protocol::limits::QUESTION_CHARS;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use super::Page;
use crate::text;
use crate::ui::part::words;

/// A paste of more than this many UTF-16 units is refused outright: nobody shortens it by hand, and
/// a field that holds it makes the page crawl.
const PASTE_MOST: usize = 4 * QUESTION_CHARS;

const FIELD: &str = "question";
/// The id of what says why a question was not sent.
pub(super) const COMPLAINT: &str = "complaint";

/// Puts the focus where questions are written.
pub(crate) fn focus() {
    let field = document().get_element_by_id(FIELD);
    if let Some(field) = field.and_then(|field| field.dyn_into::<web_sys::HtmlElement>().ok()) {
        let _ = field.focus();
    }
}

/// The same when the page starts, where that does not bring up a keyboard over half of it.
pub(crate) fn focus_if_there_is_a_mouse() {
    let mouse = window().match_media("(hover: hover) and (pointer: fine)");
    if mouse.ok().flatten().is_some_and(|mouse| mouse.matches()) {
        focus();
    }
}

/// A text field that grows with what is written.
#[component]
pub(super) fn QuestionField() -> impl IntoView {
    let Page { screen, driver } = expect_context();

    let on_keydown = move |event: web_sys::KeyboardEvent| {
        // An input method that confirms a word with Enter says so in one of two ways (Safari: 229).
        let composing = event.is_composing() || event.key_code() == 229;
        let plain = !(event.shift_key() || event.ctrl_key() || event.alt_key() || event.meta_key());
        if event.key() == "Enter" && plain && !composing {
            event.prevent_default();
            if !event.repeat() {
                driver.ask();
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
        screen.complaint.set(None);
        driver.keep_draft();
    };
    let complains = move || screen.complaint.with(Option::is_some);
    let invalid = words(move || complains().then(|| "true".to_owned()));
    let described_by = words(move || complains().then(|| COMPLAINT.to_owned()));
    view! {
        <textarea
            id=FIELD
            class="field"
            rows="1"
            dir="auto"
            autocomplete="off"
            enterkeyhint="send"
            aria-label=text::QUESTION
            placeholder=text::PLACEHOLDER
            aria-invalid=invalid
            aria-describedby=described_by
            prop:value=move || screen.draft.get()
            on:keydown=on_keydown
            on:paste=on_paste
            on:input=on_input
        ></textarea>
    }
}
