//! The title of a conversation, from its first question.

use unicode_segmentation::UnicodeSegmentation as _;

/// Graphemes of a title that is cut, the ellipsis not counted.
const GRAPHEMES: usize = 60;

/// The question on one line, cut between two graphemes where it is too long: a character that people
/// see as one is never halved.
pub fn title_of(question: &str) -> String {
    let line = question.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.grapheme_indices(true).nth(GRAPHEMES) {
        None => line,
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_question_is_its_own_title_on_one_line() {
        assert_eq!(title_of("Why is\n  the sky\tblue?"), "Why is the sky blue?");
    }

    #[test]
    fn a_long_one_is_cut_between_graphemes() {
        let family = "👨‍👩‍👧‍👦";
        assert_eq!(title_of(&family.repeat(70)), format!("{}…", family.repeat(60)));
        assert_eq!(title_of(&"e\u{301}".repeat(60)), "e\u{301}".repeat(60));
        assert_eq!(title_of(&format!("{} b", "a".repeat(59))), format!("{}…", "a".repeat(59)));
    }
}
