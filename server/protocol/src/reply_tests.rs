#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::json;

use super::*;
use crate::Status;

const REQUEST: &str = "018f2b6e-7c11-7cc3-9d5a-0123456789ab";
const CONVERSATION: &str = "018f2b6e-7c11-7cc3-9d5a-0123456789ac";
const HTML: &str = "<html><h1>504 Gateway Time-out</h1></html>";

fn read(exchange: Exchange, status: u16, content_type: &str, body: &str) -> Verdict {
    read_with(exchange, status, content_type, None, body)
}

fn read_with(
    exchange: Exchange,
    status: u16,
    content_type: &str,
    retry_after: Option<&str>,
    body: &str,
) -> Verdict {
    classify(
        REQUEST.parse().unwrap(),
        CONVERSATION.parse().unwrap(),
        exchange,
        Received::Reply(Reply {
            status,
            content_type: Some(content_type),
            retry_after,
            date: Some("Sun, 06 Nov 1994 08:49:37 GMT"),
            body: body.as_bytes(),
        }),
    )
}

fn problem_body(code: Code, status: u16) -> String {
    json!({"type": "about:blank", "title": "t", "status": status, "detail": "d", "code": code})
        .to_string()
}

fn outcome_body(status: &str) -> String {
    json!({"request_id": REQUEST, "conversation_id": CONVERSATION, "status": status}).to_string()
}

#[test]
fn an_outcome_with_the_ids_asked_for_is_holdfasts_word() {
    for status in ["pending", "completed", "failed", "cancelled", "interrupted"] {
        for code in [200, 202] {
            let verdict = read(
                Exchange::Lookup,
                code,
                "application/json; charset=utf-8",
                &outcome_body(status),
            );
            let Verdict::Outcome(outcome) = verdict else { panic!("{status}: {verdict:?}") };
            assert_eq!(outcome.status.as_str(), status);
        }
    }
}

#[test]
fn whatever_is_not_an_outcome_is_unknown_even_with_status_200() {
    let whole = outcome_body("completed");
    let other = whole.replace(REQUEST, "018f2b6e-7c11-7cc3-9d5a-0123456789ff");
    let elsewhere = whole.replace(CONVERSATION, "018f2b6e-7c11-7cc3-9d5a-0123456789ff");
    for (content_type, body) in [
        ("text/html", HTML),
        ("text/html", whole.as_str()),
        ("application/json", HTML),
        ("application/json", &whole[..whole.len() - 1]),
        ("application/json", ""),
        ("application/json", "null"),
        ("application/json", "{\"status\":\"completed\"}"),
        ("application/json", other.as_str()),
        ("application/json", elsewhere.as_str()),
        ("application/json", &whole.replace("completed", "done")),
        ("application/problem+json", whole.as_str()),
    ] {
        assert_eq!(read(Exchange::Ask, 200, content_type, body), Verdict::NOTHING, "{body}");
    }
    for status in [201, 204, 206, 301, 302, 304, 307, 100, 0] {
        assert_eq!(read(Exchange::Ask, status, "application/json", &whole), Verdict::NOTHING);
    }
}

#[test]
fn a_body_cut_at_any_byte_is_never_an_outcome() {
    let whole = outcome_body("completed");
    for end in 0..whole.len() {
        let verdict = read(Exchange::Ask, 200, "application/json", &whole[..end]);
        assert_eq!(verdict, Verdict::NOTHING, "cut at {end}");
    }
}

#[test]
fn every_status_of_something_in_between_is_unknown() {
    let foreign = json!({"error": {"code": 502, "message": "bad gateway"}}).to_string();
    let alike = json!({"code": "not_found", "message": "no route"}).to_string();
    for status in (400..=599).filter(|status| ![408, 425, 429, 503].contains(status)) {
        for (content_type, body) in [
            ("text/html", HTML),
            ("application/json", foreign.as_str()),
            ("application/json", &alike),
        ] {
            let verdict = read_with(Exchange::Ask, status, content_type, Some("1"), body);
            let Verdict::Unknown { timed_out, replied } = verdict else {
                panic!("{status} {body}: {verdict:?}")
            };
            assert!(!replied);
            assert_eq!(timed_out, [504, 522, 524].contains(&status), "{status}");
        }
    }
}

