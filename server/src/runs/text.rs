//! A text read in pieces, by offsets in bytes.

use holdfast_protocol::Outcome;
use holdfast_protocol::limits::PAGE_BYTES;

/// Where to read on after so many bytes. An offset beyond the end, or inside a character, is none:
/// then from the beginning.
pub(super) fn resume(text: &str, after: u64) -> usize {
    usize::try_from(after).ok().filter(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The next piece: at most [`PAGE_BYTES`], and no character is cut. Empty where nothing follows.
pub(super) fn piece(text: &str, at: usize) -> &str {
    upto(text, at, PAGE_BYTES)
}

/// What follows `at`, at most so many bytes of it.
pub(super) fn upto(text: &str, at: usize, most: usize) -> &str {
    text.get(at..text.floor_char_boundary(at.saturating_add(most))).unwrap_or_default()
}

/// The outcome with only the piece of its answer's text that follows `after`. What is left out is not
/// copied.
pub(super) fn page(outcome: &Outcome, after: u64) -> Outcome {
    let answer = outcome.answer.as_ref().map(|answer| {
        let begin = resume(&answer.text, after);
        let mut page = answer.without_text();
        piece(&answer.text, begin).clone_into(&mut page.text);
        page.offset = begin as u64;
        page
    });
    outcome.with_answer(answer)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use holdfast_protocol::{Answer, ConversationId, RequestId, Status};
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn paged(text: &str, after: u64) -> (u64, String) {
        let id = Uuid::nil();
        let mut outcome =
            Outcome::bare(RequestId::new(id), ConversationId::new(id), Status::Completed, None);
        let bytes = text.len() as u64;
        outcome.answer = Some(Answer { text: text.to_owned(), bytes, ..Answer::default() });
        let answer = page(&outcome, after).answer.unwrap();
        assert_eq!(answer.bytes, bytes, "the whole stays as long as it is");
        (answer.offset, answer.text)
    }

    #[test]
    fn an_offset_leaves_what_follows_it() {
        assert_eq!(paged("aé", 0), (0, "aé".into()));
        assert_eq!(paged("aé", 1), (1, "é".into()));
        assert_eq!(paged("aé", 3), (3, String::new()));
    }

    #[test]
    fn an_offset_that_is_none_begins_anew() {
        assert_eq!(paged("aé", 2), (0, "aé".into()));
        assert_eq!(paged("aé", 4), (0, "aé".into()));
        assert_eq!(paged("aé", u64::MAX), (0, "aé".into()));
    }

    #[test]
    fn pages_joined_are_the_whole() {
        let whole = "é".repeat(PAGE_BYTES) + "a";
        let mut joined = String::new();
        while joined.len() < whole.len() {
            let (offset, text) = paged(&whole, joined.len() as u64);
            assert_eq!(offset, joined.len() as u64);
            assert!(!text.is_empty() && text.len() <= PAGE_BYTES);
            joined.push_str(&text);
        }
        assert_eq!(joined, whole);
    }

    proptest! {
        #[test]
        fn pieces_from_any_offset_join_to_what_follows_it(
            text in "(a|é|世|🌍){0,40}",
            after in 0..200_u64,
            most in 4..20_usize,
        ) {
            let begin = resume(&text, after);
            prop_assert!(begin == 0 || begin as u64 == after);
            let (mut at, mut joined) = (begin, String::new());
            while !upto(&text, at, most).is_empty() {
                let next = upto(&text, at, most);
                prop_assert!(next.len() <= most);
                joined.push_str(next);
                at += next.len();
            }
            prop_assert_eq!(&joined, text.get(begin..).unwrap());
        }
    }
}
