//! Answers from the handbook, in its own words. Nothing is generated: what fits is quoted with the
//! title of its page, and where nothing fits, that is said. Calls nobody, costs nothing.
//!
//! How pages are found is `memory`'s business; only the wording of the answer stands here.

use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation;

use crate::memory::{Handbook, Hit, Passage};

/// The most pages an answer quotes.
const PAGES: usize = 3;
/// The longest quotation, in bytes; a longer passage is cut between two characters.
const QUOTE_BYTES: usize = 1_200;

/// An answer made of quotations.
#[derive(Clone, Debug, PartialEq)]
pub struct NotesAnswer {
    /// The answer, Markdown; never empty.
    pub markdown: String,
    /// The pages it quotes, best first; empty where nothing fits.
    pub pages: Vec<PageRef>,
}

/// A page that an answer quotes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRef {
    /// The name of its file, without ending.
    pub slug: &'static str,
    /// Its title.
    pub title: &'static str,
    /// How well it fits the question, from 0 to 1; comparable within one answer only.
    pub score: f32,
}

/// Answers a question from the handbook. `language` is the asker's, a BCP 47 tag; the sentences
/// around the quotations come in it where it is known, else in English.
pub fn answer(question: &str, language: &str) -> NotesAnswer {
    let sentences = Sentences::of(language);
    let hits = Handbook::built_in().search(question, PAGES);
    if hits.is_empty() {
        return NotesAnswer { markdown: nothing_fits(sentences), pages: Vec::new() };
    }
    let mut markdown = format!("{}\n", sentences.intro);
    for (rank, hit) in hits.iter().enumerate() {
        // The best page may say two things; of the others one is enough.
        let quoted = if rank == 0 { hit.passages.len() } else { 1 };
        for passage in hit.passages.iter().take(quoted) {
            quote(&mut markdown, hit.page.title, *passage);
        }
    }
    markdown.truncate(markdown.trim_end().len());
    NotesAnswer { markdown, pages: hits.iter().map(PageRef::of).collect() }
}

/// Adds a quotation and where it stands.
fn quote(markdown: &mut String, title: &str, Passage { section, text }: Passage) {
    let (text, rest) = cut(text, QUOTE_BYTES);
    markdown.push('\n');
    for line in text.lines() {
        markdown.push_str(if line.is_empty() { ">" } else { "> " });
        markdown.push_str(line);
        markdown.push('\n');
    }
    if !rest.is_empty() {
        markdown.push_str("> …\n");
    }
    let place = if section == title {
        format!("“{title}”")
    } else {
        format!("“{title}”, “{section}”")
    };
    // Writing to a string cannot fail.
    let _ = writeln!(markdown, "\n— {place}");
}

fn nothing_fits(sentences: &Sentences) -> String {
    let Sentences { nothing, connect, instead, .. } = sentences;
    format!("{nothing}\n\n{connect}\n\n```\n{COMMAND}\n```\n\n{instead}")
}

/// The text up to a boundary between user-perceived characters not beyond `bytes`, and the rest.
fn cut(text: &str, bytes: usize) -> (&str, &str) {
    if text.len() <= bytes {
        return (text, "");
    }
    let boundaries = text.grapheme_indices(true).map(|(at, _)| at);
    let at = boundaries.take_while(|at| *at <= bytes).last().unwrap_or(0);
    text.split_at(at)
}

impl PageRef {
    fn of(hit: &Hit<'_>) -> Self {
        // Scores of hits grow without bound, and most lie between 5 and 30.
        Self { slug: hit.page.slug, title: hit.page.title, score: hit.score / (hit.score + 10.0) }
    }
}

/// Connects a model, as a command to copy.
const COMMAND: &str =
    "holdfast serve --provider openai --provider-url http://127.0.0.1:11434/v1 --model NAME";

/// What an answer says beside its quotations, in one language.
struct Sentences {
    language: &'static str,
    /// Stands before quotations.
    intro: &'static str,
    /// Says that nothing fits.
    nothing: &'static str,
    /// Says what would help, before the command.
    connect: &'static str,
    /// Says what can be asked instead.
    instead: &'static str,
}

