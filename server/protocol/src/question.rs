//! What a question may be, decided once for both sides.

use std::fmt;

use crate::limits::QUESTION_CHARS;

/// A question as it is stored and shown: trimmed of Unicode white space, 1 to
/// [`QUESTION_CHARS`] scalar values, without NUL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question(String);

/// Why a text is no question. The sentence is fit to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionError {
    /// Nothing is left after trimming.
    Empty,
    /// So many scalar values, which is more than [`QUESTION_CHARS`].
    TooLong(usize),
    /// It holds a NUL character.
    Nul,
}

impl Question {
    /// Trims the text and checks it.
    ///
    /// # Errors
    /// When nothing is left, when too much is left, or when it holds NUL.
    pub fn parse(text: &str) -> Result<Self, QuestionError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(QuestionError::Empty);
        }
        if trimmed.contains('\0') {
            return Err(QuestionError::Nul);
        }
        let chars = trimmed.chars().count();
        if chars > QUESTION_CHARS {
            return Err(QuestionError::TooLong(chars));
        }
        Ok(Self(trimmed.to_owned()))
    }

    /// The trimmed text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The trimmed text, owned.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("The question is empty."),
            Self::TooLong(chars) => {
                write!(f, "The question has {chars} characters; at most {QUESTION_CHARS} fit.")
            }
            Self::Nul => f.write_str("The question holds a NUL character, which cannot be kept."),
        }
    }
}

impl std::error::Error for QuestionError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unicode_white_space_is_trimmed_and_inner_space_kept() {
        let parsed = Question::parse("\u{3000}\n a  b \u{2028}\u{a0}");
        assert_eq!(parsed.map(Question::into_string), Ok("a  b".into()));
    }

    #[test]
    fn nothing_but_white_space_is_empty() {
        assert_eq!(Question::parse(" \u{2003}\r\n"), Err(QuestionError::Empty));
    }

    #[test]
    fn the_limit_counts_scalar_values_after_trimming() {
        let longest = format!("  {}  ", "🦀".repeat(QUESTION_CHARS));
        assert!(Question::parse(&longest).is_ok());
        let longer = "é".repeat(QUESTION_CHARS + 1);
        assert_eq!(Question::parse(&longer), Err(QuestionError::TooLong(QUESTION_CHARS + 1)));
    }

    #[test]
    fn nul_is_refused_anywhere() {
        assert_eq!(Question::parse("a\0b"), Err(QuestionError::Nul));
        assert_eq!(Question::parse("\0"), Err(QuestionError::Nul));
    }
}
