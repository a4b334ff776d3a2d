//! What both sides read off the values of the protocol, from outside.

#![expect(clippy::unwrap_used, reason = "tests")]

use holdfast_protocol::reply::Verdict;
use holdfast_protocol::{
    Answer, Code, ConversationId, Limits, Outcome, Owner, Problem, Question, Receipt,
    RecoveryPolicy, RequestId, Session, State, Status, Timestamp, limits,
};
use serde_json::{from_value, json};
use uuid::Uuid;

fn bare(status: Status, state: Option<State>) -> Outcome {
    Outcome::bare(RequestId::new(Uuid::nil()), ConversationId::new(Uuid::nil()), status, state)
}

#[test]
fn the_limits_are_those_of_the_protocol() {
    assert_eq!(limits::QUESTION_CHARS, 32_768);
    assert_eq!(limits::ASK_BODY_BYTES, 524_288);
    assert_eq!(limits::BODY_BYTES, 65_536);
    assert_eq!(limits::PAGE_BYTES, 65_536);
    assert_eq!(limits::ANSWER_BYTES, 2_000_000);
}

#[test]
fn only_pending_is_not_settled() {
    let settled = [Status::Completed, Status::Failed, Status::Cancelled, Status::Interrupted];
    assert!(settled.iter().all(|status| status.is_settled()));
    assert!(!Status::Pending.is_settled());
}

#[test]
fn only_what_was_never_heard_of_is_unknown() {
    assert!(bare(Status::Pending, Some(State::Unknown)).is_unknown());
    for state in [State::Accepted, State::Running, State::Archiving] {
        assert!(!bare(Status::Pending, Some(state)).is_unknown());
    }
    assert!(!bare(Status::Completed, None).is_unknown());
}

#[test]
fn an_outcome_without_an_answer_has_no_text() {
    let mut outcome = bare(Status::Completed, None);
    assert_eq!(outcome.text(), "");
    outcome.answer = Some(Answer { text: "So.".to_owned(), ..Answer::default() });
    assert_eq!(outcome.text(), "So.");
}

#[test]
fn parts_of_an_outcome_are_read_and_not_made_up() {
    let outcome: Outcome = from_value(json!({
        "request_id": Uuid::nil().to_string(),
        "conversation_id": Uuid::nil().to_string(),
        "status": "completed",
        "asked_at": "2026-01-31T09:00:00.123Z",
        "answer": {"format": "markdown", "text": "Grüße", "offset": 0, "bytes": 7},
        "receipt": {"provider": "openai", "provider_calls": 1, "submissions": 3, "run_ms": 42},
    }))
    .unwrap();
    let answer = outcome.answer.as_ref().unwrap();
    assert_eq!((answer.text.as_str(), answer.bytes), ("Grüße", 7));
    let receipt = Receipt {
        provider: Some("openai".to_owned()),
        provider_calls: 1,
        submissions: 3,
        run_ms: Some(42),
        ..Receipt::default()
    };
    assert_eq!(outcome.receipt, Some(receipt));
    assert_eq!(outcome.asked_at.map(Timestamp::millis), Some(1_769_850_000_123));
}

#[test]
fn a_sessions_numbers_are_the_servers() {
    let session: Session = from_value(json!({
        "signed_in": true,
        "principal": {"name": "local"},
        "owner": "p1.a1",
        "limits": {"question": 7},
        "models": [],
        "offers": [],
        "recovery": {"submit_attempts": 1, "startup_attempts": 2, "resubmissions": 3},
        "build": "b",
    }))
    .unwrap();
    assert_eq!(session.limits, Limits { question: 7 });
    let policy = RecoveryPolicy { submit_attempts: 1, startup_attempts: 2, resubmissions: 3 };
    assert_eq!(session.recovery, policy);
    assert_eq!((session.owner.principal(), session.owner.archive()), ("p1", "a1"));
    assert_eq!(session.owner.to_string(), "p1.a1");
}

#[test]
fn what_is_wrong_is_said_in_words() {
    assert_eq!(Code::AlreadyRetried.to_string(), "already_retried");
    assert_eq!(Problem::new(Code::NotFound, "x").kind, "about:blank");
    assert!(!"p".parse::<Owner>().unwrap_err().to_string().is_empty());
    assert!(!"x".parse::<RequestId>().unwrap_err().to_string().is_empty());
    assert!(!Question::parse(" ").unwrap_err().to_string().is_empty());
    assert_eq!(Question::parse(" Why? ").unwrap().as_str(), "Why?");
}

#[test]
fn only_what_nobody_from_holdfast_said_is_not_from_holdfast() {
    let unknown = |replied| Verdict::Unknown { timed_out: false, replied };
    assert!(!unknown(false).is_from_holdfast());
    assert!(unknown(true).is_from_holdfast());
    assert!(Verdict::Outcome(Box::new(bare(Status::Pending, None))).is_from_holdfast());
}
