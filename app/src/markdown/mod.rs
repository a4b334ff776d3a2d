//! Answers as blocks: paragraphs and fenced code, with code spans inside paragraphs.
//!
//! Here: reading Markdown into [`Block`]s, as plain data that keeps its place in the source. Not
//! here: drawing them (`ui::turn::answer`). Nothing of an answer ever becomes HTML.

mod fence;
mod span;

use std::ops::Range;

use self::fence::Fence;

pub(crate) use self::span::{Span, spans};

/// One block of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// Running text.
    Paragraph(Range<usize>),
    /// A fenced code block.
    Code {
        /// The first word after the opening fence.
        language: Option<String>,
        /// What stands between the fences, without the last line's end.
        content: Range<usize>,
    },
}

/// Reads an answer. A text that goes on gives the same blocks, but for the last one.
pub(crate) fn blocks(source: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    let mut start = 0;
    for line in source.split_inclusive('\n') {
        let end = start + line.len();
        reader.line(line.trim_end_matches(['\n', '\r']), start, end);
        start = end;
    }
    reader.finish(source)
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    paragraph: Option<Range<usize>>,
    open: Option<(Fence, Range<usize>)>,
}

impl Reader {
    fn line(&mut self, line: &str, start: usize, end: usize) {
        if let Some((fence, content)) = &mut self.open {
            if fence.is_closed_by(line) {
                self.close();
            } else {
                content.end = start + line.len();
            }
            return;
        }
        if let Some(fence) = Fence::open(line) {
            self.end_paragraph();
            self.open = Some((fence, end..end));
        } else if line.trim().is_empty() {
            self.end_paragraph();
        } else {
            let line_end = start + line.trim_end().len();
            match &mut self.paragraph {
                Some(range) => range.end = line_end,
                None => self.paragraph = Some(start..line_end),
            }
        }
    }

    fn end_paragraph(&mut self) {
        self.blocks.extend(self.paragraph.take().map(Block::Paragraph));
    }

    fn close(&mut self) {
        if let Some((fence, content)) = self.open.take() {
            self.blocks.push(Block::Code { language: fence.language, content });
        }
    }

    fn finish(mut self, source: &str) -> Vec<Block> {
        // A fence that is still open holds all the rest, as CommonMark has it.
        if let Some((_, content)) = &mut self.open {
            content.start = content.start.min(source.len());
            content.end = content.end.clamp(content.start, source.len());
        }
        self.close();
        self.end_paragraph();
        self.blocks
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::indexing_slicing, reason = "tests")]

    use super::*;

    fn read(source: &str) -> Vec<String> {
        let write = |block: &Block| match block {
            Block::Paragraph(range) => format!("p:{}", &source[range.clone()]),
            Block::Code { language, content } => {
                let language = language.as_deref().unwrap_or_default();
                format!("{language}:{}", &source[content.clone()])
            }
        };
        blocks(source).iter().map(write).collect()
    }

    #[test]
    fn blank_lines_part_paragraphs() {
        assert_eq!(read("a\nb  \n\n \n  c\r\n\r\nd"), ["p:a\nb", "p:  c", "p:d"]);
        assert!(read("").is_empty() && read("\n \n").is_empty());
    }

    #[test]
    fn fences_hold_code_as_it_is() {
        let source = "Say:\n```rust ignore\nfn a() {}\n\n  b\n```\nafter";
        assert_eq!(read(source), ["p:Say:", "rust:fn a() {}\n\n  b", "p:after"]);
        assert_eq!(read("~~~~\n```\n~~~\n~~~~\n"), [":```\n~~~"]);
        assert_eq!(read("```\n```"), [":"]);
        assert_eq!(read("    ```\nx"), ["p:    ```\nx"]);
    }

    #[test]
    fn an_open_fence_holds_the_rest() {
        assert_eq!(read("```py\na\n\nb\n"), ["py:a\n\nb"]);
        assert_eq!(read("```py"), ["py:"]);
        assert_eq!(read("```"), [":"]);
    }

    #[test]
    fn a_text_that_grows_changes_only_its_last_block() {
        let source = "one\n\n```c\nx\n```\ntwo `é` three\n\n~~~\nunclosed\n";
        let whole = blocks(source);
        for (at, _) in source.char_indices() {
            let part = blocks(&source[..at]);
            for (index, block) in part.iter().enumerate().take(part.len().saturating_sub(1)) {
                assert_eq!(Some(block), whole.get(index), "at {at}");
            }
        }
    }
}
