//! What was purged is nowhere: neither in the file nor in the log, by not one byte.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

use holdfast_protocol::{Answer, ContextItem, ContextKind, Status, Title};

use super::check::tests::legal;
use super::*;
use crate::journal::suite::{self, request_id};
use crate::journal::{Accept, Record};

/// Words that stand nowhere else, in several scripts: as they are written, and as the index has them.
const MARKERS: &[&str] = &[
    "Zqxmarker",
    "zqxmarker",
    "ZQXREASON",
    "zqxpiece",
    "zqxtitle",
    "zqxcontext",
    "zqxprompt",
    "ÄRZQXÖ",
    "arzqxo",
    "龘靐齉爩",
    "龘靐",
    "靐齉",
    "齉爩",
    "ฆฌฎฏฐ",
    "ฆฌ",
    "ฌฎ",
    "ฏฐ",
    "뷁쉛쀍",
    "뷁쉛",
    "Щзхъжё",
    "щзхъже",
    "zqxlongest",
];

/// Where in the data folder a marker is.
fn found(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(std::result::Result::unwrap) {
        let bytes = fs::read(entry.path()).unwrap();
        for marker in MARKERS {
            let needle = marker.as_bytes();
            if bytes.windows(needle.len()).any(|window| window == needle) {
                found.push(format!("{marker} in {:?}", entry.file_name()));
            }
        }
    }
    found
}

async fn accept(journal: &SqliteJournal, ask: NewAsk) -> Record {
    match journal.accept(ask).await.unwrap() {
        Accept::New(record) => record,
        other => panic!("not new: {other:?}"),
    }
}

/// Turns of one conversation between others, so that their rows and tokens share pages, move from page to
/// page, and lie on both sides of many page boundaries.
async fn write(journal: &SqliteJournal, marked: bool) {
    for id in 1..=240_u128 {
        let is_marked = id % 3 == 0;
        let conversation = if is_marked { 1 } else { 2 + id % 5 };
        let text = if is_marked && marked {
            let numbered: Vec<_> = (0..30).map(|n| format!("zqxmarker{}", id * 100 + n)).collect();
            format!(
                "Zqxmarker ÄRZQXÖ 龘靐齉爩、ฆฌฎฏฐ 뷁쉛쀍 Щзхъжё {} zqxlongest{}",
                numbered.join(" "),
                "x".repeat(usize::try_from(id * 37 % 9000).unwrap())
            )
        } else {
            let words: Vec<_> = (0..40).map(|n| format!("word{} 天{}気", id * 31 + n, n)).collect();
            format!("Plain zqw zqy {}", words.join(" "))
        };
        let question = if is_marked && marked {
            format!("Zqxtitle zqxtitle {id}?")
        } else {
            format!("Why {id}?")
        };
        let asked = NewAsk {
            question,
            start: Some(suite::start()),
            ..suite::ask(journal, id, conversation)
        };
        let record = accept(journal, asked).await;
        for (offset, piece) in [(0, "zqxpiece "), (9, "zqxpiece")] {
            let text = if marked && is_marked { piece.to_owned() } else { "p".repeat(piece.len()) };
            let partial = Partial { text_offset: offset, text, ..Partial::default() };
            journal.append(record.key(), partial).await.unwrap();
        }
        let mut outcome = suite::settled(&record, Status::Completed, None);
        let reasoning = (is_marked && marked).then(|| "ZQXREASON".repeat(50));
        outcome.answer = Some(Answer { text, reasoning, ..Answer::default() });
        outcome.context = vec![ContextItem {
            kind: ContextKind::Turn,
            id: "t".to_owned(),
            title: Some(if is_marked && marked { "zqxcontext" } else { "c" }.to_owned()),
            excerpt: None,
            score: None,
        }];
        journal.settle(record.key(), outcome).await.unwrap();
        if id == 200 {
            // The last ones are noted alone.
            while journal.index().await.unwrap() {}
        }
    }
    let changes = Changes {
        title: Some(Title::parse("zqxtitle").unwrap()),
        system_prompt: Some("zqxprompt".to_owned()),
    };
    journal.change(suite::conversation(journal, 1), changes).await.unwrap();
}

async fn purge(journal: &SqliteJournal) {
    let key = suite::conversation(journal, 1);
    assert!(journal.delete(key, Moment::default()).await.unwrap());
    assert_eq!(journal.purge(key).await.unwrap(), Purge::Done);
}

async fn finds(journal: &SqliteJournal, query: &str) -> usize {
    let matching = Some(crate::search::Query::parse(query));
    let listing = Listing { matching, before: None, limit: 200 };
    let own = journal.local_principal();
    journal.conversations(own, listing).await.unwrap().conversations.len()
}

#[tokio::test]
async fn not_one_byte_of_a_purged_conversation_is_left() {
    for drive in [Drive::Thread, Drive::Task] {
        let folder = tempfile::tempdir().unwrap();
        let journal =
            SqliteJournal::open(&Options { drive, ..legal::options(folder.path()) }).unwrap();
        write(&journal, true).await;
        assert_eq!(finds(&journal, "zqxmarker").await, 1);
        assert!(found(folder.path()).len() >= MARKERS.len(), "{:?}", found(folder.path()));
        purge(&journal).await;
        assert!(journal.scrub().await.unwrap());
        assert_eq!(found(folder.path()), [""; 0]);
        // What is left is whole, and goes on.
        assert_eq!(
            (finds(&journal, "zqxmarker").await, finds(&journal, "plain zqw").await),
            (0, 5)
        );
        let record = accept(&journal, suite::ask(&journal, 1_000, 3)).await;
        let outcome = suite::settled(&record, Status::Completed, Some("zqwnew"));
        journal.settle(record.key(), outcome).await.unwrap();
        assert_eq!(finds(&journal, "zqwnew").await, 1);
        journal.close().await;
        assert_eq!(found(folder.path()), [""; 0]);
        assert_eq!(check(folder.path(), None).unwrap().faults, [""; 0]);
    }
}

