//! What people call things: a small thesaurus, read from `lexicon.txt`, whose head explains it.
//! Only the mapping from words to concepts stands here; what weight a concept has in a search is
//! the business of `question` and `index`.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use super::text::{self, Word};

/// The name of what is not Holdfast's matter at all.
#[cfg(test)]
const OTHER: &str = "elsewhere";

/// One of the subjects the lexicon knows words for; its number in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Concept(usize);

/// Words of a text that stand for a concept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    /// The first of the words, counted from the beginning of the text.
    pub(crate) start: usize,
    /// How many words it takes.
    pub(crate) len: usize,
    pub(crate) concept: Concept,
    pub(crate) proof: Proof,
}

/// How much words prove that Holdfast is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Proof {
    /// A sign that something else is meant.
    Contrary,
    /// Said about anything; never enough by itself.
    Faint,
    /// Said about other things too.
    Circumstantial,
    /// A sign by itself.
    Telling,
}

struct Entry {
    /// As the lexicon spells it, folded.
    spelled: String,
    stems: Vec<String>,
    concept: Concept,
    proof: Proof,
}

/// The thesaurus.
pub(crate) struct Lexicon {
    /// Words and phrases by their first stem.
    phrases: HashMap<String, Vec<Entry>>,
    /// `stem*` by its first character; the one stem of each entry is the beginning to look for.
    beginnings: HashMap<char, Vec<Entry>>,
    /// Every single word, folded, for the correction of typing errors.
    single_words: Vec<String>,
    /// The concepts by their names.
    names: BTreeMap<&'static str, Concept>,
}

impl Lexicon {
    /// The lexicon that is compiled in.
    pub(crate) fn built_in() -> &'static Self {
        static LEXICON: LazyLock<Lexicon> =
            LazyLock::new(|| Lexicon::parse(include_str!("lexicon.txt")));
        &LEXICON
    }

    /// Reads the format described at the head of `lexicon.txt`. Lines without a sign are skipped;
    /// a test sees to it that the built-in file has none.
    fn parse(source: &'static str) -> Self {
        let mut lexicon = Self {
            phrases: HashMap::new(),
            beginnings: HashMap::new(),
            single_words: Vec::new(),
            names: BTreeMap::new(),
        };
        for (name, proof, list) in source.lines().filter_map(line) {
            let number = lexicon.names.len();
            let concept = *lexicon.names.entry(name).or_insert(Concept(number));
            for words in list.split(',').map(str::trim).filter(|words| !words.is_empty()) {
                lexicon.add(words, concept, proof);
            }
        }
        lexicon
    }

    fn add(&mut self, words: &str, concept: Concept, proof: Proof) {
        if let Some(beginning) = words.strip_suffix('*') {
            if let Some(first) = beginning.chars().next() {
                let spelled = beginning.to_owned();
                let stems = vec![spelled.clone()];
                let entry = Entry { spelled, stems, concept, proof };
                self.beginnings.entry(first).or_default().push(entry);
            }
            return;
        }
        let found = text::words(words);
        if let [word] = found.as_slice() {
            self.single_words.push(word.folded.clone());
        }
        let spelled: Vec<&str> = found.iter().map(|word| word.folded.as_str()).collect();
        let spelled = spelled.join(" ");
        let stems: Vec<String> = found.into_iter().map(|word| word.stem).collect();
        if let Some(first) = stems.first() {
            let entries = self.phrases.entry(first.clone()).or_default();
            entries.push(Entry { spelled, stems, concept, proof });
        }
    }

    /// Every concept that the words mention, phrases as well as the words in them.
    pub(crate) fn mentions<'a>(&self, words: impl Iterator<Item = &'a Word>) -> Vec<Mention> {
        let words: Vec<&Word> = words.collect();
        let mut mentions = Vec::new();
        for (start, word) in words.iter().enumerate() {
            for entry in self.phrases.get(&word.stem).into_iter().flatten() {
                let here = words.get(start..start + entry.stems.len()).unwrap_or_default();
                if entry.is_spelled_by(here) {
                    mentions.push(entry.mention(start));
                }
            }
            let first = word.folded.chars().next();
            for entry in first.and_then(|first| self.beginnings.get(&first)).into_iter().flatten() {
                if entry.stems.iter().all(|beginning| word.folded.starts_with(beginning.as_str())) {
                    mentions.push(entry.mention(start));
                }
            }
        }
        mentions
    }

    /// The same, of phrases within one another only the longest.
    pub(crate) fn longest_mentions<'a>(
        &self,
        words: impl Iterator<Item = &'a Word>,
    ) -> Vec<Mention> {
        let mentions = self.mentions(words);
        let is_longest = |mention: &&Mention| !mentions.iter().any(|other| other.swallows(mention));
        mentions.iter().filter(is_longest).copied().collect()
    }

    /// The concepts that pages can be about, by name.
    #[cfg(test)]
    pub(crate) fn concepts(&self) -> impl Iterator<Item = (&'static str, Concept)> {
        self.names
            .iter()
            .map(|(name, concept)| (*name, *concept))
            .filter(|(name, _)| *name != OTHER)
    }

    /// The single words of the lexicon, folded.
    pub(crate) fn single_words(&self) -> impl Iterator<Item = &str> {
        self.single_words.iter().map(String::as_str)
    }
}

