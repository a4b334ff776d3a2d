//! Text never shrinks: what was shown stays until something at least as complete replaces it.
//!
//! It comes in pieces, each with the place where it begins: pages of lookups, deltas of a stream. What
//! the server has is nearly always what is shown, and more. Only after a crash it may have less, or,
//! where nothing was billed, another text: that one then grows unseen until it is as long.

use holdfast_protocol::{Outcome, Status};

/// Text as it is shown, and how much of the server's is here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    text: String,
    unarchived_from: Option<usize>,
    /// The beginning of what the server has, where that is shorter than what is shown.
    source: Option<String>,
}

/// How much of the server's text is here after an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// All of it.
    Whole,
    /// More than before, and not all.
    Part,
    /// Not all, and no more than before.
    Stuck,
}

impl Shown {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the part begins that was shown but is not in the archive, in bytes; a character
    /// boundary. `None` where all of it is, or may yet be.
    pub const fn unarchived_from(&self) -> Option<usize> {
        self.unarchived_from
    }

    /// How much of what the server has is here, in bytes: where it is to go on.
    pub fn held(&self) -> u64 {
        self.source().len() as u64
    }

    fn source(&self) -> &str {
        self.source.as_deref().unwrap_or(&self.text)
    }

    /// Joins the piece that begins at `offset`. Where that is before the end of what is held, what was
    /// held from there on is void unless the piece is the beginning of it. Says whether it joins: a
    /// piece beyond the end, or inside a character, belongs to something else.
    pub(crate) fn join(&mut self, offset: u64, piece: &str) -> bool {
        let source = self.source();
        let split = usize::try_from(offset).ok().and_then(|at| source.split_at_checked(at));
        let Some((before, rest)) = split else { return false };
        if rest.starts_with(piece) {
            return true;
        }
        let (at, is_next) = (before.len(), rest.is_empty());
        match &mut self.source {
            None if is_next => self.text.push_str(piece),
            source => {
                let source = source.get_or_insert_with(|| self.text.clone());
                source.truncate(at);
                source.push_str(piece);
            }
        }
        let shown = self.text.len();
        if let Some(source) = self.source.take_if(|source| source.len() >= shown) {
            self.text = source;
        }
        true
    }

    /// Takes what an outcome says of the text: the whole of it, or a page.
    ///
    /// Once all is here of a settled one, a completed answer replaces everything; where any other is
    /// shorter than what is shown, the shown stays, and the tail that is not in the archive is marked.
    pub(crate) fn take(&mut self, outcome: &Outcome) -> Taken {
        let Some(answer) = &outcome.answer else { return self.place(0, 0, "", outcome.status) };
        self.place(answer.offset, answer.bytes, &answer.text, outcome.status)
    }

    /// The same for a piece of a text that is so many bytes long.
    pub(crate) fn place(&mut self, offset: u64, bytes: u64, piece: &str, status: Status) -> Taken {
        let before = self.held();
        let end = offset.saturating_add(piece.len() as u64);
        let bytes = bytes.max(end);
        let joins = self.join(offset, piece);
        if !joins || end < self.held() {
            // Whoever was asked for more than is held sent less: what is held beyond it is not there.
            let kept = usize::try_from(end).ok().filter(|_| joins);
            let kept = kept.and_then(|end| self.source().get(..end)).unwrap_or_default();
            self.source = Some(kept.to_owned());
        }
        match self.end(bytes, status) {
            true => Taken::Whole,
            false if self.held() == before => Taken::Stuck,
            false => Taken::Part,
        }
    }

    /// The text is so many bytes long. Says whether they are all here.
    pub(crate) fn end(&mut self, bytes: u64, status: Status) -> bool {
        if bytes < self.held() {
            // It is not the one that was held, or less of it: nobody knows until it is told again.
            self.source = Some(String::new());
        }
        if self.held() < bytes {
            return false;
        }
        if status.is_settled() {
            let source = self.source.take();
            self.unarchived_from = source.as_deref().map(|source| common(&self.text, source));
            if let Some(source) = source.filter(|_| status == Status::Completed) {
                self.text = source;
                self.unarchived_from = None;
            }
        }
        true
    }
}

/// How long the beginning is that two texts have in common, in bytes.
fn common(text: &str, other: &str) -> usize {
    let mut pairs = text.char_indices().zip(other.chars());
    pairs.find(|((_, a), b)| a != b).map_or(other.len(), |((at, _), _)| at)
}
