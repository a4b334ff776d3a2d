//! Under which heading a conversation stands: the browser's own days.

use holdfast_recovery::Millis;

const DAY: i64 = 24 * 60 * 60 * 1_000;

/// A span of days, the latest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Day {
    /// Today, and whatever lies ahead of the browser's clock.
    Today,
    /// The day before.
    Yesterday,
    /// Within the last seven days.
    Week,
    /// Within the last thirty.
    Month,
    /// Before that.
    Earlier,
}

impl Day {
    /// Of a moment, seen from now. `offset` is how many milliseconds local time is ahead of UTC.
    pub(crate) fn of(moment: Millis, now: Millis, offset: i64) -> Self {
        let day = |millis: Millis| {
            let millis = i64::try_from(millis).unwrap_or(i64::MAX);
            millis.saturating_add(offset).div_euclid(DAY)
        };
        match day(now) - day(moment) {
            ..=0 => Self::Today,
            1 => Self::Yesterday,
            2..=6 => Self::Week,
            7..=29 => Self::Month,
            _ => Self::Earlier,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 60 * 60 * 1_000;
    /// 2026-11-30, 01:00 UTC.
    const NOW: u64 = 1_796_000_400_000;

    #[test]
    fn days_are_the_browsers_and_not_utcs() {
        let ago = |hours: u64, offset| Day::of(NOW - hours * HOUR, NOW, offset);
        assert_eq!(NOW % (24 * HOUR), HOUR);
        assert_eq!((ago(0, 0), ago(1, 0), ago(2, 0)), (Day::Today, Day::Today, Day::Yesterday));
        let west = -2 * 60 * 60 * 1_000;
        assert_eq!((ago(2, west), ago(24, west)), (Day::Today, Day::Yesterday));
    }

    #[test]
    fn spans_end_where_they_say() {
        let ago = |days: u64| Day::of(NOW - days * 24 * HOUR, NOW, 0);
        assert_eq!((ago(6), ago(7)), (Day::Week, Day::Month));
        assert_eq!((ago(29), ago(30)), (Day::Month, Day::Earlier));
        assert_eq!(Day::of(NOW + 5 * HOUR, NOW, 0), Day::Today, "a clock that is behind");
    }
}
