//! The browser's clock. Not here: what times mean; recovery takes them as values.

use holdfast_recovery::Millis;

/// Milliseconds since the epoch. The wall clock, because it goes on counting while the machine
/// sleeps; a jump of it at worst makes the page look up an answer that it would have anyway.
pub(crate) fn now() -> Millis {
    millis(js_sys::Date::now())
}

/// How many milliseconds local time is ahead of UTC.
#[expect(clippy::cast_possible_truncation, reason = "whole minutes, less than a day of them")]
pub(crate) fn offset() -> i64 {
    -(js_sys::Date::new_0().get_timezone_offset() as i64) * 60_000
}

/// The same from a number of JavaScript's.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped; a fraction of a millisecond is of no use"
)]
const fn millis(number: f64) -> Millis {
    if number.is_finite() && number > 0.0 { number as Millis } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_before_the_epoch() {
        assert_eq!(millis(1_769_850_000_123.9), 1_769_850_000_123);
        assert_eq!((millis(-5.0), millis(f64::NAN), millis(f64::INFINITY)), (0, 0, 0));
    }
}