impl Sentences {
    /// The sentences in a language, English where they are not known in it.
    fn of(language: &str) -> &'static Self {
        let [english, ..] = SENTENCES;
        let primary = language.split(['-', '_']).next().unwrap_or_default().trim();
        let mut known = SENTENCES.iter();
        known.find(|known| known.language.eq_ignore_ascii_case(primary)).unwrap_or(english)
    }
}

const SENTENCES: &[Sentences; 4] = &[
    Sentences {
        language: "en",
        intro: "Holdfast's handbook says:",
        nothing: "Nothing in Holdfast's handbook fits this question, and no model is connected that could answer it.",
        connect: "Connect a model to get answers to questions of any kind. For a hosted service, put its key into `HOLDFAST_PROVIDER_KEY`; a local server usually needs none. Then start Holdfast with the address of the service or server and the name of a model, for example:",
        instead: "Until then you can ask about Holdfast itself: “What happens when the line drops?”, “How do I connect a model?”, “What does it cost?”",
    },
    Sentences {
        language: "es",
        intro: "El manual de Holdfast, que está en inglés, dice:",
        nothing: "Nada en el manual de Holdfast responde a esta pregunta, y no hay ningún modelo conectado que pueda hacerlo.",
        connect: "Conecta un modelo para obtener respuestas a cualquier pregunta. Si es un servicio alojado, guarda su clave en `HOLDFAST_PROVIDER_KEY`; un servidor local no suele necesitarla. Después inicia Holdfast con la dirección del servicio o servidor y el nombre de un modelo, por ejemplo:",
        instead: "Mientras tanto puedes preguntar por el propio Holdfast; el manual está en inglés: “What happens when the line drops?”, “How do I connect a model?”, “What does it cost?”",
    },
    Sentences {
        language: "de",
        intro: "Im Handbuch von Holdfast, das auf Englisch ist, steht:",
        nothing: "Im Handbuch von Holdfast passt nichts zu dieser Frage, und es ist kein Modell verbunden, das sie beantworten könnte.",
        connect: "Verbinde ein Modell, um Antworten auf Fragen jeder Art zu bekommen. Den Schlüssel eines gehosteten Dienstes liest Holdfast aus `HOLDFAST_PROVIDER_KEY`; ein lokaler Server braucht meist keinen. Starte Holdfast dann mit der Adresse des Dienstes oder Servers und dem Namen eines Modells, zum Beispiel:",
        instead: "Bis dahin kannst du nach Holdfast selbst fragen; das Handbuch ist auf Englisch: “What happens when the line drops?”, “How do I connect a model?”, “What does it cost?”",
    },
    Sentences {
        language: "fr",
        intro: "Le manuel de Holdfast, rédigé en anglais, dit :",
        nothing: "Rien dans le manuel de Holdfast ne répond à cette question, et aucun modèle n'est connecté qui pourrait le faire.",
        connect: "Connectez un modèle pour obtenir des réponses à toute question. La clé d'un service hébergé est lue dans `HOLDFAST_PROVIDER_KEY` ; un serveur local n'en demande généralement pas. Démarrez ensuite Holdfast avec l'adresse du service ou du serveur et le nom d'un modèle, par exemple :",
        instead: "En attendant, vous pouvez poser des questions sur Holdfast lui-même ; le manuel est en anglais : “What happens when the line drops?”, “How do I connect a model?”, “What does it cost?”",
    },
];

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;

    use super::*;

    /// No answer is longer than this, in bytes.
    const ANSWER_BYTES: usize = 7_000;

    /// The quotations of an answer, as they stand in the pages.
    fn quotations(markdown: &str) -> Vec<String> {
        let mut quotations: Vec<String> = Vec::new();
        let mut is_within = false;
        for line in markdown.lines() {
            let quoted = line.strip_prefix("> ").or_else(|| line.strip_prefix('>'));
            match (quoted, is_within) {
                (Some(text), false) => quotations.push(text.to_owned()),
                (Some(text), true) => {
                    let last = quotations.last_mut().unwrap();
                    last.push('\n');
                    last.push_str(text);
                }
                (None, _) => {}
            }
            is_within = quoted.is_some();
        }
        quotations
    }

    fn check(question: &str, language: &str) {
        let NotesAnswer { markdown, pages } = answer(question, language);
        assert!(!markdown.trim().is_empty() && markdown.len() <= ANSWER_BYTES);
        let quotations = quotations(&markdown);
        assert!((pages.len()..=pages.len() + 1).contains(&quotations.len()));
        assert_eq!(quotations.is_empty(), pages.is_empty());
        let handbook = Handbook::built_in().pages().iter();
        let quoted = handbook.filter(|page| pages.iter().any(|quoted| quoted.slug == page.slug));
        let sources: Vec<&str> = quoted.map(|page| page.text).collect();
        for quotation in &quotations {
            let quotation = quotation.strip_suffix("\n…").unwrap_or(quotation);
            let is_true = sources.iter().any(|source| source.contains(quotation));
            assert!(is_true, "{quotation:?} is in no page that is named");
        }
        for page in &pages {
            assert!(markdown.contains(page.title) && (0.0..1.0).contains(&page.score));
        }
    }

    #[test]
    fn what_fits_is_quoted_with_its_title() {
        let NotesAnswer { markdown, pages } = answer("What happens when my wifi drops?", "en");
        assert_eq!(pages.first().unwrap().title, "When the line drops");
        assert!(markdown.starts_with("Holdfast's handbook says:\n\n> "));
        assert!(markdown.contains("\n\n— “When the line drops"));
        check("What happens when my wifi drops?", "en");
    }

    #[test]
    fn where_nothing_fits_it_says_so_and_what_would_help() {
        let NotesAnswer { markdown, pages } = answer("How do I bake a cheesecake?", "en-GB");
        assert!(pages.is_empty());
        assert!(markdown.starts_with("Nothing in Holdfast's handbook fits"));
        assert!(markdown.contains("--provider openai --provider-url"));
        assert!(!markdown.contains("\n>"));
    }

    #[test]
    fn the_sentences_around_come_in_the_askers_language() {
        for (language, beginning) in [
            ("es-MX", "El manual"),
            ("de", "Im Handbuch"),
            ("FR", "Le manuel"),
            ("en", "Holdfast's"),
            ("ja", "Holdfast's"),
            ("", "Holdfast's"),
            ("\u{1F980}-x", "Holdfast's"),
        ] {
            let markdown = answer("wifi", language).markdown;
            assert!(markdown.starts_with(beginning), "{language}: {markdown}");
        }
        assert!(
            answer("Käsekuchen", "de-AT").markdown.starts_with("Im Handbuch von Holdfast passt")
        );
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        for text in ["ééééé", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "e\u{301}e\u{301}", "日本語", ""]
        {
            for bytes in 0..=text.len() {
                let (start, rest) = cut(text, bytes);
                assert_eq!(format!("{start}{rest}"), text);
                assert!(start.len() <= bytes);
                let joined = start.graphemes(true).chain(rest.graphemes(true));
                assert!(joined.eq(text.graphemes(true)));
            }
        }
    }

    proptest! {
        #[test]
        fn any_question_gets_a_bounded_answer_of_true_quotations(
            question in any::<String>(), language in any::<String>()
        ) {
            check(&question, &language);
        }

        #[test]
        fn so_does_one_made_of_our_own_words(
            words in prop::collection::vec(
                prop::sample::select(Handbook::built_in().pages()
                    .iter().flat_map(|page| page.text.split_whitespace()).collect::<Vec<_>>()),
                0..40,
            ),
            between in "[ \u{0}-\u{2F}\u{300}-\u{36F}\u{200D}👩é日]{1,3}",
        ) {
            check(&words.join(&between), "en");
        }
    }
}
