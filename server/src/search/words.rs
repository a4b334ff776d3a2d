//! A text cut into the tokens it is searched by, the same for what is kept and for what is looked for.
//!
//! Two kinds of writing need two kinds of tokens. Where words are set apart by spaces, a token is a word,
//! folded: case, accents and the many ways to encode one letter do not matter. Where they are not (Han,
//! kana, Hangul, Thai, Lao, Khmer, Myanmar), nobody can say where a word ends without a dictionary, so a
//! *run* of such writing becomes its overlapping pairs of characters, and its last character alone. So
//!
//! - two or more characters are found as a phrase of pairs wherever they stand in a run,
//! - one character is found as the beginning of a pair, or of the last character's own token,
//! - and no phrase reaches from one run into the next, for the last character's token lies between.
//!
//! Here belong characters and tokens. Not here: what is indexed, what a query is made of
//! ([`query`](super::query)), how an index keeps tokens.
//!
//! *Architecture invariant:* one function cuts every text. Another way to cut is another [`VERSION`], and
//! an index that was made by another version is made anew.

use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// Which way of cutting this is.
pub(crate) const VERSION: u32 = 1;

/// The longest token, in characters. A longer word is several that follow one another, so that it is
/// still found, as a phrase.
const TOKEN_CHARS: usize = 48;

/// What a token was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word, or a piece of a very long one.
    Word,
    /// Two characters of a run.
    Pair,
    /// The last character of a run.
    Last,
}

/// A token, and where in the text it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Letters and digits alone: neither white space nor punctuation of any kind.
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// Where it begins in the text, in bytes.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
}

/// What a character is to the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Of a word.
    Spaced,
    /// Of a run.
    Run,
    /// Nothing to see: a joiner, a selector, a soft hyphen.
    Ignored,
    /// Everything else ends what came before it.
    Other,
}

/// Cuts a text, handing each token over in the order of the text, until told to stop.
pub(crate) fn cut(text: &str, hand: impl FnMut(Token) -> ControlFlow<()>) {
    // That it was told to stop is known to whoever told it.
    let _ = Cutter { word: None, run: None, hand }.cut(text);
}

/// The tokens of a text.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    cut(text, |token| {
        tokens.push(token);
        ControlFlow::Continue(())
    });
    tokens
}

/// A text being cut.
struct Cutter<H> {
    /// What has been read of a word, with its length in characters.
    word: Option<(Token, usize)>,
    /// The last character of a run so far.
    run: Option<Token>,
    hand: H,
}

impl<H: FnMut(Token) -> ControlFlow<()>> Cutter<H> {
    fn cut(mut self, text: &str) -> ControlFlow<()> {
        for (start, cluster) in text.grapheme_indices(true) {
            let end = start + cluster.len();
            match cluster.as_bytes() {
                [byte] => self.add(char::from(byte.to_ascii_lowercase()), start, end)?,
                _ if cluster.chars().any(is_run) => {
                    cluster.nfkc().try_for_each(|c| self.add(c, start, end))?;
                }
                _ => fold_each(cluster, |c| self.add(c, start, end))?,
            }
        }
        self.end_word()?;
        self.end_run()
    }

    fn add(&mut self, c: char, start: usize, end: usize) -> ControlFlow<()> {
        match class(c) {
            Class::Spaced => {
                self.end_run()?;
                let empty = || (Token { text: String::new(), kind: Kind::Word, start, end }, 0);
                let (word, chars) = self.word.get_or_insert_with(empty);
                word.text.push(c);
                word.end = end;
                *chars += 1;
                if *chars == TOKEN_CHARS { self.end_word() } else { ControlFlow::Continue(()) }
            }
            Class::Run => {
                self.end_word()?;
                let last = Token { text: c.to_string(), kind: Kind::Last, start, end };
                let Some(first) = self.run.replace(last) else {
                    return ControlFlow::Continue(());
                };
                let text = format!("{}{c}", first.text);
                (self.hand)(Token { text, kind: Kind::Pair, start: first.start, end })
            }
            Class::Ignored => ControlFlow::Continue(()),
            Class::Other => {
                self.end_word()?;
                self.end_run()
            }
        }
    }

