//! What a title may be, decided once for both sides.

use std::fmt;

use crate::limits::TITLE_CHARS;

/// The title of a conversation, as a person gives it: one line, trimmed of Unicode white space, 1 to
/// [`TITLE_CHARS`] scalar values, without NUL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title(String);

/// Why a text is no title. The sentence is fit to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TitleError {
    /// Nothing is left after trimming.
    Empty,
    /// So many scalar values, which is more than [`TITLE_CHARS`].
    TooLong(usize),
    /// It holds a NUL character.
    Nul,
}

impl Title {
    /// Trims the text and checks it. What breaks a line becomes a space.
    ///
    /// # Errors
    /// When nothing is left, when too much is left, or when it holds NUL.
    pub fn parse(text: &str) -> Result<Self, TitleError> {
        let breaks = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
        let line = text.trim().replace(breaks, " ");
        if line.is_empty() {
            return Err(TitleError::Empty);
        }
        if line.contains('\0') {
            return Err(TitleError::Nul);
        }
        match line.chars().count() {
            chars if chars > TITLE_CHARS => Err(TitleError::TooLong(chars)),
            _ => Ok(Self(line)),
        }
    }

    /// The title.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The title, owned.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for TitleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("The title is empty."),
            Self::TooLong(chars) => {
                write!(f, "The title has {chars} characters; at most {TITLE_CHARS} fit.")
            }
            Self::Nul => f.write_str("The title holds a NUL character, which cannot be kept."),
        }
    }
}

impl std::error::Error for TitleError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_trimmed_line() {
        let parsed = Title::parse("\u{3000} Why\nthe  sky? \u{2028}");
        assert_eq!(parsed.map(Title::into_string), Ok("Why the  sky?".into()));
    }

    #[test]
    fn nothing_nul_and_too_much_are_refused() {
        assert_eq!(Title::parse(" \n"), Err(TitleError::Empty));
        assert_eq!(Title::parse("a\0"), Err(TitleError::Nul));
        let long = |chars| "é".repeat(chars);
        assert!(Title::parse(&format!(" {} ", long(TITLE_CHARS))).is_ok());
        assert_eq!(Title::parse(&long(201)), Err(TitleError::TooLong(201)));
    }
}
