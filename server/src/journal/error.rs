//! Why the journal could not do what it was asked.

use thiserror::Error;

/// A failure of the store. Its text is for the log: it may name files and must not leave the process.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JournalError {
    /// The store cannot be read or written now. A write may have left something behind or not.
    #[error("the archive cannot be reached: {0}")]
    Unavailable(String),
    /// Another process has taken the archive over: nothing of this one may be written any more.
    #[error("another process has taken over the archive")]
    Stale,
    /// What is stored, or what was to be, breaks a rule of the store: a fault in Holdfast.
    #[error("the archive refused what cannot be: {0}")]
    Broken(String),
}
