//! One page of Markdown, cut into sections and passages.
//! Where pages come from, and how they are found, is not decided here.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag};

/// Begins the paragraph that lists other wordings of what a page or a section answers.
/// It is searched, and never quoted.
const ALSO_ASKED: &str = "Also asked as:";
/// The size up to which neighbouring blocks of a section are one passage, in bytes.
const PASSAGE_BYTES: usize = 700;

/// A page: a title, and sections in the order they are written.
#[derive(Debug)]
pub struct Page {
    /// The name of its file, without ending.
    pub slug: &'static str,
    /// Its first heading.
    pub title: &'static str,
    /// The whole source, Markdown.
    pub text: &'static str,
    /// Its sections, the first one being what stands before any other heading.
    pub(crate) sections: Vec<Section>,
}

/// What stands under one heading.
#[derive(Debug)]
pub(crate) struct Section {
    /// The heading; the page's title for the first section.
    pub(crate) title: &'static str,
    /// Other wordings of what it answers, one each.
    pub(crate) asked: Vec<&'static str>,
    /// Its text in pieces fit to be quoted, each exactly as it stands in the page.
    pub(crate) passages: Vec<&'static str>,
}

impl Page {
    /// Cuts a page. `None` if it does not begin with a heading of the first level.
    pub(crate) fn parse(slug: &'static str, text: &'static str) -> Option<Self> {
        let mut sections: Vec<Section> = Vec::new();
        let mut open: Option<Range<usize>> = None;
        for block in blocks(text) {
            let range = block.range.clone();
            if sections.is_empty() && block.heading != Some(HeadingLevel::H1) {
                return None;
            }
            let source = text.get(range.clone())?.trim();
            let fits = open.as_ref().is_some_and(|open| range.end - open.start <= PASSAGE_BYTES);
            let is_asked = source.starts_with(ALSO_ASKED);
            if !fits || is_asked || block.heading.is_some() {
                close(&mut open, text, &mut sections);
            }
            if block.heading.is_some() {
                let title = source.trim_start_matches('#').trim();
                sections.push(Section { title, asked: Vec::new(), passages: Vec::new() });
            } else if is_asked {
                let wordings = source.get(ALSO_ASKED.len()..)?.split_inclusive(['?', ';']);
                let wordings = wordings.map(|wording| wording.trim_matches([' ', ';', '\n']));
                sections.last_mut()?.asked.extend(wordings.filter(|wording| !wording.is_empty()));
            } else {
                open = Some(open.map_or(range.clone(), |open| open.start..range.end));
            }
        }
        close(&mut open, text, &mut sections);
        let title = sections.first()?.title;
        Some(Self { slug, title, text, sections })
    }
}

/// Ends the passage that is being gathered, if there is one.
fn close(open: &mut Option<Range<usize>>, text: &'static str, sections: &mut [Section]) {
    let passage = open.take().and_then(|range| text.get(range)).map(str::trim);
    if let (Some(passage), Some(section)) = (passage, sections.last_mut()) {
        section.passages.push(passage);
    }
}

struct Block {
    heading: Option<HeadingLevel>,
    range: Range<usize>,
}

/// The blocks that a passage may begin or end at: what stands at the top level, a list by its items.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut depth = 0_usize;
    let mut is_in_list = false;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                let heading = match tag {
                    Tag::Heading { level, .. } => Some(level),
                    _ => None,
                };
                is_in_list |= depth == 0 && matches!(tag, Tag::List(_));
                let is_item = depth == 1 && matches!(tag, Tag::Item);
                let is_block = if is_in_list { is_item } else { depth == 0 };
                if is_block {
                    blocks.push(Block { heading, range });
                }
                depth += 1;
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                is_in_list &= depth > 0;
            }
            _ => {}
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    const PAGE: &str = "# Title\n\nAlso asked as: Why? How long; says who\n\nLead.\n\n## One\n\n- a\n- b\n\n```\n# no heading\n```\n\n## Two\n\nText with ünïcode.\n";

    #[test]
    fn a_page_is_cut_into_sections_and_passages() {
        let page = Page::parse("x", PAGE).unwrap();
        let cut: Vec<_> = page.sections.iter().map(|s| (s.title, s.passages.clone())).collect();
        assert_eq!(page.title, "Title");
        assert_eq!(
            cut,
            [
                ("Title", vec!["Lead."]),
                ("One", vec!["- a\n- b\n\n```\n# no heading\n```"]),
                ("Two", vec!["Text with ünïcode."]),
            ]
        );
    }

    #[test]
    fn other_wordings_are_kept_apart() {
        let page = Page::parse("x", PAGE).unwrap();
        assert_eq!(page.sections.first().unwrap().asked, ["Why?", "How long", "says who"]);
    }

    #[test]
    fn long_sections_become_several_passages() {
        let text: &'static str =
            format!("# T\n\n{}", "A paragraph of words.\n\n".repeat(90)).leak();
        let page = Page::parse("x", text).unwrap();
        let passages = &page.sections.first().unwrap().passages;
        assert!(passages.len() > 2);
        assert!(passages.iter().all(|passage| passage.len() <= PASSAGE_BYTES));
    }

    #[test]
    fn text_without_a_title_is_no_page() {
        assert!(Page::parse("x", "no heading").is_none());
        assert!(Page::parse("x", "## One too low\n\nText.").is_none());
        assert!(Page::parse("x", "").is_none());
    }
}
