//! Why something could not be measured, in one sentence.

use std::fmt;

/// A sentence for whoever ran the benchmark.
#[derive(Debug)]
pub(crate) struct Failure(String);

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Says what was being done when something failed.
pub(crate) trait Context<T> {
    /// `doing` completes “could not …”.
    fn doing(self, doing: &str) -> Result<T>;
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn doing(self, doing: &str) -> Result<T> {
        self.map_err(|error| Failure(format!("could not {doing}: {error}")))
    }
}

impl<T> Context<T> for Option<T> {
    fn doing(self, doing: &str) -> Result<T> {
        self.ok_or_else(|| Failure(format!("could not {doing}")))
    }
}
