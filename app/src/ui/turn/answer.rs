//! The answer's text, block by block.

use std::ops::Range;

use leptos::prelude::*;

use super::copy::copy_button;
use crate::markdown::{self, Block, Span};
use crate::screen::TurnCell;
use crate::text;
use crate::ui::part::{part, sentence};

/// A block as it is drawn.
enum Piece {
    Paragraph(Vec<Fragment>),
    Code { language: Option<String>, code: Vec<Fragment> },
    Quote(Vec<Self>),
}

/// Text that is drawn alike.
struct Fragment {
    text: String,
    is_code: bool,
    is_archived: bool,
}

/// The answer, if there is any text of it.
#[component]
pub(super) fn Answer(cell: TurnCell) -> impl IntoView {
    let turn = cell.turn;
    // Drawn in place: what is as it was before is left alone, and what a reader selected with it.
    part(move || {
        turn.with(|turn| {
            let (source, unarchived_from) = (turn.shown.text(), turn.shown.unarchived_from());
            if source.is_empty() {
                return None;
            }
            let drawn = pieces(source, unarchived_from).into_iter().map(draw).collect_view();
            let tail = unarchived_from
                .filter(|&from| from < source.len())
                .map(|_| sentence("tail-note", text::NOT_ARCHIVED));
            Some(view! { <div class="answer">{drawn}{tail}</div> }.into_any())
        })
    })
}

fn draw(piece: Piece) -> AnyView {
    match piece {
        Piece::Quote(pieces) => {
            let drawn = pieces.into_iter().map(draw).collect_view();
            view! { <blockquote>{drawn}</blockquote> }.into_any()
        }
        Piece::Paragraph(fragments) => {
            view! { <p dir="auto">{fragments.into_iter().map(draw_fragment).collect_view()}</p> }
                .into_any()
        }
        Piece::Code { language, code } => {
            let plain: String = code.iter().map(|fragment| fragment.text.as_str()).collect();
            // Reachable by keyboard, because a long line makes it scroll.
            view! {
                <figure class="code" dir="ltr">
                    <figcaption>
                        <span>{language}</span>
                        {copy_button(plain)}
                    </figcaption>
                    <pre tabindex="0">
                        <code>{code.into_iter().map(draw_fragment).collect_view()}</code>
                    </pre>
                </figure>
            }
            .into_any()
        }
    }
}

fn draw_fragment(fragment: Fragment) -> AnyView {
    let Fragment { text, is_code, is_archived } = fragment;
    let class = if is_archived { "" } else { "unarchived" };
    if is_code {
        view! { <code class=class dir="ltr">{text}</code> }.into_any()
    } else {
        view! { <span class=class>{text}</span> }.into_any()
    }
}

fn pieces(source: &str, unarchived_from: Option<usize>) -> Vec<Piece> {
    let archived_to = unarchived_from.unwrap_or(source.len());
    let pieces = markdown::blocks(source).into_iter();
    pieces.map(|block| piece(source, archived_to, block)).collect()
}

fn piece(source: &str, archived_to: usize, block: Block) -> Piece {
    let mut cut = Cut { source, archived_to, begun: false, fragments: Vec::new() };
    match block {
        Block::Quote(blocks) => {
            let pieces = blocks.into_iter().map(|block| piece(source, archived_to, block));
            Piece::Quote(pieces.collect())
        }
        Block::Code { language, lines } => {
            for line in lines {
                cut.begin_line(line.start);
                cut.range(line, false);
            }
            Piece::Code { language, code: cut.fragments }
        }
        Block::Paragraph(lines) => {
            for line in lines {
                cut.begin_line(line.start);
                for span in markdown::spans(source, line) {
                    match span {
                        Span::Text(range) => cut.range(range, false),
                        Span::Code(range) => cut.range(range, true),
                    }
                }
            }
            Piece::Paragraph(cut.fragments)
        }
    }
}

/// Cuts lines into fragments: where the archived part ends, and where code begins and ends.
struct Cut<'a> {
    source: &'a str,
    archived_to: usize,
    begun: bool,
    fragments: Vec<Fragment>,
}

impl Cut<'_> {
    /// Ends the line before, if there is one.
    fn begin_line(&mut self, start: usize) {
        if std::mem::replace(&mut self.begun, true) {
            self.push("\n", false, start <= self.archived_to);
        }
    }

    fn range(&mut self, range: Range<usize>, is_code: bool) {
        let middle = self.archived_to.clamp(range.start, range.end);
        let source = self.source;
        self.push(source.get(range.start..middle).unwrap_or_default(), is_code, true);
        self.push(source.get(middle..range.end).unwrap_or_default(), is_code, false);
    }

    fn push(&mut self, text: &str, is_code: bool, is_archived: bool) {
        match self.fragments.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if (last.is_code, last.is_archived) == (is_code, is_archived) => {
                last.text.push_str(text);
            }
            _ => self.fragments.push(Fragment { text: text.to_owned(), is_code, is_archived }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each fragment's text, `[…]` where it is not archived.
    fn written(piece: &Piece) -> String {
        match piece {
            Piece::Quote(pieces) => format!("> {}", pieces.iter().map(written).collect::<String>()),
            Piece::Paragraph(fragments) | Piece::Code { code: fragments, .. } => {
                let write = |fragment: &Fragment| {
                    let text = &fragment.text;
                    if fragment.is_archived { text.clone() } else { format!("[{text}]") }
                };
                fragments.iter().map(write).collect()
            }
        }
    }

    fn all(source: &str, unarchived_from: Option<usize>) -> Vec<String> {
        pieces(source, unarchived_from).iter().map(written).collect()
    }

    #[test]
    fn only_the_tail_is_marked_wherever_it_begins() {
        let source = "one `two` three\n\n```\nfour\n```";
        assert_eq!(all(source, None), ["one two three", "four"]);
        assert_eq!(all(source, Some(5)), ["one [two][ three]", "[four]"]);
        assert_eq!(all(source, Some(6)), ["one t[wo][ three]", "[four]"]);
        assert_eq!(all(source, Some(23)), ["one two three", "fo[ur]"]);
        assert_eq!(all(source, Some(0)), ["[one ][two][ three]", "[four]"]);
    }

    #[test]
    fn lines_are_joined_whatever_stood_before_them() {
        assert_eq!(all("a\nb", None), ["a\nb"]);
        assert_eq!(all("> a\n> b `c`\n\nd", None), ["> a\nb c", "d"]);
        assert_eq!(all("> a\n> b", Some(3)), ["> a[\nb]"]);
        assert_eq!(all("```\n\na\n\nb\n```", None), ["\na\n\nb"]);
    }
}
