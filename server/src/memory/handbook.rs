//! The handbook: Holdfast's own pages, compiled in, and the search over them.
//! How an answer is worded from what is found belongs to `provider::notes`.

use std::cmp::Ordering;
use std::sync::LazyLock;

use super::index::{Field, Index, Term};
use super::lexicon::Lexicon;
use super::page::{Page, Section};
use super::question::Question;
use super::text;
use super::typos::Speller;

macro_rules! pages {
    ($($slug:literal)*) => {
        &[$(($slug, include_str!(concat!("../../handbook/", $slug, ".md"))),)*]
    };
}

/// Every page, by the name of its file. A test compares the list with the folder.
const SOURCES: &[(&str, &str)] = pages! {
    "answers-from-the-handbook"
    "asking-from-a-program"
    "backing-up"
    "behind-a-proxy"
    "browser-storage"
    "configuration"
    "connecting-a-model"
    "conversations"
    "cost"
    "errors"
    "getting-started"
    "keyboard"
    "limits"
    "not-there-yet"
    "privacy"
    "reload-and-tabs"
    "restarts"
    "states"
    "stopping"
    "troubleshooting"
    "what-holdfast-is"
    "when-the-line-drops"
};

/// How much an occurrence counts in the title, the headings, the other wordings of what is answered,
/// and the text; the other wordings are many, and repeat what the text says.
const TITLE: f32 = 2.5;
const HEADING: f32 = 2.0;
const ASKED: f32 = 1.5;
const TEXT: f32 = 0.5;
/// How much the page as a whole counts beside the passage.
const PAGE_SHARE: f32 = 0.5;
/// A hit needs this share of the best one's score.
const FLOOR: f32 = 0.5;
/// A second passage of a page needs this share of the first one's score.
const SECOND: f32 = 0.7;

/// Pages, and the search over them.
pub struct Handbook {
    pages: Vec<Page>,
    /// Every passage, with the number of its page.
    passages: Vec<(usize, Passage)>,
    by_passage: Index,
    by_page: Index,
    speller: Speller,
}

/// A page that fits a question.
#[derive(Clone, Debug)]
pub struct Hit<'a> {
    /// The page.
    pub page: &'a Page,
    /// Its best passage, and a second one where that is nearly as good; never empty.
    pub passages: Vec<Passage>,
    /// How well it fits. Comparable within one search only.
    pub score: f32,
}

/// A passage, fit to be quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The heading it stands under; the page's title where there is no other.
    pub section: &'static str,
    /// Its text, Markdown, exactly as it stands in the page.
    pub text: &'static str,
}

impl Handbook {
    /// The handbook that is compiled in.
    pub fn built_in() -> &'static Self {
        static HANDBOOK: LazyLock<Handbook> = LazyLock::new(|| Handbook::new(SOURCES));
        &HANDBOOK
    }

    fn new(sources: &[(&'static str, &'static str)]) -> Self {
        let pages: Vec<Page> =
            sources.iter().filter_map(|(slug, text)| Page::parse(slug, text)).collect();
        let mut passages = Vec::new();
        let mut passage_fields = Vec::new();
        let mut page_fields = Vec::new();
        for (number, page) in pages.iter().enumerate() {
            page_fields.push(fields_of_page(page));
            for section in &page.sections {
                for text in &section.passages {
                    passages.push((number, Passage { section: section.title, text }));
                    passage_fields.push(fields_of_passage(page, section, text));
                }
            }
        }
        let speller = Speller::new(Lexicon::built_in().single_words().map(str::to_owned));
        let by_passage = Index::new(passage_fields);
        let by_page = Index::new(page_fields);
        Self { pages, passages, by_passage, by_page, speller }
    }

    /// The pages, in the order of their names.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// The pages that fit the question, best first, each once; at most `limit`. Empty where nothing
    /// fits: a page that merely shares a word is no hit.
    pub fn search(&self, question: &str, limit: usize) -> Vec<Hit<'_>> {
        let question = Question::read(question, &self.speller, |term| self.by_page.knows(term));
        let numbered = self.pages.iter().enumerate();
        let mut hits: Vec<Hit<'_>> =
            numbered.filter_map(|(number, page)| self.hit(&question, number, page)).collect();
        hits.sort_by(|one, other| best_first(one.score, other.score));
        let best = hits.first().map_or(0.0, |hit| hit.score);
        hits.retain(|hit| hit.score > 0.0 && hit.score >= FLOOR * best);
        hits.truncate(limit);
        hits
    }

    /// The page as a hit, if it may be what is asked about.
    fn hit<'a>(&self, question: &Question, number: usize, page: &'a Page) -> Option<Hit<'a>> {
        if !question.may_mean(|term| self.by_page.contains(number, term)) {
            return None;
        }
        let units = self.passages.iter().enumerate().filter(|(_, (page, _))| *page == number);
        let mut rated: Vec<(f32, Passage)> = units
            .map(|(unit, (_, passage))| (score(&self.by_passage, unit, question), *passage))
            .collect();
        rated.sort_by(|(one, _), (other, _)| best_first(*one, *other));
        let best = rated.first()?.0;
        rated.truncate(2);
        rated.retain(|(score, _)| *score >= SECOND * best);
        let score = best + PAGE_SHARE * score(&self.by_page, number, question);
        Some(Hit { page, passages: rated.into_iter().map(|(_, passage)| passage).collect(), score })
    }
}

