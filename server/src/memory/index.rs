//! How well a text fits a term: BM25F (Robertson, Zaragoza: "The Probabilistic Relevance Framework",
//! 2009), that is BM25 over fields of different weight. Knows terms and units, and no language.

use std::collections::HashMap;

use super::lexicon::Concept;

/// How quickly the tenth occurrence of a term stops mattering more than the second.
const SATURATION: f32 = 2.0;
/// What even a term tells that stands in every unit, beside its rarity: a question about the
/// connection means it, however often the pages speak of connections.
const COMMON: f32 = 1.0;

/// What texts and questions are compared by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Term {
    /// A word, by its stem.
    Stem(String),
    /// What words stand for.
    Concept(Concept),
}

/// A part of a unit, such as its title: its terms, and how much an occurrence there counts.
pub(crate) struct Field {
    pub(crate) terms: Vec<Term>,
    pub(crate) weight: f32,
    /// From 0, the field's length does not matter, to 1, occurrences count by their density.
    pub(crate) normalisation: f32,
}

/// Units of text, each with the weight of its terms.
pub(crate) struct Index {
    units: Vec<HashMap<Term, f32>>,
    /// In how many units a term occurs.
    spread: HashMap<Term, usize>,
}

impl Index {
    /// Builds the index. Every unit has the same fields in the same order.
    pub(crate) fn new(units: Vec<Vec<Field>>) -> Self {
        let lengths = mean_lengths(&units);
        let units: Vec<HashMap<Term, f32>> =
            units.into_iter().map(|fields| weigh(fields, &lengths)).collect();
        let mut spread = HashMap::new();
        for term in units.iter().flat_map(HashMap::keys) {
            *spread.entry(term.clone()).or_default() += 1;
        }
        Self { units, spread }
    }

    /// Whether the term occurs in any unit.
    pub(crate) fn knows(&self, term: &Term) -> bool {
        self.spread.contains_key(term)
    }

    /// Whether the term occurs in the unit.
    pub(crate) fn contains(&self, unit: usize, term: &Term) -> bool {
        self.units.get(unit).is_some_and(|terms| terms.contains_key(term))
    }

    /// How well the unit fits the term; 0 where it does not occur.
    pub(crate) fn score(&self, unit: usize, term: &Term) -> f32 {
        let weight = self.units.get(unit).and_then(|terms| terms.get(term)).copied().unwrap_or(0.0);
        (COMMON + self.rarity(term)) * weight * (SATURATION + 1.0) / (SATURATION + weight)
    }

    /// The inverse document frequency, never negative.
    pub(crate) fn rarity(&self, term: &Term) -> f32 {
        let (all, with) =
            (count(self.units.len()), count(self.spread.get(term).copied().unwrap_or(0)));
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }
}

/// The weight of each term of a unit: its occurrences in every field, by the field's weight and length.
fn weigh(fields: Vec<Field>, mean_lengths: &[f32]) -> HashMap<Term, f32> {
    let mut weights = HashMap::new();
    for (field, mean) in fields.into_iter().zip(mean_lengths) {
        let length = count(field.terms.len()) / mean.max(1.0);
        let each = field.weight / (1.0 - field.normalisation + field.normalisation * length);
        for term in field.terms {
            *weights.entry(term).or_default() += each;
        }
    }
    weights
}

fn mean_lengths(units: &[Vec<Field>]) -> Vec<f32> {
    let fields = units.first().map_or(0, Vec::len);
    let mean = |field: usize| {
        let lengths =
            units.iter().filter_map(|unit| unit.get(field)).map(|field| field.terms.len());
        count(lengths.sum()) / count(units.len().max(1))
    };
    (0..fields).map(mean).collect()
}

/// A count as a number to calculate with; what is counted here stays far below 2^24.
fn count(number: usize) -> f32 {
    u16::try_from(number).map_or(f32::from(u16::MAX), f32::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(title: &[&str], body: &[&str]) -> Vec<Field> {
        let field = |words: &[&str], weight| Field {
            terms: words.iter().map(|word| Term::Stem((*word).to_owned())).collect(),
            weight,
            normalisation: 0.7,
        };
        vec![field(title, 3.0), field(body, 1.0)]
    }

    fn index() -> Index {
        Index::new(vec![
            unit(&["a"], &["x", "y"]),
            unit(&["b"], &["a", "x", "z", "z"]),
            unit(&["c"], &["x"]),
        ])
    }

    fn stem(word: &str) -> Term {
        Term::Stem(word.to_owned())
    }

    #[test]
    fn a_title_counts_more_than_a_body() {
        assert!(index().score(0, &stem("a")) > index().score(1, &stem("a")));
    }

    #[test]
    fn what_stands_everywhere_tells_little() {
        assert!(index().rarity(&stem("x")) < index().rarity(&stem("z")));
    }

    #[test]
    fn what_does_not_occur_scores_nothing() {
        assert!(index().score(2, &stem("a")).abs() < f32::EPSILON);
        assert!(index().score(99, &stem("a")).abs() < f32::EPSILON);
        assert!(!index().knows(&stem("nowhere")) && !index().contains(2, &stem("a")));
    }
}
