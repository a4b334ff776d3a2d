//! The `Retry-After` response header in both its forms (RFC 9110 § 10.2.3).

use std::time::Duration;

/// How long the reply asks to wait: seconds as they stand, a date relative to the reply's own
/// `Date`, so that the reader's clock does not matter. `None` for anything else, and for a date
/// without a `Date` to hold it against. A moment already past is no wait.
pub fn retry_after(header: &str, date: Option<&str>) -> Option<Duration> {
    let header = header.trim();
    if !header.is_empty() && header.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(header.parse().unwrap_or(u64::MAX)));
    }
    let until = httpdate::parse_http_date(header).ok()?;
    let date = httpdate::parse_http_date(date?.trim()).ok()?;
    Some(until.duration_since(date).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

    #[test]
    fn every_form_of_the_standard_is_read() {
        for (header, seconds) in [
            ("120", Some(120)),
            ("0", Some(0)),
            (" 7 ", Some(7)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", Some(60)),
            ("Sun Nov  6 08:50:37 1994", Some(60)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("-5", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            let wait = retry_after(header, Some(DATE));
            assert_eq!(wait, seconds.map(Duration::from_secs), "{header:?}");
        }
    }

    #[test]
    fn a_date_needs_the_replys_own_date() {
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:50:37 GMT", None), None);
    }
}