fn best_first(one: f32, other: f32) -> Ordering {
    other.total_cmp(&one)
}

/// How well a unit fits the question.
fn score(index: &Index, unit: usize, question: &Question) -> f32 {
    question.terms().iter().map(|(term, weight)| weight * index.score(unit, term)).sum()
}

/// A page as a whole, by which it is decided whether a question may mean it.
fn fields_of_page(page: &Page) -> Vec<Field> {
    let inner = || page.sections.iter().skip(1);
    let headings: Vec<&str> = inner().map(|section| section.title).collect();
    let asked = page.sections.iter().flat_map(|section| section.asked.iter().copied());
    let asked: Vec<&str> = asked.collect();
    let text = page.sections.iter().flat_map(|section| section.passages.iter().copied());
    let text: Vec<&str> = text.collect();
    vec![
        field(page.title, TITLE, 0.3),
        field(&headings.join("\n"), HEADING, 0.6),
        field(&asked.join("\n"), ASKED, 0.7),
        field(&text.join("\n"), TEXT, 0.7),
    ]
}

/// A passage, with what its section and its page say it is about.
fn fields_of_passage(page: &Page, section: &Section, passage: &str) -> Vec<Field> {
    vec![
        field(page.title, TITLE, 0.3),
        field(section.title, HEADING, 0.3),
        field(&section.asked.join("\n"), ASKED, 0.6),
        field(passage, TEXT, 0.7),
    ]
}

/// A part of a unit as the index takes it: the stems of its words, and what they stand for.
fn field(text: &str, weight: f32, normalisation: f32) -> Field {
    let words = text::words(text);
    let mentions = Lexicon::built_in().longest_mentions(words.iter());
    let concepts = mentions.into_iter().map(|mention| Term::Concept(mention.concept));
    let stems = words.into_iter().filter(|word| !word.is_stop).map(|word| Term::Stem(word.stem));
    Field { terms: stems.chain(concepts).collect(), weight, normalisation }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::collections::BTreeSet;
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_a_page() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/handbook");
        let files: BTreeSet<String> = fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        let pages = Handbook::built_in().pages();
        let listed: BTreeSet<String> =
            pages.iter().map(|page| format!("{}.md", page.slug)).collect();
        assert_eq!(files, listed);
        assert_eq!(pages.len(), SOURCES.len());
    }

    #[test]
    fn every_page_has_a_title_of_its_own_and_says_something_under_each_heading() {
        let pages = Handbook::built_in().pages();
        let titles: BTreeSet<&str> = pages.iter().map(|page| page.title).collect();
        assert_eq!(titles.len(), pages.len());
        for page in pages {
            for section in &page.sections {
                assert!(!section.passages.is_empty(), "{}: {}", page.slug, section.title);
            }
        }
    }

    #[test]
    fn every_page_is_found_by_its_title() {
        for page in Handbook::built_in().pages() {
            let hits = Handbook::built_in().search(page.title, 3);
            assert!(hits.iter().any(|hit| hit.page.slug == page.slug), "{}", page.title);
        }
    }

    #[test]
    fn every_page_named_in_another_one_exists() {
        let pages = Handbook::built_in().pages();
        for page in pages {
            for named in page.text.split("see “").chain(page.text.split("See “")).skip(1) {
                let Some((title, _)) = named.split_once('”') else { continue };
                let is_title = pages.iter().any(|other| other.title == title);
                assert!(is_title || page.text.starts_with(named), "{}: {title}", page.slug);
            }
        }
    }

    #[test]
    fn every_concept_of_the_lexicon_is_met_by_a_page() {
        let handbook = Handbook::built_in();
        for (name, concept) in Lexicon::built_in().concepts() {
            assert!(handbook.by_page.knows(&Term::Concept(concept)), "no page is about {name}");
        }
    }

    #[test]
    fn a_page_is_hit_once_and_no_more_than_are_wanted() {
        let hits = Handbook::built_in().search("the connection was lost and the answer is gone", 5);
        let pages: BTreeSet<&str> = hits.iter().map(|hit| hit.page.slug).collect();
        assert_eq!((hits.len(), pages.len()), (5, 5));
        assert!(hits.is_sorted_by(|one, other| one.score >= other.score));
        assert!(Handbook::built_in().search("wifi", 0).is_empty());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_search_fail(question in any::<String>(), limit in 0_usize..8) {
            for hit in Handbook::built_in().search(&question, limit) {
                prop_assert!(hit.score.is_finite() && (1..=2).contains(&hit.passages.len()));
                prop_assert!(hit.passages.iter().all(|found| hit.page.text.contains(found.text)));
            }
        }

        #[test]
        fn accents_and_case_do_not_matter(question in "[a-zA-Zéüñß ]{0,60}") {
            let slugs = |question: &str| -> Vec<&str> {
                let hits = Handbook::built_in().search(question, 3);
                hits.iter().map(|hit| hit.page.slug).collect()
            };
            let decomposed: String = unicode_normalization::UnicodeNormalization::nfd(
                question.to_uppercase().as_str()).collect();
            prop_assert_eq!(slugs(&question), slugs(&decomposed));
        }
    }
}
