//! Typing errors: finds the known word that an unknown one was probably meant to be.
//! Only long words are corrected; short ones are too close to too many others.

use std::collections::BTreeSet;

use super::text::{self, Word};

/// From this length on, in characters, one slip is forgiven, and from the second on two.
const ONE_SLIP: usize = 6;
const TWO_SLIPS: usize = 10;

/// The known words.
pub(crate) struct Speller {
    words: BTreeSet<String>,
}

impl Speller {
    /// A speller that knows these words, folded.
    pub(crate) fn new(words: impl Iterator<Item = String>) -> Self {
        let is_worth = |word: &String| word.chars().count() + 1 >= ONE_SLIP && word.is_ascii();
        Self { words: words.filter(is_worth).collect() }
    }

    /// The known word closest to `folded`, if it is close enough and begins with the same letter.
    pub(crate) fn correct(&self, folded: &str) -> Option<Word> {
        let length = folded.chars().count();
        if length < ONE_SLIP || !folded.chars().all(char::is_alphabetic) {
            return None;
        }
        let slips = if length < TWO_SLIPS { 1 } else { 2 };
        let first = folded.chars().next();
        let near = self.words.iter().filter(|word| {
            word.chars().next() == first && word.chars().count().abs_diff(length) <= slips
        });
        near.map(|word| (strsim::osa_distance(word, folded), word))
            .filter(|(distance, _)| *distance <= slips)
            .min_by_key(|(distance, _)| *distance)
            .and_then(|(_, word)| text::words(word).into_iter().next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrected(word: &str) -> Option<String> {
        let known = ["browser", "notification", "answer", "key", "receipt"];
        let speller = Speller::new(known.into_iter().map(str::to_owned));
        speller.correct(word).map(|word| word.folded)
    }

    #[test]
    fn slips_are_forgiven_in_long_words() {
        assert_eq!(corrected("brwoser").as_deref(), Some("browser"));
        assert_eq!(corrected("notifcatoin").as_deref(), Some("notification"));
        assert_eq!(corrected("anwser").as_deref(), Some("answer"));
    }

    #[test]
    fn other_words_are_left_alone() {
        for word in ["recipe", "kew", "dancer", "", "日本語日本語日本語", "🦀🦀🦀🦀🦀🦀"]
        {
            assert_eq!(corrected(word), None, "{word}");
        }
    }
}
