//! A provider's own words, made fit to be shown and kept: short, on one line, free of secrets.
//!
//! For its messages about errors only. The answer's text never passes here, and never ends up in a
//! message.

use std::sync::LazyLock;

use regex::Regex;

use super::secret::Secret;

/// The longest quote, in characters.
pub(super) const CHARS: usize = 300;

/// What stands where a secret stood.
const REDACTED: &str = "[key]";

/// A configured key shorter than this is looked for nowhere: it would only tear words apart.
const KEY_BYTES_LEAST: usize = 4;

/// What looks like a key, whoever's it is: an authorization's credentials, the well-known prefixes,
/// and the value of something named like a key.
static KEY_LIKE: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the pattern is a constant that the tests compile")]
    Regex::new(concat!(
        r"(?i-u)",
        r"\b(?:bearer|basic)\s+[a-z0-9._~+/=*-]{6,}",
        r"|\b(?:sk|pk|rk|gsk|csk|xai|hf|r8|pplx|nvapi)[-_][a-z0-9_*-]{4,}",
        r"|\baiza[a-z0-9_*-]{8,}",
        r#"|(?:key|token|secret|password)(?:\s*=\s*|["']\s*:\s*["'])[a-z0-9._~+/=*%-]{6,}"#,
    ))
    .expect("the pattern is valid")
});

/// `text` as one line of at most [`CHARS`] characters without the key, without what looks like one,
/// and without control and direction marks; nothing if that leaves nothing.
pub(super) fn quote(text: &str, key: Option<&Secret>) -> Option<String> {
    // Marks go first, so that none can hide a key from what follows; the cut comes last, so that no
    // half of a key is left at the end.
    let text: String =
        text.chars().filter(|&char| char.is_whitespace() || !is_mark(char)).collect();
    let text = match key.map(Secret::expose).filter(|key| key.len() >= KEY_BYTES_LEAST) {
        Some(key) => text.replace(key, REDACTED),
        None => text,
    };
    let text = KEY_LIKE.replace_all(&text, REDACTED);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return None;
    }
    Some(match text.char_indices().nth(CHARS) {
        None => text,
        Some(_) => text.chars().take(CHARS - 1).chain(['…']).collect(),
    })
}

/// Whether a character shows nothing of its own but changes what is around it, or is no text at all.
fn is_mark(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(text: &str) -> String {
        quote(text, None).unwrap_or_default()
    }

    #[test]
    fn a_message_stays_as_it_is() {
        let message =
            "The model `llama-3.1` does not exist (task-force, risk-averse, API key: none).";
        assert_eq!(plain(message), message);
    }

    #[test]
    fn white_space_and_marks_are_put_in_order() {
        assert_eq!(
            plain(" a\r\n\tb\u{0}\u{1b}[31mc \u{202e}d\u{200b}e\u{2028}f "),
            "a b[31mc de f"
        );
        assert_eq!(quote(" \n\u{200b} ", None), None);
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let exact = "世".repeat(CHARS);
        assert_eq!(plain(&exact), exact);
        let cut = plain(&"🌍".repeat(CHARS + 1));
        assert_eq!(cut.chars().count(), CHARS);
        assert!(cut.ends_with("🌍…"));
    }

    #[test]
    fn what_looks_like_a_key_is_taken_out() {
        for (text, expected) in [
            (
                "Incorrect API key provided: sk-proj-AbC_12***9z.",
                "Incorrect API key provided: [key].",
            ),
            ("key 'gsk_abcd1234' is bad", "key '[key]' is bad"),
            ("got Authorization: Bearer eyJhbGci.OiJI-Uz_I1/+==", "got Authorization: [key]"),
            ("bearer  abcdef0123", "[key]"),
            ("https://x/v1?api_key=0123456789&a=b", "https://x/v1?api_[key]&a=b"),
            (r#"{"api_key": "0123456789"}"#, r#"{"api_[key]"}"#),
            ("AIzaSyA0123456789_-x", "[key]"),
            ("s\u{0}k-abc\u{200b}defgh", "[key]"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn a_key_at_the_cut_leaves_no_half_of_itself() {
        let key = Secret::new("0123456789abcdef").unwrap();
        let text = format!("{} 0123456789abcdef", "x".repeat(CHARS - 8));
        assert!(!quote(&text, Some(&key)).unwrap().contains("0123"));
    }

    proptest! {
        #[test]
        fn the_key_never_comes_through(key in "[!-~]{8,40}", before in ".{0,320}", after in ".{0,40}") {
            let secret = Secret::new(&key).unwrap();
            let quoted = quote(&format!("{before}{key}{after}"), Some(&secret)).unwrap();
            prop_assert!(!quoted.contains(&key), "{}", quoted);
            prop_assert!(quoted.chars().count() <= CHARS);
            prop_assert!(!quoted.chars().any(char::is_control));
        }
    }
}
