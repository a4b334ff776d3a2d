//! The `Prefer: wait=N` request header (RFC 7240).

use crate::limits::WAIT_SECONDS_MOST;

/// The wait asked for, in seconds, clamped to 0…25; `None` where the header asks for none or is
/// nonsense, which RFC 7240 § 2 says to ignore. The first `wait` counts.
pub fn wait_preference(header: &str) -> Option<u32> {
    let preference = header
        .split(',')
        .filter_map(|preference| preference.split(';').next())
        .filter_map(|preference| preference.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("wait"))?;
    let value = preference.1.trim();
    let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // A number too long for the type is still a number: more than the most.
    Some(value.parse().unwrap_or(u32::MAX).min(WAIT_SECONDS_MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_clamped_or_ignored() {
        for (header, wait) in [
            ("wait=0", Some(0)),
            ("wait=7", Some(7)),
            ("respond-async, WAIT = \"9\"; x=y", Some(9)),
            ("wait=26", Some(25)),
            ("wait=99999999999999999999", Some(25)),
            ("wait=-1", None),
            ("wait=1.5", None),
            ("wait=", None),
            ("wait", None),
            ("", None),
            ("return=minimal", None),
            ("wait=3, wait=9", Some(3)),
        ] {
            assert_eq!(wait_preference(header), wait, "{header:?}");
        }
    }
}
