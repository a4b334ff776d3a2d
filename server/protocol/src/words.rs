//! Enumerations that stand on the wire as words: reading them.

use std::fmt;

/// The text is none of the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownWord;

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not one of the words")
    }
}

/// Reads an enumeration's words from a table; with `else`, any other word is that one. What serde
/// derives says the same in several times the code.
macro_rules! words {
    ($name:ident { $($variant:ident = $word:literal),* $(,)? } $(else $other:ident)?) => {
        impl std::str::FromStr for $name {
            type Err = crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                const WORDS: &[(&str, $name)] = &[$(($word, $name::$variant)),*];
                let found = WORDS.iter().find(|(word, _)| *word == text).map(|(_, it)| *it);
                $(let found = found.or(Some($name::$other));)?
                found.ok_or(crate::words::UnknownWord)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::fmt::Debug;
    use std::str::FromStr;

    use serde::Serialize;

    use crate::{
        CaptureReason, ContextKind, FailureCode, Finish, Format, ModelState, Route, State, Status,
    };

    /// What is written is read again, so that the two tables cannot part.
    fn agrees<T: Serialize + FromStr<Err: Debug> + PartialEq + Debug>(all: &[T]) {
        for one in all {
            let word = serde_json::to_value(one).unwrap();
            assert_eq!(&word.as_str().unwrap().parse::<T>().unwrap(), one);
        }
    }

    #[test]
    fn every_word_is_read_as_it_is_written() {
        use FailureCode as F;
        agrees(&[
            Status::Pending,
            Status::Completed,
            Status::Failed,
            Status::Cancelled,
            Status::Interrupted,
        ]);
        agrees(&[State::Unknown, State::Accepted, State::Running, State::Archiving]);
        agrees(&[Format::Markdown]);
        agrees(&[Finish::Stop, Finish::Length, Finish::Filtered]);
        agrees(&[
            F::ProviderRequired,
            F::ProviderUnreachable,
            F::ProviderTimeout,
            F::ProviderRejected,
            F::ProviderThrottled,
            F::ProviderFailed,
            F::ProviderEmpty,
            F::AnswerTooLarge,
            F::BudgetExhausted,
            F::ServerRestarted,
            F::Internal,
        ]);
        agrees(&[
            Route::Provider,
            Route::Notes,
            Route::MemoryExact,
            Route::MemorySemantic,
            Route::MemoryBroad,
            Route::MemorySaved,
            Route::MemoryChanged,
        ]);
        agrees(&[CaptureReason::MemoryOff]);
        agrees(&[ContextKind::Note, ContextKind::Turn]);
        agrees(&[ModelState::Ready, ModelState::Unreachable, ModelState::KeyMissing]);
    }

    #[test]
    fn a_newer_servers_words_are_read_where_that_is_safe() {
        assert_eq!("provider_on_fire".parse(), Ok(FailureCode::Internal));
        assert_eq!("too-dull".parse(), Ok(CaptureReason::MemoryOff));
        assert!("half-done".parse::<Status>().is_err());
    }
}
