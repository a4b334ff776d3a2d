//! What the document is called: as the conversation is, after how many answers came unseen.

use super::Driver;
use crate::text;

impl Driver {
    /// Names the document after the conversation in view.
    pub(super) fn name_document(&self) {
        let title = self.screen.title.get_untracked().or_else(|| {
            self.screen.turns.with_untracked(|turns| {
                Some(turns.first()?.turn.with_untracked(|turn| turn.question.clone()))
            })
        });
        let title = document_title(title.as_deref(), self.unseen.get());
        let document = leptos::prelude::document();
        if document.title() != title {
            document.set_title(&title);
        }
    }
}

fn document_title(name: Option<&str>, unseen: usize) -> String {
    let unseen = if unseen > 0 { format!("({unseen}) ") } else { String::new() };
    let words = name.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() {
        return unseen + text::PRODUCT;
    }
    let mut short: String = words.chars().take(60).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    format!("{unseen}{short} · {}", text::PRODUCT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(document_title(None, 0), "Holdfast");
        assert_eq!(document_title(Some(" a\n b "), 2), "(2) a b · Holdfast");
        assert_eq!(
            document_title(Some(&"é".repeat(61)), 0),
            format!("{}… · Holdfast", "é".repeat(60))
        );
    }
}
