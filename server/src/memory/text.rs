//! Words of a text, as the search compares them: cut by Unicode's rules, folded, stemmed.
//! What the words mean to Holdfast stands in `lexicon`; nothing here knows a page.

use std::collections::HashSet;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use crate::search::fold;

/// The longest word that is looked at, in characters. A longer one is no word.
const WORD_CHARS: usize = 64;

/// A word in the forms the search needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Lower case, without accents.
    pub(crate) folded: String,
    /// The folded word without its English ending.
    pub(crate) stem: String,
    /// Whether it says nothing about the subject.
    pub(crate) is_stop: bool,
    /// Whether it was made of parts that follow it as words of their own (`provider_timeout`).
    pub(crate) is_compound: bool,
}

impl Word {
    fn new(folded: String, is_compound: bool) -> Self {
        let is_stop = STOP_WORDS.contains(folded.as_str());
        let stem = stem(&folded);
        Self { folded, stem, is_stop, is_compound }
    }
}

impl Word {
    /// Whether it is an English filler in another form, such as “ideas” for “idea”.
    pub(crate) fn is_form_of_stop_word(&self) -> bool {
        ENGLISH_STOP_STEMS.contains(&self.stem)
    }
}

/// The words of a text, in order.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for raw in text.unicode_words() {
        if raw.chars().nth(WORD_CHARS).is_some() {
            continue;
        }
        let folded = without_apostrophes(&fold(raw));
        let parts: Vec<&str> =
            folded.split(['_', '.', ':']).filter(|part| !part.is_empty()).collect();
        let is_number = folded.starts_with(|c: char| c.is_ascii_digit());
        if parts.len() > 1 && !is_number {
            words.push(Word::new(folded.clone(), true));
            words.extend(parts.into_iter().map(|part| Word::new(part.to_owned(), false)));
        } else if !folded.is_empty() {
            words.push(Word::new(folded, false));
        }
    }
    words
}

/// English contractions lose their ending or their apostrophe (`it's` → `it`, `don't` → `dont`),
/// French ones their article (`l'internet` → `internet`).
fn without_apostrophes(word: &str) -> String {
    let Some((head, tail)) = word.split_once(['\'', '’']) else {
        return word.to_owned();
    };
    match tail {
        "s" | "re" | "ve" | "ll" | "d" | "m" => head.to_owned(),
        "t" => format!("{head}{tail}"),
        _ if head.len() <= 2 => tail.replace(['\'', '’'], ""),
        _ => format!("{head}{}", tail.replace(['\'', '’'], "")),
    }
}

/// The stem of a folded word. Some keep their ending, because they are a subject of their own: a lost
/// connection is not about connecting a model, documentation not about a document.
pub(crate) fn stem(folded: &str) -> String {
    match folded {
        "connection" | "connections" | "connectivity" => "connection".to_owned(),
        "documentation" | "terminal" => folded.to_owned(),
        _ => STEMMER.stem(folded).into_owned(),
    }
}

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

static STOP_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| stop_words(|_| true).collect());

static ENGLISH_STOP_STEMS: LazyLock<HashSet<String>> =
    LazyLock::new(|| stop_words(|language| language == "en").map(stem).collect());

/// The fillers of the languages that `wanted` says yes to.
fn stop_words(wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = &'static str> {
    let lines = include_str!("stop_words.txt").lines().filter(|line| !line.starts_with('#'));
    let lines = lines.filter_map(|line| line.split_once(": "));
    lines
        .filter(move |(language, _)| wanted(language))
        .flat_map(|(_, list)| list.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.folded).collect()
    }

    #[test]
    fn words_are_folded_and_freed_of_apostrophes() {
        assert_eq!(folded("It's a Straße, l’Été!"), ["it", "a", "strasse", "ete"]);
        assert_eq!(folded("don't Don’t"), ["dont", "dont"]);
    }

    #[test]
    fn codes_are_found_whole_and_by_their_parts() {
        assert_eq!(folded("provider_timeout?"), ["provider_timeout", "provider", "timeout"]);
        assert_eq!(folded("127.0.0.1"), ["127.0.0.1"]);
    }

    #[test]
    fn endings_do_not_matter_but_a_connection_is_not_connecting() {
        let stems: Vec<String> =
            words("replies replied connections connecting").into_iter().map(|w| w.stem).collect();
        assert_eq!(stems, ["repli", "repli", "connection", "connect"]);
    }

    #[test]
    fn fillers_of_four_languages_say_nothing() {
        assert!(words("what happens wenn ich cuando quand").iter().all(|word| word.is_stop));
        assert!(words("receipt nginx").iter().all(|word| !word.is_stop));
    }
}
