//! What a question is about, and whether it is about Holdfast at all.
//!
//! A question is read into *clues*: a word or phrase, the terms it may be found by, and how much it
//! proves. A page is worth quoting only when the clues it meets outweigh the words that nobody here
//! knows: a chat gets asked everything, and a quotation that merely shares a word is worse than none.

use std::collections::BTreeMap;

use super::index::Term;
use super::lexicon::{Lexicon, Mention, Proof};
use super::text::{self, Word};
use super::typos::Speller;

/// More words than this are not looked at: the subject of a pasted page stands at its beginning.
const WORDS: usize = 400;

/// What a word proves that occurs in the pages and stands for no concept.
const MERE_WORD: f32 = 0.15;
/// What a word that nobody here knows disproves.
const UNKNOWN: f32 = 1.0;
/// The same for one that is probably no noun; it is by its nouns that a question says its subject.
const UNKNOWN_NO_NOUN: f32 = 0.6;
/// What each further unknown word counts beside the first: people tell stories around a question.
const FURTHER_UNKNOWN: f32 = 0.6;
/// The weight of the best clue without which a page is not meant.
const BEST_NEEDED: f32 = 0.45;
/// The share that the clues a page meets need of all that speaks for it and against.
const SHARE_NEEDED: f32 = 0.47;

/// What a word counts in the ranking, by itself and beside the concept it stands for.
const WORD_RANK: f32 = 0.7;
const WORD_BESIDE_CONCEPT_RANK: f32 = 0.5;
/// What a further clue to the same term adds, as a share of its weight.
const FURTHER_CLUE: f32 = 0.3;
/// What a word keeps of its weight when its spelling had to be corrected.
const CORRECTED: f32 = 0.6;

/// A word or phrase of a question.
#[derive(Debug)]
struct Clue {
    /// What it may be found by, with the weight each has in the ranking.
    terms: Vec<(Term, f32)>,
    /// How much it proves that a page which has one of the terms is meant.
    proof: f32,
}

/// A question as the search sees it.
#[derive(Debug, Default)]
pub(crate) struct Question {
    clues: Vec<Clue>,
    /// The weight of all that is known to no page.
    against: f32,
}

impl Question {
    /// Reads a question. `knows` says whether a term occurs anywhere in what is searched.
    pub(crate) fn read(text: &str, speller: &Speller, knows: impl Fn(&Term) -> bool) -> Self {
        let lexicon = Lexicon::built_in();
        let mut words: Vec<(Word, f32)> =
            text::words(text).into_iter().take(WORDS).map(|word| (word, 1.0)).collect();
        let mentions = lexicon.longest_mentions(words.iter().map(|(word, _)| word));
        for (at, (word, certainty)) in words.iter_mut().enumerate() {
            let is_known = word.is_stop
                || mentions.iter().any(|mention| mention.covers(at))
                || knows(&Term::Stem(word.stem.clone()));
            if let Some(meant) = (!is_known).then(|| speller.correct(&word.folded)).flatten() {
                (*word, *certainty) = (meant, CORRECTED);
            }
        }
        let mentions = lexicon.longest_mentions(words.iter().map(|(word, _)| word));
        let mut question = Self::default();
        for (at, (word, certainty)) in words.iter().enumerate() {
            question.take_word(at, word, *certainty, &mentions, &knows);
        }
        question
    }

    /// Takes the word at `at` in, with the phrases that begin there.
    fn take_word(
        &mut self,
        at: usize,
        word: &Word,
        certainty: f32,
        mentions: &[Mention],
        knows: &impl Fn(&Term) -> bool,
    ) {
        let here: Vec<&Mention> = mentions.iter().filter(|mention| mention.start == at).collect();
        let is_within = mentions.iter().any(|mention| mention.start < at && mention.covers(at));
        if here.iter().any(|mention| mention.proof == Proof::Contrary) {
            self.against += UNKNOWN;
            return;
        }
        let mut clue = Clue { terms: Vec::new(), proof: 0.0 };
        for mention in &here {
            clue.terms.push((Term::Concept(mention.concept), rank(mention.proof)));
            clue.proof = clue.proof.max(weight(mention.proof));
        }
        let stem = Term::Stem(word.stem.clone());
        if !word.is_stop && knows(&stem) {
            let is_alone = here.is_empty() && !is_within;
            let rank = if is_alone { WORD_RANK } else { WORD_BESIDE_CONCEPT_RANK };
            // A name such as `provider_timeout` is nobody's but ours.
            let proof = if word.is_compound { weight(Proof::Telling) } else { MERE_WORD };
            clue.terms.push((stem, rank));
            clue.proof = clue.proof.max(proof);
        }
        if clue.terms.is_empty() {
            let is_accounted_for = word.is_stop || is_within;
            self.against += if is_accounted_for { 0.0 } else { unknown(word) };
            return;
        }
        for (_, rank) in &mut clue.terms {
            *rank *= certainty;
        }
        // What a phrase proves is counted where it begins.
        clue.proof = if is_within { 0.0 } else { clue.proof * certainty };
        self.against += UNKNOWN * (1.0 - certainty);
        self.clues.push(clue);
    }

