//! A provider's key, kept from being printed by accident.
//!
//! Where keys are read from is the configuration's business; where one is sent, the client's.

use std::fmt;

/// A key. Neither `Debug` nor anything else but [`Secret::expose`] shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The key in `text` without white space around it (files end in a line feed), or nothing if
    /// that leaves nothing.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The key itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_is_no_key() {
        assert_eq!(Secret::new(" \n"), None);
        assert_eq!(Secret::new(" k \n").as_ref().map(Secret::expose), Some("k"));
    }

    #[test]
    fn it_is_not_printed() {
        assert_eq!(format!("{:?}", Secret::new("hidden")), "Some(Secret(…))");
    }
}
