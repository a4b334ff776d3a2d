//! A moment by the server's clock, as RFC 3339 in UTC.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Milliseconds since the Unix epoch; on the wire RFC 3339 in UTC with milliseconds
/// (`2026-01-31T09:00:00.000Z`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The last moment RFC 3339 can write: 9999-12-31T23:59:59.999Z.
    const LAST: u64 = 253_402_300_799_999;

    /// The moment so many milliseconds after the epoch, at most the last one that can be written.
    pub fn from_millis(millis: u64) -> Self {
        Self(millis.min(Self::LAST))
    }

    /// Milliseconds since the epoch.
    pub const fn millis(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(self.0);
        humantime::format_rfc3339_millis(time).fmt(f)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = humantime::TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let time = humantime::parse_rfc3339(text)?;
        let since = time
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_err(|_| humantime::TimestampError::OutOfRange)?;
        Ok(Self::from_millis(u64::try_from(since.as_millis()).unwrap_or(Self::LAST)))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn writing_and_reading_agree(millis in 0..=Timestamp::LAST) {
            let moment = Timestamp::from_millis(millis);
            proptest::prop_assert_eq!(moment.to_string().parse::<Timestamp>().ok(), Some(moment));
        }
    }

    #[test]
    fn a_known_moment_is_written_as_rfc_3339() {
        assert_eq!(
            Timestamp::from_millis(1_769_850_000_123).to_string(),
            "2026-01-31T09:00:00.123Z"
        );
    }
}