    /// What to look for, each term once. Several clues that point the same way weigh more than one.
    pub(crate) fn terms(&self) -> Vec<(&Term, f32)> {
        let mut ranks: BTreeMap<&Term, f32> = BTreeMap::new();
        for (term, rank) in self.clues.iter().flat_map(|clue| &clue.terms) {
            ranks
                .entry(term)
                .and_modify(|known| *known = known.max(*rank) + FURTHER_CLUE * known.min(*rank))
                .or_insert(*rank);
        }
        ranks.into_iter().collect()
    }

    /// Whether a page that has the terms which `has` says yes to may be what is asked about.
    pub(crate) fn may_mean(&self, has: impl Fn(&Term) -> bool) -> bool {
        let is_met = |clue: &&Clue| clue.terms.iter().any(|(term, _)| has(term));
        let (mut proof, mut best) = (0.0, 0.0_f32);
        for clue in self.clues.iter().filter(is_met) {
            proof += clue.proof;
            best = best.max(clue.proof);
        }
        let against =
            self.against.min(UNKNOWN) + FURTHER_UNKNOWN * (self.against - UNKNOWN).max(0.0);
        best >= BEST_NEEDED && proof > SHARE_NEEDED * (proof + against)
    }
}

/// What a word or phrase of the lexicon proves.
fn weight(proof: Proof) -> f32 {
    match proof {
        Proof::Telling => 1.0,
        Proof::Circumstantial => 0.5,
        Proof::Faint => 0.2,
        Proof::Contrary => 0.0,
    }
}

/// What its concept counts in the ranking.
fn rank(proof: Proof) -> f32 {
    match proof {
        Proof::Telling => 1.2,
        Proof::Circumstantial => 1.0,
        Proof::Faint => 0.4,
        Proof::Contrary => 0.0,
    }
}

/// How much an unknown word speaks against. Numbers, made-up names and adverbs do not.
fn unknown(word: &Word) -> f32 {
    const VERBS_AND_ADJECTIVES: [&str; 10] =
        ["ing", "ed", "able", "ible", "ful", "less", "ous", "ive", "est", "ish"];
    let ends_in = |ending: &&str| word.folded.ends_with(*ending);
    let is_word = word.folded.chars().all(char::is_alphabetic) && !word.is_compound;
    if !is_word || word.is_form_of_stop_word() || ends_in(&"ly") {
        0.0
    } else if word.folded.chars().count() > 5 && VERBS_AND_ADJECTIVES.iter().any(ends_in) {
        UNKNOWN_NO_NOUN
    } else {
        UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A question to a page that has only the words `connection` and `proxy`, and their concepts.
    fn may_mean(question: &str) -> bool {
        let page: Vec<Term> = ["connection", "proxy", "the connection goes through a proxy"]
            .iter()
            .flat_map(|text| {
                let words = text::words(text);
                let mentions = Lexicon::built_in().mentions(words.iter());
                let concepts: Vec<Term> =
                    mentions.into_iter().map(|mention| Term::Concept(mention.concept)).collect();
                words.into_iter().map(|word| Term::Stem(word.stem)).chain(concepts)
            })
            .collect();
        let speller = Speller::new(Lexicon::built_in().single_words().map(str::to_owned));
        Question::read(question, &speller, |term| page.contains(term))
            .may_mean(|term| page.contains(term))
    }

    #[test]
    fn a_telling_word_is_enough() {
        assert!(may_mean("What about wifi?"));
        assert!(may_mean("nginx"));
    }

    #[test]
    fn a_slip_of_the_finger_is_forgiven() {
        assert!(may_mean("my conection"));
    }

    #[test]
    fn unknown_words_speak_against() {
        assert!(!may_mean("Which wine goes with the signal fish in Burgundy?"));
        assert!(!may_mean("fish"));
        assert!(!may_mean(""));
    }

    #[test]
    fn fillers_speak_neither_for_nor_against() {
        assert!(!may_mean("what is it and how do I do that"));
        assert!(may_mean("well, please tell me: what happens without wifi, and why?"));
    }
}
