//! The two ids a page makes: of an ask and of a conversation.
//!
//! An id is a UUID in canonical form (lower case, hyphens). Any other spelling is refused, never
//! normalised: two spellings of one id would be two keys for one ask.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// The text is not a UUID in canonical lower-case hyphenated form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdError;

impl fmt::Display for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be a UUID in lower-case hyphenated form")
    }
}

impl std::error::Error for IdError {}

fn parse_canonical(text: &str) -> Result<Uuid, IdError> {
    let uuid = Uuid::try_parse(text).map_err(|_| IdError)?;
    let mut buffer = Uuid::encode_buffer();
    if *uuid.hyphenated().encode_lower(&mut buffer) == *text { Ok(uuid) } else { Err(IdError) }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID that was made or read elsewhere.
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID itself.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0.hyphenated(), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse_canonical(text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id! {
    /// The identity of one ask, made in the browser before the first byte is sent.
    RequestId
}

id! {
    /// The identity of a conversation, made in the browser with its first ask.
    ConversationId
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANONICAL: &str = "018f2b6e-7c11-7cc3-9d5a-0123456789ab";

    #[test]
    fn the_canonical_form_comes_back_unchanged() {
        assert_eq!(CANONICAL.parse::<RequestId>().map(|id| id.to_string()), Ok(CANONICAL.into()));
    }

    #[test]
    fn any_other_spelling_is_refused() {
        let others = [
            String::new(),
            CANONICAL.to_uppercase(),
            CANONICAL.replace('-', ""),
            format!("{{{CANONICAL}}}"),
            format!("urn:uuid:{CANONICAL}"),
            format!(" {CANONICAL}"),
            format!("{CANONICAL}\n"),
            CANONICAL.replace('a', "%61"),
            CANONICAL.replace('0', "０"),
            CANONICAL.replace('-', "‐"),
        ];
        for other in others {
            assert_eq!(other.parse::<RequestId>(), Err(IdError), "{other:?}");
        }
    }
}
