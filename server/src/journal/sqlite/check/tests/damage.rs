//! Files that a disk or a program has spoilt: found, and never the end of the check itself.

use std::fs;

use proptest::prelude::*;

use super::*;

/// Changes asks behind the back of an index.
fn force_past_index(folder: &Path, index: &str, sql: &str) {
    let of_index = format!("FROM sqlite_schema WHERE name = '{index}'");
    let connection = Connection::open(folder.join(FILE)).unwrap();
    let (page, made): (i64, String) = connection
        .query_row(&format!("SELECT rootpage, sql {of_index}"), (), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    drop(connection);
    force(folder, &format!("PRAGMA writable_schema = ON; DELETE {of_index}"));
    force(folder, sql);
    let made = made.replace('\'', "''");
    force(
        folder,
        &format!(
            "PRAGMA writable_schema = ON;
             INSERT INTO sqlite_schema VALUES ('index', '{index}', 'asks', {page}, '{made}')"
        ),
    );
}

#[test]
fn an_index_that_lacks_a_row_is_found() {
    let folder = legal();
    force_past_index(
        folder.path(),
        "asks_unsettled",
        "INSERT INTO asks (id, principal, request_id, conversation_id, seq, state, fingerprint,
             question, asked_at, submissions)
         SELECT 99, 1, x'00000000000000000000000000000063', id, 9, 'accepted', zeroblob(32), 'Q',
             1, 1 FROM conversations WHERE last_seq = 8;
         UPDATE conversations SET last_seq = 9 WHERE last_seq = 8",
    );
    assert_eq!(faults(folder.path()), ["archive: row 13 missing from index asks_unsettled"]);
}

#[test]
fn an_index_with_a_row_too_many_is_found() {
    let folder = legal();
    force_past_index(
        folder.path(),
        "asks_unsettled",
        "UPDATE asks SET state = 'settled', status = 'cancelled', settled_at = 1, provider_calls = 0
         WHERE state = 'accepted' AND starts = 0;
         INSERT INTO unindexed SELECT id FROM asks WHERE settled_at = 1",
    );
    let says = "the index of unsettled asks has it, and it has settled";
    assert_eq!(faults(folder.path()), [ask(legal::QUEUED, says)]);
    let folder = legal();
    force_past_index(
        folder.path(),
        "asks_by_retry_of",
        "UPDATE asks SET retry_of = NULL WHERE status = 'completed'",
    );
    let says = "the index of repetitions has it, and it repeats nothing";
    assert_eq!(faults(folder.path()), [ask(legal::RETRY, says)]);
}

#[test]
fn a_value_that_cannot_be_in_its_column_is_found() {
    let folder = legal();
    let connection = Connection::open(folder.path().join(FILE)).unwrap();
    connection
        .execute_batch(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = replace(sql, 'name TEXT NOT NULL', 'name TEXT     NULL')
             WHERE name = 'principals';
             PRAGMA writable_schema = RESET;
             UPDATE principals SET name = NULL;
             PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = replace(sql, 'name TEXT     NULL', 'name TEXT NOT NULL')
             WHERE name = 'principals';",
        )
        .unwrap();
    drop(connection);
    let said = "principal 1: its key cannot be part of an owner, or it has no name";
    assert_eq!(faults(folder.path()), [said]);
}

#[test]
fn a_file_that_was_cut_is_found() {
    let folder = legal();
    let file = folder.path().join(FILE);
    let whole = fs::read(&file).unwrap();
    for length in [1, 50, 100, 4096, 5000, whole.len() / 2, whole.len() - 4096, whole.len() - 1] {
        fs::write(&file, whole.get(..length).unwrap()).unwrap();
        let faults = faults(folder.path());
        assert!(!faults.is_empty(), "{length} bytes of {} are no archive", whole.len());
    }
    fs::write(&file, &whole).unwrap();
    assert_eq!(faults(folder.path()), [""; 0]);
}

#[test]
fn a_file_whose_head_is_gone_is_found() {
    let folder = legal();
    let file = folder.path().join(FILE);
    let mut bytes = fs::read(&file).unwrap();
    bytes.iter_mut().take(16).for_each(|byte| *byte = 0);
    fs::write(&file, bytes).unwrap();
    assert_eq!(faults(folder.path()), ["archive: SQLite cannot read it: file is not a database"]);
}

#[test]
fn a_schema_that_cannot_be_parsed_is_found() {
    let folder = legal();
    force(
        folder.path(),
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = 'CREATE TABLE asks (' WHERE name = 'asks'",
    );
    let faults = faults(folder.path());
    assert!(faults.concat().contains("malformed database schema (asks)"), "{faults:?}");
}

#[test]
fn a_page_of_noise_is_found_wherever_it_is() {
    let folder = legal();
    let file = folder.path().join(FILE);
    let whole = fs::read(&file).unwrap();
    for page in 0..whole.len() / 4096 {
        let mut bytes = whole.clone();
        let noise = bytes.iter_mut().skip(page * 4096).take(4096).enumerate();
        noise.for_each(|(at, byte)| *byte = u8::try_from(at * 31 % 251).unwrap());
        fs::write(&file, bytes).unwrap();
        assert!(!faults(folder.path()).is_empty(), "page {page}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// It comes to an end, whatever the bytes are, and its lines are lines.
    #[test]
    fn no_damage_ends_the_check(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 0..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
        noise in prop::option::of((any::<prop::sample::Index>(), any::<[u8; 32]>())),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = pristine();
        for (at, flip) in flips {
            let length = bytes.len();
            *bytes.get_mut(at.index(length)).unwrap() ^= flip;
        }
        if let Some((at, noise)) = noise {
            let length = bytes.len();
            let start = at.index(length);
            bytes.iter_mut().skip(start).zip(noise).for_each(|(byte, noise)| *byte = noise);
        }
        if let Some(cut) = cut {
            let length = bytes.len();
            bytes.truncate(cut.index(length));
        }
        fs::write(folder.path().join(FILE), bytes).unwrap();
        match check(folder.path(), None) {
            Ok(checked) => {
                for line in checked.faults {
                    prop_assert!(!line.contains(char::is_control), "{line:?}");
                }
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
