//! Which form of a reply a client prefers: `Accept` (RFC 9110 § 12.5.1).

use axum::http::{HeaderMap, header};
use holdfast_protocol::event_stream;

/// Whether the client wants an ask's events rather than its outcome: it must name them, and not like
/// JSON better.
pub(super) fn prefers_events(headers: &HeaderMap) -> bool {
    let accept = headers.get_all(header::ACCEPT);
    let ranges: Vec<_> = accept
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(range)
        .collect();
    // The most specific range that fits counts.
    let weight = |names: &[&str]| {
        names.iter().find_map(|name| {
            let fitting = ranges.iter().filter(|(range, _)| range.eq_ignore_ascii_case(name));
            fitting.map(|(_, weight)| *weight).max()
        })
    };
    let events = weight(&[event_stream::MEDIA_TYPE]).unwrap_or(0);
    let json = weight(&["application/json", "application/*", "*/*"]).unwrap_or(0);
    events > 0 && events >= json
}

/// A media range and its weight in thousandths; one that is nonsense counts as none.
fn range(text: &str) -> (&str, u16) {
    let mut parts = text.split(';');
    let name = parts.next().unwrap_or_default().trim();
    let weight = parts
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
        .map_or(Some(1000), |(_, weight)| thousandths(weight.trim()));
    (name, weight.unwrap_or(0))
}

/// `0.5` is 500.
fn thousandths(weight: &str) -> Option<u16> {
    let (whole, part) = weight.split_once('.').unwrap_or((weight, ""));
    let part = format!("{part:0<3}");
    let is_weight = matches!(whole, "0" | "1")
        && part.len() == 3
        && part.bytes().all(|byte| byte.is_ascii_digit());
    let part: u16 = part.parse().ok().filter(|_| is_weight)?;
    Some(if whole == "1" { 1000 } else { part })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn events_are_sent_to_those_who_name_them_and_like_nothing_better() {
        for (accept, events) in [
            (&[][..], false),
            (&["*/*"], false),
            (&["text/*"], false),
            (&["application/json"], false),
            (&["text/event-stream"], true),
            (&["Text/Event-Stream"], true),
            (&["text/event-stream, */*"], true),
            (&["application/json, text/event-stream"], true),
            (&["application/json", "text/event-stream"], true),
            (&["application/json, text/event-stream;q=0.9"], false),
            (&["application/json;q=0.5, text/event-stream;q=0.9"], true),
            (&["application/json;q=0.5, text/event-stream ; q=0.51"], true),
            (&["*/*;q=0.1, text/event-stream;q=0.2"], true),
            (&["*/*, application/json;q=0.1, text/event-stream;q=0.2"], true),
            (&["text/event-stream;q=0"], false),
            (&["text/event-stream;q=0.000, */*"], false),
            (&["text/event-stream;q=2"], false),
            (&["text/event-stream;q=x"], false),
            (&["text/event-streams"], false),
            (&[""], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in accept {
                headers.append(header::ACCEPT, value.parse().unwrap());
            }
            assert_eq!(prefers_events(&headers), events, "{accept:?}");
        }
    }
}
