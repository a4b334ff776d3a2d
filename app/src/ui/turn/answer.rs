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
            let pieces = pieces(source, unarchived_from).into_iter().map(draw).collect_view();
            let tail = unarchived_from
                .filter(|&from| from < source.len())
                .map(|_| sentence("tail-note", text::NOT_ARCHIVED));
            Some(view! { <div class="answer">{pieces}{tail}</div> }.into_any())
        })
    })
}

fn draw(piece: Piece) -> AnyView {
    match piece {
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
    let fragments = |range: Range<usize>, is_code: bool| {
        let middle = archived_to.clamp(range.start, range.end);
        let parts = [(range.start..middle, true), (middle..range.end, false)];
        parts.into_iter().filter_map(move |(part, is_archived)| {
            let text = source.get(part).filter(|text| !text.is_empty())?.to_owned();
            Some(Fragment { text, is_code, is_archived })
        })
    };
    let piece = |block: Block| match block {
        Block::Code { language, content } => {
            Piece::Code { language, code: fragments(content, false).collect() }
        }
        Block::Paragraph(range) => Piece::Paragraph(
            markdown::spans(source, range)
                .into_iter()
                .flat_map(|span| match span {
                    Span::Text(range) => fragments(range, false),
                    Span::Code(range) => fragments(range, true),
                })
                .collect(),
        ),
    };
    markdown::blocks(source).into_iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each fragment's text, `[…]` where it is not archived.
    fn read(source: &str, unarchived_from: Option<usize>) -> Vec<String> {
        let write = |piece: &Piece| {
            let (Piece::Paragraph(fragments) | Piece::Code { code: fragments, .. }) = piece;
            let write = |fragment: &Fragment| match fragment.is_archived {
                true => fragment.text.clone(),
                false => format!("[{}]", fragment.text),
            };
            fragments.iter().map(write).collect()
        };
        pieces(source, unarchived_from).iter().map(write).collect()
    }

    #[test]
    fn only_the_tail_is_marked_wherever_it_begins() {
        let source = "one `two` three\n\n```\nfour\n```";
        assert_eq!(read(source, None), ["one two three", "four"]);
        assert_eq!(read(source, Some(5)), ["one [two][ three]", "[four]"]);
        assert_eq!(read(source, Some(7)), ["one t[wo][ three]", "[four]"]);
        assert_eq!(read(source, Some(23)), ["one two three", "fo[ur]"]);
        assert_eq!(read(source, Some(0)), ["[one ][two][ three]", "[four]"]);
    }
}
