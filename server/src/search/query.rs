//! What is looked for: words, all of which must be in one turn.

use std::ops::ControlFlow;

use unicode_segmentation::UnicodeSegmentation as _;

use super::words::{Kind, cut, tokens};

/// How many words of a query count; what follows is not looked for.
const ITEMS_MOST: usize = 64;
/// How many tokens of a query count.
const TOKENS_MOST: usize = 256;
/// Graphemes that are shown before what was found …
const BEFORE: usize = 40;
/// … and from there on.
const FROM: usize = 120;

/// A query, cut as the texts are that it is looked for in. It holds letters and digits alone, so that
/// nothing in it can mean anything to an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    items: Vec<Item>,
}

/// What stands without white space between: one word, or several that must follow one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    tokens: Vec<String>,
    is_beginning: bool,
}

impl Item {
    /// The tokens, at least one, which must follow one another.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// Whether the last of them may also be the beginning of a longer one.
    pub const fn is_beginning(&self) -> bool {
        self.is_beginning
    }

    /// Where it is found first in a text, in bytes.
    fn position(&self, text: &str) -> Option<usize> {
        // The tokens read last, as many as it has, with where each begins.
        let mut window: Vec<(String, usize)> = Vec::with_capacity(self.tokens.len());
        let mut found = None;
        cut(text, |token| {
            if window.len() == self.tokens.len() {
                window.remove(0);
            }
            window.push((token.text, token.start));
            if !self.is_met_by(&window) {
                return ControlFlow::Continue(());
            }
            found = window.first().map(|(_, start)| *start);
            ControlFlow::Break(())
        });
        found
    }

    fn is_met_by(&self, window: &[(String, usize)]) -> bool {
        let Some(((last, _), before)) = window.split_last() else { return false };
        let Some((wanted, others)) = self.tokens.split_last() else { return false };
        let is_last = if self.is_beginning { last.starts_with(wanted) } else { last == wanted };
        is_last && before.iter().map(|(token, _)| token).eq(others)
    }
}

impl Query {
    /// Cuts what somebody looks for. The last word counts as the beginning of one, for it may still be
    /// being typed.
    pub fn parse(text: &str) -> Self {
        let mut items = Vec::new();
        let mut left = TOKENS_MOST;
        let words: Vec<_> = text.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            let is_last = at + 1 == words.len();
            if let Some(item) = item(word, is_last, left) {
                left -= item.tokens.len();
                items.push(item);
            }
            if left == 0 || items.len() == ITEMS_MOST {
                break;
            }
        }
        Self { items }
    }

    /// Its words. A text without any asks for nothing, and is found nowhere.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whether a turn holds all of it.
    pub fn finds(&self, question: &str, answer: &str) -> bool {
        let is_in_turn =
            |item: &Item| item.position(question).is_some() || item.position(answer).is_some();
        !self.items.is_empty() && self.items.iter().all(is_in_turn)
    }

    /// The text around what was found first: of the question, or else of the answer. One line of plain
    /// text, cut between graphemes.
    pub fn excerpt(&self, question: &str, answer: &str) -> Option<String> {
        let first = |text| self.items.iter().filter_map(|item| item.position(text)).min();
        let (text, at) = first(question)
            .map(|at| (question, at))
            .or_else(|| first(answer).map(|at| (answer, at)))?;
        Some(around(text, at))
    }
}

/// The item that a word is, of at most so many tokens.
fn item(word: &str, is_last: bool, most: usize) -> Option<Item> {
    let mut cut = tokens(word);
    // One character of a run is the beginning of a pair, wherever it stands in the query; and a word
    // is complete where something follows it, if only a full stop.
    let is_alone = |at: usize| at == 0 || cut.get(at - 1).is_none_or(|it| it.kind != Kind::Pair);
    let is_beginning = match cut.last() {
        Some(last) if last.kind == Kind::Last => is_alone(cut.len() - 1),
        Some(last) => is_last && last.end == word.len(),
        None => return None,
    };
    if cut.last().is_some_and(|last| last.kind == Kind::Last) && !is_beginning {
        // A run may go on where the query's ends.
        cut.pop();
    }
    let is_whole = cut.len() <= most;
    cut.truncate(most);
    let tokens = cut.into_iter().map(|token| token.text).collect();
    Some(Item { tokens, is_beginning: is_beginning && is_whole })
}

