//! Text never shrinks: what was shown stays until something at least as complete replaces it.

use holdfast_protocol::{Outcome, Status};

/// The text of an answer as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    text: String,
    unarchived_from: Option<usize>,
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

    /// Takes what an outcome says of the text.
    ///
    /// A completed answer replaces everything. Any other text replaces what is shown unless it is
    /// only the beginning of it: then the shown stays, and once the ask is settled its tail is marked.
    pub fn merge(&mut self, outcome: &Outcome) {
        let stored = outcome.text();
        let is_prefix = stored.len() < self.text.len() && self.text.starts_with(stored);
        if outcome.status == Status::Completed || !is_prefix {
            self.text.clear();
            self.text.push_str(stored);
            self.unarchived_from = None;
        } else if outcome.status.is_settled() {
            self.unarchived_from = Some(stored.len());
        }
    }
}
