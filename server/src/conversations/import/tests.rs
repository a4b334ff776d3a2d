//! Whatever is imported passes the check of an archive: a file is refused, or holds nothing that Holdfast
//! could not have written itself.

#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use uuid::Uuid;

use super::read;
use crate::journal::sqlite::{Drive, Options, SqliteJournal, check};
use crate::journal::{Identity, Journal as _};

fn id(number: u128) -> String {
    Uuid::from_u128(number).to_string()
}

/// A file that can be imported, with one of each kind of turn. Its ids follow `first`.
fn sound(first: u128) -> Value {
    let id = |number| id(first + number);
    let turn = |number: u128, rest: &Value| {
        let mut turn = json!({
            "request_id": id(number), "conversation_id": id(1), "seq": number, "question": "Why?",
            "asked_at": "2026-01-01T00:00:00.000Z", "settled_at": "2026-01-01T00:00:01.000Z",
            "answer": {"format": "markdown", "text": "So.", "offset": 0, "bytes": 3,
                "reasoning": "hm", "finish": "stop"},
            "route": "provider",
            "receipt": {"provider": "openai", "model": "m", "provider_calls": 1, "input_tokens": 1,
                "output_tokens": 2, "usage_estimated": false, "cost_micros": 3, "currency": "EUR",
                "submissions": 1, "first_token_ms": 4, "run_ms": 5},
            "capture": {"stored": false, "reason": "memory-off"},
            "context": [{"kind": "turn", "id": id(9), "title": "t", "excerpt": "e", "score": 0.5}],
            "context_missing": ["notes"],
            "submitted": {"current": false, "remember": true, "language": "en", "model": "m"},
        });
        let fields = turn.as_object_mut().unwrap();
        fields.extend(rest.as_object().unwrap().clone());
        turn
    };
    let error = json!({"code": "provider_failed", "message": "It broke.", "retryable": true});
    json!({
        "id": id(1), "title": "Title", "system_prompt": "Be brief.",
        "created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:01.000Z",
        "turns": [
            turn(1, &json!({"status": "completed"})),
            turn(2, &json!({"status": "failed", "error": error})),
            turn(3, &json!({"status": "cancelled", "retry_of": id(2)})),
            turn(4, &json!({"status": "interrupted", "error": error})),
            turn(5, &json!({"status": "pending", "state": "running"})),
        ],
    })
}

/// Where every value in it is, as JSON pointers have it.
fn places(value: &Value, at: &str, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                places.push(format!("{at}/{name}"));
                self::places(value, &format!("{at}/{name}"), places);
            }
        }
        Value::Array(values) => {
            for (number, value) in values.iter().enumerate() {
                self::places(value, &format!("{at}/{number}"), places);
            }
        }
        _ => {}
    }
}

/// What might stand there instead.
fn others(first: u128) -> Vec<Value> {
    let texts = ["", " ", "\0", "\u{85}", "a\nb", "é", "0", "EUR", "eur", "completed", "failed"];
    let times = ["0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z"];
    let mut others: Vec<Value> = texts.into_iter().chain(times).map(Value::from).collect();
    others.extend(["cancelled", "interrupted", "pending"].map(Value::from));
    others.extend([json!(null), json!(true), json!([]), json!({}), json!(0.5), json!(-1)]);
    others.extend([0, 1, 2, u64::from(u32::MAX), u64::MAX >> 1, u64::MAX].map(Value::from));
    others.extend((1..=2).map(|number| Value::from(id(first + number))));
    others.push(Value::from("x".repeat(3_000)));
    others
}

/// What the check finds in an archive with these files in it. What was refused is not.
async fn faults(files: impl Iterator<Item = Value>) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let identity = Identity { archive: "a1".to_owned(), principal: "p1".to_owned() };
    let folder_is = folder.path().to_owned();
    let options = Options { folder: folder_is, drive: Drive::Task, identity, vfs: None };
    let journal = SqliteJournal::open(&options).unwrap();
    let principal = journal.local_principal();
    let transcripts: Vec<_> = files.filter_map(|file| read(&file).ok()).flatten().collect();
    let turns: usize = transcripts.iter().map(|transcript| transcript.turns.len()).sum();
    let imported = journal.import(principal, transcripts).await.unwrap();
    assert_eq!(imported.created, turns as u64, "what can be read can be kept");
    while journal.index().await.unwrap() {}
    journal.close().await;
    check(folder.path(), None).unwrap().faults
}

#[tokio::test]
async fn whatever_stands_in_one_place_passes_the_check() {
    assert_eq!(read(&sound(0)).unwrap().len(), 1, "it can be imported as it is");
    let mut known = Vec::new();
    places(&sound(0), "", &mut known);
    let count = others(0).len();
    let files = (0..known.len() * count).map(|number| {
        let first = 16 * number as u128;
        let mut file = sound(first);
        let place = known.get(number / count).and_then(|place| file.pointer_mut(place)).unwrap();
        *place = others(first).swap_remove(number % count);
        file
    });
    assert_eq!(faults(files).await, [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn whatever_stands_in_several_places_passes_the_check(
        changes in prop::collection::vec((any::<Index>(), select(others(0))), 2..5)
    ) {
        let mut file = sound(0);
        let mut known = Vec::new();
        places(&file, "", &mut known);
        for (at, other) in changes {
            // An earlier change may have taken it away.
            if let Some(value) = file.pointer_mut(at.get::<String>(&known)) {
                *value = other;
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let faults = runtime.block_on(faults(std::iter::once(file)));
        prop_assert!(faults.is_empty(), "{faults:?}");
    }
}
