//! The whole screen, top to bottom.

use leptos::prelude::*;
use send_wrapper::SendWrapper;

use super::Page;
use super::composer::Composer;
use super::conversation::Conversation;
use super::header::Header;
use super::notices::Notices;
use super::scroll;
use super::status::StatusRegion;
use crate::driver::Driver;
use crate::screen::Screen;
use crate::{clock, text};

/// Everything.
#[component]
pub(crate) fn App() -> impl IntoView {
    let online = window().navigator().on_line();
    let screen = Screen::new(online, clock::now());
    let driver = SendWrapper::new(Driver::start(screen));
    let page = Page { screen, driver };
    provide_context(page.clone());
    name_document(screen);
    scroll::stay_at_end(&page);

    view! {
        <Header />
        <main>
            <Notices />
            <Conversation />
        </main>
        <Composer />
        <StatusRegion />
    }
    .into_any()
}

/// The document is called as the conversation is.
fn name_document(screen: Screen) {
    Effect::new(move |_| {
        let first_question = move || {
            screen.turns.with(|turns| {
                turns.first().map(|cell| cell.turn.with(|turn| turn.question.clone()))
            })
        };
        let name = screen.title.get().or_else(first_question);
        document().set_title(&title(name.as_deref()));
    });
}

fn title(name: Option<&str>) -> String {
    let words = name.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() {
        return text::PRODUCT.to_owned();
    }
    let mut short: String = words.chars().take(60).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    format!("{short} · {}", text::PRODUCT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(title(None), "Holdfast");
        assert_eq!(title(Some(" a\n b ")), "a b · Holdfast");
        assert_eq!(title(Some(&"é".repeat(61))), format!("{}… · Holdfast", "é".repeat(60)));
    }
}
