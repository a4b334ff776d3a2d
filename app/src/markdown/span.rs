//! Code spans inside a line (`CommonMark` 0.31 § 6.1).

use std::ops::Range;

/// A piece of a paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// Text as it stands.
    Text(Range<usize>),
    /// What stands between two equally long runs of backticks.
    Code(Range<usize>),
}

/// Parts a range of the source into spans.
pub(crate) fn spans(source: &str, range: Range<usize>) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut text_from = range.start;
    let mut at = range.start;
    while let Some(run) = next_run(source, at..range.end) {
        let closing = std::iter::successors(next_run(source, run.end..range.end), |other| {
            next_run(source, other.end..range.end)
        })
        .find(|other| other.len() == run.len());
        let Some(closing) = closing else {
            at = run.end;
            continue;
        };
        if text_from < run.start {
            spans.push(Span::Text(text_from..run.start));
        }
        spans.push(Span::Code(stripped(source, run.end..closing.start)));
        text_from = closing.end;
        at = closing.end;
    }
    if text_from < range.end {
        spans.push(Span::Text(text_from..range.end));
    }
    spans
}

/// The next run of backticks.
fn next_run(source: &str, within: Range<usize>) -> Option<Range<usize>> {
    let text = source.get(within.clone())?;
    let start = within.start + text.find('`')?;
    let length = source.get(start..within.end)?.bytes().take_while(|&byte| byte == b'`').count();
    Some(start..start + length)
}

/// One space on each side is there for backticks at the edge, unless there is nothing else.
fn stripped(source: &str, range: Range<usize>) -> Range<usize> {
    match source.get(range.clone()) {
        Some(code)
            if code.len() > 2
                && code.starts_with(' ')
                && code.ends_with(' ')
                && !code.trim().is_empty() =>
        {
            range.start + 1..range.end - 1
        }
        _ => range,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Vec<String> {
        let write = |span: &Span| match span {
            Span::Text(range) => source[range.clone()].to_owned(),
            Span::Code(range) => format!("<{}>", &source[range.clone()]),
        };
        spans(source, 0..source.len()).iter().map(write).collect()
    }

    #[test]
    fn equal_runs_make_code() {
        assert_eq!(read("a `b` c"), ["a ", "<b>", " c"]);
        assert_eq!(read("``a`b``"), ["<a`b>"]);
        assert_eq!(read("`` ` ``"), ["<`>"]);
        assert_eq!(read("`é`"), ["<é>"]);
        assert_eq!(read("none"), ["none"]);
    }

    #[test]
    fn unequal_runs_are_text() {
        assert_eq!(read("a ` b"), ["a ` b"]);
        assert_eq!(read("```a `b`"), ["```a ", "<b>"]);
        assert_eq!(read("`a``"), ["`a``"]);
    }
}