#[test]
fn every_code_is_refused_or_waited_for_or_has_its_own_rule() {
    for &code in Code::ALL {
        // 502 to 504 with a code is Holdfast speaking, whatever status stands in front of it.
        for status in [code.status(), 502, 503, 504] {
            let body = problem_body(code, status);
            let verdict = read(Exchange::Ask, status, Problem::MEDIA_TYPE, &body);
            assert!(verdict.is_from_holdfast(), "{code}: {verdict:?}");
            let right = match code {
                Code::RateLimited
                | Code::ShuttingDown
                | Code::Starting
                | Code::ArchiveUnavailable => {
                    matches!(verdict, Verdict::Wait { code: Some(c), .. } if c == code)
                }
                Code::SignInRequired | Code::InvalidToken => {
                    matches!(verdict, Verdict::SignIn { .. })
                }
                Code::RequestDeleted => matches!(verdict, Verdict::Gone { .. }),
                Code::Internal => matches!(verdict, Verdict::Unknown { .. }),
                _ => matches!(verdict, Verdict::Refused { code: c, .. } if c == code),
            };
            assert!(right, "{code} with {status}: {verdict:?}");
        }
    }
}

#[test]
fn plain_json_is_holdfasts_only_with_a_listed_code_and_its_own_status() {
    let body = problem_body(Code::InvalidField, 400);
    assert_eq!(read(Exchange::Ask, 502, "application/json", &body), Verdict::NOTHING);
    let verdict = read(Exchange::Ask, 400, "application/json", &body);
    assert!(matches!(verdict, Verdict::Refused { code: Code::InvalidField, .. }));
    let unlisted = body.replace("invalid_field", "upstream_error");
    assert_eq!(read(Exchange::Ask, 400, Problem::MEDIA_TYPE, &unlisted), Verdict::NOTHING);
}

#[test]
fn a_mismatch_means_look_up_only_when_the_ask_was_sent_before() {
    let body = problem_body(Code::RequestMismatch, 422);
    let first = read(Exchange::Ask, 422, Problem::MEDIA_TYPE, &body);
    assert!(matches!(first, Verdict::Refused { code: Code::RequestMismatch, .. }));
    let again = read(Exchange::Resubmission, 422, Problem::MEDIA_TYPE, &body);
    assert_eq!(again, Verdict::Unknown { timed_out: false, replied: true });
}

#[test]
fn already_retried_names_the_ask_to_follow() {
    let problem = Problem::new(Code::AlreadyRetried, "d").naming(REQUEST.parse().unwrap());
    let body = serde_json::to_string(&problem).unwrap();
    let verdict = read(Exchange::Ask, 409, Problem::MEDIA_TYPE, &body);
    assert_eq!(verdict, Verdict::Retried(REQUEST.parse().unwrap()));
}

#[test]
fn retry_after_is_honoured_in_seconds_and_as_a_date_whoever_says_it() {
    let body = problem_body(Code::RateLimited, 429);
    for (header, seconds) in [("7", 7), ("Sun, 06 Nov 1994 08:50:07 GMT", 30), ("3600", 3600)] {
        for (content_type, body) in [(Problem::MEDIA_TYPE, body.as_str()), ("text/html", HTML)] {
            let verdict = read_with(Exchange::Ask, 429, content_type, Some(header), body);
            let Verdict::Wait { after, .. } = verdict else { panic!("{verdict:?}") };
            assert_eq!(after, Duration::from_secs(seconds));
        }
    }
    for status in [408, 425, 429, 503] {
        let verdict = read(Exchange::Ask, status, "text/html", HTML);
        assert!(
            matches!(verdict, Verdict::Unknown { replied: false, .. }),
            "{status} names no time"
        );
    }
}

#[test]
fn nothing_at_all_is_unknown() {
    for timed_out in [true, false] {
        let verdict = classify(
            REQUEST.parse().unwrap(),
            CONVERSATION.parse().unwrap(),
            Exchange::Ask,
            Received::Nothing { timed_out },
        );
        assert_eq!(verdict, Verdict::Unknown { timed_out, replied: false });
    }
}

#[test]
fn the_unknown_outcome_reads_as_one() {
    let unknown = Outcome::unknown(REQUEST.parse().unwrap(), CONVERSATION.parse().unwrap());
    let body = serde_json::to_string(&unknown).unwrap();
    let verdict = read(Exchange::Lookup, 202, "application/json", &body);
    let Verdict::Outcome(read) = verdict else { panic!("{verdict:?}") };
    assert!(read.is_unknown() && read.status == Status::Pending);
}

proptest::proptest! {
    #[test]
    fn no_bytes_whatever_panic_or_pass_for_an_outcome(
        status in 0u16..1000,
        content_type in "[ -~]{0,40}",
        retry_after in "[ -~]{0,40}",
        body in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
    ) {
        let verdict = classify(
            REQUEST.parse().unwrap(),
            CONVERSATION.parse().unwrap(),
            Exchange::Ask,
            Received::Reply(Reply {
                status,
                content_type: Some(&content_type),
                retry_after: Some(&retry_after),
                date: None,
                body: &body,
            }),
        );
        let is_outcome = matches!(verdict, Verdict::Outcome(_));
        proptest::prop_assert!(!is_outcome);
    }
}
