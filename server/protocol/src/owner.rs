//! Whose an ask is: a principal in one archive.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `PRINCIPAL.ARCHIVE`, both opaque. A restored backup gets a new archive part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    text: String,
    dot: usize,
}

/// The text is not of the form `PRINCIPAL.ARCHIVE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnerError;

impl fmt::Display for OwnerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an owner is PRINCIPAL.ARCHIVE")
    }
}

impl std::error::Error for OwnerError {}

impl Owner {
    /// The principal's part.
    pub fn principal(&self) -> &str {
        self.text.get(..self.dot).unwrap_or_default()
    }

    /// The archive's part.
    pub fn archive(&self) -> &str {
        self.text.get(self.dot + 1..).unwrap_or_default()
    }

    /// The whole.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Owner {
    type Err = OwnerError;

    fn from_str(text: &str) -> Result<Self, OwnerError> {
        match text.split_once('.') {
            Some((principal, archive))
                if !principal.is_empty() && !archive.is_empty() && !archive.contains('.') =>
            {
                Ok(Self { dot: principal.len(), text: text.to_owned() })
            }
            _ => Err(OwnerError),
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Owner {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Owner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_are_there_and_only_two() {
        let owner: Owner = "p1.a1".parse().unwrap_or_else(|_| unreachable!());
        assert_eq!((owner.principal(), owner.archive(), owner.as_str()), ("p1", "a1", "p1.a1"));
        for wrong in ["", ".", "p.", ".a", "p", "p.a.b"] {
            assert_eq!(wrong.parse::<Owner>(), Err(OwnerError), "{wrong:?}");
        }
    }
}