#[tokio::test]
async fn a_check_compares_the_search_with_what_it_was_made_of() {
    let folder = tempfile::tempdir().unwrap();
    for (sql, says) in [
        (
            "INSERT INTO search (search, rowid, question, answer) SELECT 'delete', id, '', ''
          FROM search_docsize WHERE id = (SELECT max(id) FROM search_docsize)",
            "the search does not know it",
        ),
        (
            "UPDATE asks SET answer = answer || ' and more'
          WHERE id = (SELECT min(id) FROM asks WHERE answer IS NOT NULL)",
            "the search knows it with another text",
        ),
        (
            "INSERT INTO search (rowid, question) VALUES (5, 'stray')",
            "the search knows what is not there",
        ),
        (
            "DELETE FROM unindexed WHERE ask = (SELECT max(ask) FROM unindexed)",
            "the search does not know it",
        ),
        (
            "INSERT INTO unindexed SELECT id FROM asks WHERE status = 'completed' LIMIT 1",
            "the search knows it, and is to learn of it again",
        ),
        ("INSERT INTO unindexed VALUES (999)", "the search knows what is not there"),
    ] {
        let _ = fs::remove_file(folder.path().join(FILE));
        legal::archive(folder.path()).await;
        assert_eq!(check(folder.path(), None).unwrap().faults, [""; 0]);
        Connection::open(folder.path().join(FILE)).unwrap().execute_batch(sql).unwrap();
        let faults = check(folder.path(), None).unwrap().faults;
        assert!(faults.iter().any(|fault| fault.ends_with(says)), "{sql}: {faults:?}");
    }
}

#[tokio::test]
async fn what_somebody_reads_meanwhile_is_gone_once_they_have() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    write(&journal, true).await;
    let reader = Connection::open(folder.path().join(FILE)).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM asks;").unwrap();
    purge(&journal).await;
    assert!(!journal.scrub().await.unwrap(), "somebody reads what was there before");
    assert!(!journal.scrub().await.unwrap());
    assert!(!found(folder.path()).is_empty());
    reader.execute_batch("COMMIT").unwrap();
    assert!(journal.scrub().await.unwrap());
    assert_eq!(found(folder.path()), [""; 0]);
    journal.close().await;
}

#[tokio::test]
async fn a_purge_that_a_crash_cuts_off_goes_on_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    write(&journal, true).await;
    let key = suite::conversation(&journal, 1);
    journal.delete(key, Moment::default()).await.unwrap();
    journal.abandon().await;
    let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    let deletions = journal.deletions().await.unwrap();
    assert_eq!(deletions.iter().map(|it| it.is_purged).collect::<Vec<_>>(), [false]);
    assert_eq!(journal.purge(key).await.unwrap(), Purge::Done);
    journal.abandon().await;
    let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    assert!(journal.scrub().await.unwrap());
    assert_eq!(found(folder.path()), [""; 0]);
    let record = journal.find(Key::new(journal.local_principal(), request_id(3))).await.unwrap();
    assert!(record.is_some_and(|record| record.lacks_question()));
    journal.close().await;
    assert_eq!(check(folder.path(), None).unwrap().faults, [""; 0]);
}

#[tokio::test]
async fn what_is_purged_while_it_is_being_indexed_is_not_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    write(&journal, true).await;
    let batch = journal.readers.read(search::Batch::read).await.unwrap();
    assert!(!batch.is_empty());
    purge(&journal).await;
    journal.write(move |write| batch.write(write.connection)).await.unwrap();
    while journal.index().await.unwrap() {}
    assert!(journal.scrub().await.unwrap());
    assert_eq!(found(folder.path()), [""; 0]);
    journal.close().await;
    assert_eq!(check(folder.path(), None).unwrap().faults, [""; 0]);
}

fn indexed(folder: &Path) -> u32 {
    let connection = Connection::open(folder.join(FILE)).unwrap();
    connection.query_row("SELECT count(*) FROM search_docsize", (), |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn an_index_that_was_made_in_another_way_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    write(&journal, false).await;
    journal.close().await;
    assert_eq!(indexed(folder.path()), 200);
    // As a migration leaves it, or an older way of cutting texts.
    let old = Connection::open(folder.path().join(FILE)).unwrap();
    old.execute("UPDATE archive SET search_version = 0", ()).unwrap();
    drop(old);
    let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    assert_eq!(indexed(folder.path()), 0);
    assert_eq!(finds(&journal, "plain").await, 6, "it is looked through meanwhile");
    assert!(journal.index().await.unwrap());
    assert!((1..240).contains(&indexed(folder.path())), "a little at a time");
    while journal.index().await.unwrap() {}
    assert_eq!((indexed(folder.path()), finds(&journal, "plain").await), (240, 6));
    journal.close().await;
    assert_eq!(check(folder.path(), None).unwrap().faults, [""; 0]);
}

#[tokio::test]
async fn what_has_just_settled_is_found_however_much_is_still_to_be_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    for id in 1..=6 {
        let record = accept(&journal, suite::ask(&journal, id, id)).await;
        let text = format!("{} number{id}", "much ".repeat(200_000));
        let outcome = suite::settled(&record, Status::Completed, Some(&text));
        journal.settle(record.key(), outcome).await.unwrap();
    }
    assert_eq!(finds(&journal, "number6").await, 1);
    assert_eq!(finds(&journal, "number1").await, 0, "a search looks through so much at most");
    while journal.index().await.unwrap() {}
    assert_eq!(finds(&journal, "number1").await, 1);
    journal.close().await;
}