    fn end_word(&mut self) -> ControlFlow<()> {
        self.word.take().map_or(ControlFlow::Continue(()), |(word, _)| (self.hand)(word))
    }

    fn end_run(&mut self) -> ControlFlow<()> {
        self.run.take().map_or(ControlFlow::Continue(()), &mut self.hand)
    }
}

/// A word as it is compared: without case, accents and the many ways to encode one letter.
pub(crate) fn fold(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    let _ = fold_each(word, |c| {
        folded.push(c);
        ControlFlow::Continue(())
    });
    folded
}

/// Marks that are letters of their own, as the vowels of Indic writing are, stay.
fn fold_each(cluster: &str, mut hand: impl FnMut(char) -> ControlFlow<()>) -> ControlFlow<()> {
    // Once more without accents: lower case makes two characters of a dotted capital I.
    let plain = cluster.nfkd().filter(|c| !is_accent(*c)).flat_map(char::to_lowercase);
    for c in plain.filter(|c| !is_accent(*c)) {
        let (first, second) = match c {
            'ß' => ('s', Some('s')),
            'æ' => ('a', Some('e')),
            'œ' => ('o', Some('e')),
            'ø' => ('o', None),
            'đ' => ('d', None),
            'ł' => ('l', None),
            'ı' => ('i', None),
            'ς' => ('σ', None),
            c => (c, None),
        };
        hand(first)?;
        if let Some(second) = second {
            hand(second)?;
        }
    }
    ControlFlow::Continue(())
}

/// Marks without which a word is still the same word to whoever looks for it: those of Latin, Greek and
/// Cyrillic, the points of Hebrew, the vowel signs and the elongation of Arabic.
const fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}' | '\u{591}'..='\u{5bd}' | '\u{5bf}'
        | '\u{5c1}'..='\u{5c2}' | '\u{5c4}'..='\u{5c5}' | '\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}'
        | '\u{6df}'..='\u{6e4}' | '\u{6e7}'..='\u{6e8}' | '\u{6ea}'..='\u{6ed}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}

fn class(c: char) -> Class {
    match c {
        '\0'..='\u{7f}' if c.is_ascii_alphanumeric() => Class::Spaced,
        '\0'..='\u{7f}' => Class::Other,
        // A zero-width space among them: it stands between the words of Khmer and Thai, unseen by
        // whoever looks for two of them.
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{e0100}'..='\u{e01ef}' => Class::Ignored,
        _ if is_run(c) => Class::Run,
        _ if c.is_alphanumeric() || is_mark(c) => Class::Spaced,
        _ => Class::Other,
    }
}

