//! Answers as blocks: paragraphs, fenced code and quotations, with code spans inside paragraphs.
//!
//! Here: reading Markdown into [`Block`]s, as plain data that keeps its place in the source. Not
//! here: drawing them (`ui::turn::answer`). Nothing of an answer ever becomes HTML.

mod fence;
mod span;

use std::ops::Range;

use self::fence::Fence;

pub(crate) use self::span::{Span, spans};

/// Quotations in quotations are read this deep; what is deeper is text.
const DEEPEST: u32 = 8;

/// Where the text of a line stands in the source, without what marks it and without its end.
pub(crate) type Line = Range<usize>;

/// One block of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// Running text.
    Paragraph(Vec<Line>),
    /// A fenced code block.
    Code {
        /// The first word after the opening fence.
        language: Option<String>,
        /// What stands between the fences.
        lines: Vec<Line>,
    },
    /// What somebody else said.
    Quote(Vec<Self>),
}

/// Reads an answer. A text that goes on gives the same blocks, but for the last one.
pub(crate) fn blocks(source: &str) -> Vec<Block> {
    let mut start = 0;
    let line = |text: &str| {
        let line = start..start + text.trim_end_matches(['\n', '\r']).len();
        start += text.len();
        line
    };
    let lines: Vec<Line> = source.split_inclusive('\n').map(line).collect();
    read(source, &lines, DEEPEST)
}

fn read(source: &str, lines: &[Line], depth: u32) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut paragraph = Vec::new();
    let mut rest = lines.iter().peekable();
    let text = |line: &Line| source.get(line.clone()).unwrap_or_default();
    while let Some(line) = rest.next() {
        let quoted = unquoted(source, line).filter(|_| depth > 0);
        let fence = Fence::open(text(line));
        if quoted.is_some() || fence.is_some() || text(line).trim().is_empty() {
            end(&mut blocks, &mut paragraph);
        }
        if let Some(first) = quoted {
            let more = std::iter::from_fn(|| {
                let inner = unquoted(source, rest.peek()?)?;
                rest.next().map(|_| inner)
            });
            let inner: Vec<_> = std::iter::once(first).chain(more).collect();
            blocks.push(Block::Quote(read(source, &inner, depth - 1)));
        } else if let Some(fence) = fence {
            // A fence that is never closed holds all the rest, as CommonMark has it.
            let lines = rest
                .by_ref()
                .take_while(|line| !fence.is_closed_by(text(line)))
                .map(|line| fence.inside(source, line))
                .collect();
            blocks.push(Block::Code { language: fence.language, lines });
        } else if !text(line).trim().is_empty() {
            paragraph.push(line.start..line.start + text(line).trim_end().len());
        }
    }
    end(&mut blocks, &mut paragraph);
    blocks
}

fn end(blocks: &mut Vec<Block>, paragraph: &mut Vec<Line>) {
    if !paragraph.is_empty() {
        blocks.push(Block::Paragraph(std::mem::take(paragraph)));
    }
}

/// What a line quotes, if it does: after up to three spaces, a `>` and one space.
fn unquoted(source: &str, line: &Line) -> Option<Line> {
    let text = source.get(line.clone())?;
    let marked = text.trim_start_matches(' ');
    let indent = text.len() - marked.len();
    let quoted = marked.strip_prefix('>').filter(|_| indent <= 3)?;
    Some(line.end - quoted.strip_prefix(' ').unwrap_or(quoted).len()..line.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(source: &str, block: &Block) -> String {
        let text = |lines: &[Line]| {
            lines.iter().map(|line| &source[line.clone()]).collect::<Vec<_>>().join("\n")
        };
        match block {
            Block::Paragraph(lines) => format!("p:{}", text(lines)),
            Block::Code { language, lines } => {
                format!("{}:{}", language.as_deref().unwrap_or_default(), text(lines))
            }
            Block::Quote(blocks) => {
                let inner: Vec<_> = blocks.iter().map(|block| written(source, block)).collect();
                format!(">{}<", inner.join("|"))
            }
        }
    }

    fn written_all(source: &str) -> Vec<String> {
        blocks(source).iter().map(|block| written(source, block)).collect()
    }

    #[test]
    fn blank_lines_part_paragraphs() {
        assert_eq!(written_all("a\nb  \n\n \n  c\r\n\r\nd"), ["p:a\nb", "p:  c", "p:d"]);
        assert!(blocks("").is_empty() && blocks("\n \n").is_empty());
    }

    #[test]
    fn fences_hold_code_as_it_is() {
        let source = "Say:\n```rust ignore\nfn a() {}\n\n  b\n```\nafter";
        assert_eq!(written_all(source), ["p:Say:", "rust:fn a() {}\n\n  b", "p:after"]);
        assert_eq!(written_all("~~~~\n```\n~~~\n~~~~\n"), [":```\n~~~"]);
        assert_eq!(written_all("```\n```"), [":"]);
        assert_eq!(written_all("    ```\nx"), ["p:    ```\nx"]);
        assert_eq!(written_all("  ```\n   x\n y\n  ```"), [": x\ny"], "as far in as the fence");
    }

    #[test]
    fn an_open_fence_holds_the_rest() {
        assert_eq!(written_all("```py\na\n\nb\n"), ["py:a\n\nb"]);
        assert_eq!(written_all("```py"), ["py:"]);
        assert_eq!(written_all("```"), [":"]);
    }

    #[test]
    fn quotations_hold_blocks() {
        let source = "So:\n> one\n> two\n>\n> ```sh\n> run\n> ```\n\n— me\n>>deep\n";
        assert_eq!(written_all(source), ["p:So:", ">p:one\ntwo|sh:run<", "p:— me", ">>p:deep<<"]);
    }

    #[test]
    fn quotations_without_end_are_text() {
        let source = ">".repeat(100_000);
        let mut depth = 0;
        let mut inner = blocks(&source);
        while let [Block::Quote(more)] = inner.as_slice() {
            (inner, depth) = (more.clone(), depth + 1);
        }
        assert_eq!(depth, DEEPEST);
    }

    #[test]
    fn a_text_that_grows_changes_only_its_last_block() {
        let source = "one\n\n```c\nx\n```\n> q\n> r\n\ntwo `é` three\n\n~~~\nunclosed\n";
        let whole = blocks(source);
        for (at, _) in source.char_indices() {
            let part = blocks(&source[..at]);
            for (index, block) in part.iter().enumerate().take(part.len().saturating_sub(1)) {
                assert_eq!(Some(block), whole.get(index), "at {at}");
            }
        }
    }
}