impl Mention {
    /// Whether the word at `at` is one of its words.
    pub(crate) fn covers(&self, at: usize) -> bool {
        (self.start..self.start + self.len).contains(&at)
    }

    /// Whether the other is only a part of this one: in “private window” there is no word of privacy.
    fn swallows(&self, other: &Self) -> bool {
        self.len > other.len
            && self.start <= other.start
            && other.start + other.len <= self.start + self.len
    }
}

impl Entry {
    /// Whether the words are the entry's. A filler alone must be spelled like it, since other words
    /// may share its stem: `dies` has that of the German article `die`.
    fn is_spelled_by(&self, words: &[&Word]) -> bool {
        match words {
            [word] if word.is_stop => self.spelled == word.folded,
            _ => words.iter().map(|word| &word.stem).eq(&self.stems),
        }
    }

    fn mention(&self, start: usize) -> Mention {
        let Self { stems, concept, proof, .. } = self;
        Mention { start, len: stems.len(), concept: *concept, proof: *proof }
    }
}

impl Proof {
    fn from_sign(sign: char) -> Option<Self> {
        match sign {
            '=' => Some(Self::Telling),
            '~' => Some(Self::Circumstantial),
            '?' => Some(Self::Faint),
            '!' => Some(Self::Contrary),
            _ => None,
        }
    }
}

/// The parts of a line: the concept's name, what its words prove, and the words.
fn line(line: &str) -> Option<(&str, Proof, &str)> {
    if line.starts_with('#') {
        return None;
    }
    let (at, proof) = line.char_indices().find_map(|(at, c)| Some((at, Proof::from_sign(c)?)))?;
    let (name, list) = line.split_at(at);
    Some((name.trim(), proof, list.get(1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(source: &'static str, text: &str) -> Vec<(usize, usize, Proof)> {
        let lexicon = Lexicon::parse(source);
        let mentions = lexicon.longest_mentions(text::words(text).iter());
        mentions.into_iter().map(|mention| (mention.start, mention.len, mention.proof)).collect()
    }

    #[test]
    fn words_and_phrases_are_found_by_their_stems() {
        let source = "# a comment\nline = wifi\nline ~ signal, lost signal\nother ? conexi*";
        assert_eq!(parsed(source, "the WiFi"), [(1, 1, Proof::Telling)]);
        assert_eq!(parsed(source, "lost signals"), [(0, 2, Proof::Circumstantial)]);
        assert_eq!(parsed(source, "la conexión"), [(1, 1, Proof::Faint)]);
        assert_eq!(parsed(source, "a comment about nothing"), []);
    }

    #[test]
    fn a_filler_counts_only_as_it_is_spelled() {
        let source = "line ~ dies";
        assert_eq!(parsed(source, "it dies"), [(1, 1, Proof::Circumstantial)]);
        assert_eq!(parsed(source, "die Leitung"), []);
    }

    #[test]
    fn every_line_of_the_built_in_lexicon_is_read() {
        let lines = include_str!("lexicon.txt").lines();
        let skipped: Vec<&str> = lines
            .filter(|text| !text.is_empty() && !text.starts_with('#') && line(text).is_none())
            .collect();
        assert_eq!(skipped, Vec::<&str>::new());
    }

    #[test]
    fn no_word_is_said_twice_of_a_concept() {
        let mut seen = std::collections::HashSet::new();
        let entries = include_str!("lexicon.txt").lines().filter_map(line);
        let words = entries
            .flat_map(|(name, _, list)| list.split(',').map(move |words| (name, words.trim())));
        let twice: Vec<_> = words.filter(|entry| !seen.insert(*entry)).collect();
        assert_eq!(twice, []);
    }
}