/// Writing without spaces between words: letters and the marks on them, not its digits and its
/// punctuation.
const fn is_run(c: char) -> bool {
    matches!(c,
        // Thai, Lao
        '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}'
        | '\u{e81}'..='\u{ebd}' | '\u{ec0}'..='\u{ece}' | '\u{edc}'..='\u{edf}'
        // Myanmar
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' | '\u{109a}'..='\u{109d}'
        | '\u{a9e0}'..='\u{a9ef}' | '\u{a9fa}'..='\u{a9fe}' | '\u{aa60}'..='\u{aa76}'
        | '\u{aa7a}'..='\u{aa7f}'
        // Khmer
        | '\u{1780}'..='\u{17d3}' | '\u{17d7}' | '\u{17dc}'..='\u{17dd}'
        // Hangul
        | '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{a960}'..='\u{a97c}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{d7b0}'..='\u{d7fb}' | '\u{ffa0}'..='\u{ffdc}'
        // Hiragana, Katakana, Bopomofo
        | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{312f}'
        | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{1aff0}'..='\u{1b16f}'
        // Han
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303c}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

/// A mark that is no accent belongs to the word around it.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c) && !is_accent(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut_of(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_are_folded() {
        assert_eq!(cut_of("Why is the SKY blue?"), ["why", "is", "the", "sky", "blue"]);
        assert_eq!(
            cut_of("Straße STRASSE Überträgt l’Été"),
            ["strasse", "strasse", "ubertragt", "l", "ete"]
        );
        assert_eq!(
            cut_of("İstanbul ΟΔΟΣ οδός Łódź Ｆｕｌｌ ﬁne"),
            ["istanbul", "οδοσ", "οδοσ", "lodz", "full", "fine"]
        );
        assert_eq!(cut_of("ёлка Ёлка שָׁלוֹם مُحَمَّد"), ["елка", "елка", "שלום", "محمد"]);
        assert_eq!(cut_of("provider_timeout x-1.5"), ["provider", "timeout", "x", "1", "5"]);
        assert_eq!(cut_of("soft\u{ad}hyphen a\u{200d}b"), ["softhyphen", "ab"]);
    }

    #[test]
    fn marks_that_are_letters_stay() {
        assert_ne!(cut_of("की"), cut_of("का"));
        assert_eq!(cut_of("हिन्दी भाषा").len(), 2);
        assert_eq!(cut_of("தமிழ்").len(), 1);
    }

    #[test]
    fn a_run_is_its_pairs_and_its_last_character() {
        assert_eq!(cut_of("天気予報"), ["天気", "気予", "予報", "報"]);
        assert_eq!(cut_of("雲"), ["雲"]);
        assert_eq!(cut_of("天気、予報"), ["天気", "気", "予報", "報"]);
        assert_eq!(cut_of("한국어 말"), ["한국", "국어", "어", "말"]);
        assert_eq!(cut_of("ไทย"), ["ไท", "ทย", "ย"]);
        assert_eq!(cut_of("ｶﾞｽ"), ["ガス", "ス"]);
        assert_eq!(cut_of("iPhone手机3"), ["iphone", "手机", "机", "3"]);
        assert_eq!(cut_of("ภาษา\u{200b}ไทย"), cut_of("ภาษาไทย"));
    }

    #[test]
    fn one_text_has_one_cut_however_it_is_encoded() {
        for text in ["Überträgt", "がぎぐ", "한국어", "Việt", "ปี", "กำ", "Ḁ̈"]
        {
            let composed: String = text.nfc().collect();
            let decomposed: String = text.nfd().collect();
            assert_eq!(cut_of(&composed), cut_of(&decomposed), "{text}");
        }
    }

    #[test]
    fn a_very_long_word_is_several() {
        let cut = cut_of(&"a".repeat(100));
        assert_eq!(cut.iter().map(String::len).collect::<Vec<_>>(), [48, 48, 4]);
        assert_eq!(cut_of(&"é".repeat(1_000_000)).len(), 20_834, "and no slower for it");
    }

    proptest! {
        #[test]
        fn tokens_are_letters_and_lie_in_the_text_in_order(text in "\\PC{0,40}|[ -~\\n天気ไทย한국é́ß]{0,40}") {
            let mut last = 0;
            for token in tokens(&text) {
                prop_assert!(!token.text.is_empty());
                prop_assert!(token.text.chars().all(|c| class(c) != Class::Other && class(c) != Class::Ignored), "{:?}", token);
                prop_assert!(token.text.chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric()));
                prop_assert!(text.get(token.start..token.end).is_some(), "on character boundaries");
                prop_assert!(token.start >= last);
                last = token.start;
            }
        }

        #[test]
        fn case_and_encoding_do_not_matter(text in "\\PC{0,40}") {
            let decomposed: String = text.nfd().collect();
            prop_assert_eq!(cut_of(&text), cut_of(&decomposed));
        }
    }
}
