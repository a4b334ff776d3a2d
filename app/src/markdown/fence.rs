//! Fences of code blocks (`CommonMark` 0.31 § 4.5).

use super::Line;

/// An opening fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    /// The first word after it.
    pub(super) language: Option<String>,
}

impl Fence {
    /// Reads a line that may open a block.
    pub(super) fn open(line: &str) -> Option<Self> {
        let (indent, line) = unindented(line)?;
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let length = line.chars().take_while(|&each| each == mark).count();
        let info = line.trim_start_matches(mark);
        // With backticks after it, it is a code span that fills its line.
        if length < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        let language = info.split_whitespace().next().map(str::to_owned);
        Some(Self { mark, length, indent, language })
    }

    /// A line of the block: as far in as the fence is does not count.
    pub(super) fn inside(&self, source: &str, line: &Line) -> Line {
        let text = source.get(line.clone()).unwrap_or_default();
        let spaces = text.len() - text.trim_start_matches(' ').len();
        line.start + spaces.min(self.indent)..line.end
    }

    /// Whether a line closes the block.
    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        unindented(line).is_some_and(|(_, line)| {
            let rest = line.trim_start_matches(self.mark);
            line.len() - rest.len() >= self.length && rest.trim().is_empty()
        })
    }
}

/// How far in the line begins, and what it is without that: up to three spaces; with four it would
/// be indented code.
fn unindented(line: &str) -> Option<(usize, &str)> {
    let trimmed = line.trim_start_matches(' ');
    let indent = line.len() - trimmed.len();
    (indent <= 3).then_some((indent, trimmed))
}
