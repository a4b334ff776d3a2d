//! How a command fails: one sentence for a person, and an exit code. Not here: what a child process
//! printed, which was shown when it happened.

use std::fmt::Display;
use std::process::ExitCode;

/// What every step returns.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) struct Failure {
    sentence: String,
    code: u8,
}

impl Failure {
    /// Something that was tried did not work: exit code 1.
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), code: 1 }
    }

    /// As [`Self::new`], after the command has said why: exit code 1, and not a word more.
    pub(crate) fn told() -> Self {
        Self::new("")
    }

    /// The command line makes no sense: exit code 2.
    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), code: 2 }
    }

    /// Whether the command has not said it yet.
    pub(crate) fn is_news(&self) -> bool {
        !self.sentence.is_empty()
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.sentence)
    }
}

/// Says what was being done when an error of the system came up.
pub(crate) trait Context<T> {
    /// `doing` completes “could not …”.
    fn doing(self, doing: impl Display) -> Result<T>;
}

impl<T, E: Display> Context<T> for std::result::Result<T, E> {
    fn doing(self, doing: impl Display) -> Result<T> {
        self.map_err(|error| Failure::new(format!("could not {doing}: {error}")))
    }
}