/// The text around a place in it.
fn around(text: &str, at: usize) -> String {
    let (before, from) = text.split_at_checked(at).unwrap_or(("", text));
    let start = before.grapheme_indices(true).rev().nth(BEFORE - 1).map_or(0, |(start, _)| start);
    let end = from.grapheme_indices(true).nth(FROM).map_or(text.len(), |(end, _)| at + end);
    let words: Vec<_> = text.get(start..end).unwrap_or_default().split_whitespace().collect();
    let (open, close) = (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    format!("{open}{}{close}", words.join(" ").replace('\0', ""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finds(query: &str, text: &str) -> bool {
        Query::parse(query).finds(text, "")
    }

    #[test]
    fn two_characters_are_found_wherever_they_stand() {
        let text = "明日の天気予報は晴れです。";
        for query in ["天気", "予報", "気予報", "晴れ", "明日の天気", "晴", "す", "です。"]
        {
            assert!(finds(query, text), "{query}");
        }
        for query in ["気天", "報晴", "日天", "です明", "雲", "天予"] {
            assert!(!finds(query, text), "{query}");
        }
    }

    #[test]
    fn a_phrase_ends_where_a_run_does() {
        assert!(!finds("天気予報", "天気、予報"));
        assert!(!finds("気予", "天気 予報"));
        assert!(!finds("ab", "a b"));
        assert!(finds("天気 予報", "予報と天気"));
        assert!(finds("手机iphone", "我的手机iPhone"));
        assert!(finds("iphone手", "iPhone手机"));
        assert!(!finds("手iphone", "手机iPhone"));
    }

    #[test]
    fn a_short_word_beside_a_long_one_finds_what_holds_both() {
        assert!(finds("天気 internationalisation", "Internationalisation der 天気予報"));
        assert!(!finds("天気 internationalisation", "Internationalisation der 気天"));
        assert!(!finds("天気 internationalisation", "天気予報"));
    }

    #[test]
    fn all_words_must_be_in_one_turn_and_the_last_may_be_a_beginning() {
        let query = Query::parse("blue sk");
        assert!(query.finds("Why is the sky", "It is blue."));
        assert!(!query.finds("Why is the sky", "It is red."));
        assert!(!finds("sk blue", "sky blue"), "only the last");
        assert!(!finds("sk.", "sky"), "not where it is over");
        assert!(finds("STRASSE", "Straße") && finds("uber", "überträgt"));
        assert!(finds("provider_timeout", "code provider_timeout!") && finds("don't", "I don’t"));
        assert!(!finds("well-known", "known as well"));
    }

    #[test]
    fn what_has_no_letters_asks_for_nothing() {
        for query in ["", " ", "?!", "\"", "*", "\0", "😀", "( ) ^ - + :"] {
            assert_eq!(Query::parse(query).items(), [], "{query}");
            assert!(!finds(query, "? ! \" * \0 😀"), "{query}");
        }
    }

    #[test]
    fn a_query_has_bounds() {
        let words = |query: &str| Query::parse(query).items().len();
        assert_eq!(words(&"a ".repeat(1000)), ITEMS_MOST);
        let item = Query::parse(&"天".repeat(30_000)).items().first().map(|it| it.tokens().len());
        assert_eq!(item, Some(TOKENS_MOST));
    }

    #[test]
    fn an_excerpt_is_cut_between_graphemes_around_what_was_found() {
        let family = "👨‍👩‍👧‍👦";
        let text = format!("{} sky\n\n{}", family.repeat(60), family.repeat(200));
        let excerpt = Query::parse("SKY").excerpt("", &text);
        let expected = format!("…{} sky {}…", family.repeat(39), family.repeat(115));
        assert_eq!(excerpt, Some(expected));
        assert_eq!(Query::parse("sky").excerpt("The sky", "sky"), Some("The sky".to_owned()));
        assert_eq!(Query::parse("a b").excerpt("b", "a"), Some("b".to_owned()));
        assert_eq!(Query::parse("x").excerpt("b", "a"), None);
    }

    proptest! {
        #[test]
        fn every_piece_of_a_run_is_found_and_only_what_is_there(
            text in "[天気予報の]{1,12}",
            other in "[天気予報の]{1,4}",
        ) {
            let chars: Vec<char> = text.chars().collect();
            for start in 0..chars.len() {
                for end in start + 1..=chars.len() {
                    let piece: String = chars.iter().skip(start).take(end - start).collect();
                    prop_assert!(finds(&piece, &text), "{piece} in {text}");
                }
            }
            prop_assert_eq!(finds(&other, &text), text.contains(&other));
        }

        #[test]
        fn any_query_is_a_query(text in "\\PC{0,60}|.{0,60}", turn in "\\PC{0,60}") {
            let query = Query::parse(&text);
            if query.finds(&turn, "") {
                prop_assert!(query.excerpt(&turn, "").is_some());
            }
        }
    }
}
