//! Archives as every version that has landed wrote them: they open, and say the same as then.
//!
//! `fixtures/README.md` says how each was made.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::check::tests::legal;
use super::migrate::VERSION;
use super::*;
use crate::journal::suite::request_id;
use crate::journal::{Mark, Record};

fn fixture(version: i32) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/journal/sqlite/fixtures");
    here.join(format!("{version:04}.db"))
}

/// A data folder with the archive of a version in it.
fn folder(version: i32) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(fixture(version), folder.path().join(FILE)).unwrap();
    folder
}

fn user_version(file: &Path) -> i32 {
    let connection = Connection::open(file).unwrap();
    connection.query_row("PRAGMA user_version", (), |row| row.get(0)).unwrap()
}

async fn record(journal: &SqliteJournal, id: u128) -> Record {
    let key = Key::new(journal.local_principal(), request_id(id));
    journal.find(key).await.unwrap().unwrap_or_else(|| panic!("no ask {id}"))
}

/// Everything that the journal says of every ask, save the deadlines of a run that nobody runs.
async fn told(journal: &SqliteJournal) -> String {
    let mut told = format!("owner {}\n", journal.local_owner());
    for id in legal::ALL {
        let record = record(journal, *id).await;
        let Record { mark, fingerprint, terms, submissions, starts, provider, .. } = &record;
        let outcome = serde_json::to_string_pretty(&record.outcome).unwrap();
        writeln!(
            told,
            "\n{id}: {mark:?}, {submissions} submissions, {starts} starts, by {provider:?}\n\
             {terms:?}\n{fingerprint:?}\n{outcome}"
        )
        .unwrap();
    }
    told
}

/// Fails when a migration lands without its fixture. To make the newest, name it:
/// `HOLDFAST_FIXTURE=server/src/journal/sqlite/fixtures/0003.db cargo test -p holdfast --lib fixtures`.
#[tokio::test]
async fn every_landed_version_has_a_fixture() {
    if let Some(path) = std::env::var_os("HOLDFAST_FIXTURE") {
        let folder = tempfile::tempdir().unwrap();
        legal::archive(folder.path()).await;
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        fs::copy(folder.path().join(FILE), workspace.join(path)).unwrap();
    }
    for version in 1..=VERSION {
        assert_eq!(user_version(&folder(version).path().join(FILE)), version);
    }
}

#[tokio::test]
async fn an_archive_of_every_version_opens_and_says_what_it_said() {
    for version in 1..=VERSION {
        let folder = folder(version);
        let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
        insta::assert_snapshot!("what_every_fixture_says", told(&journal).await);
        assert_eq!(journal.unsettled().await.unwrap().len(), 3);
        journal.close().await;
        assert_eq!(check(folder.path(), None).unwrap().faults, [""; 0], "version {version}");
        assert_eq!(user_version(&folder.path().join(FILE)), VERSION);
    }
}

#[tokio::test]
async fn an_older_archive_is_kept_before_it_is_brought_up_to_date() {
    for version in 1..VERSION {
        let folder = folder(version);
        let kept = folder.path().join(format!("holdfast-v{version}.db"));
        fs::write(&kept, "what an attempt that was cut off has left").unwrap();
        let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
        let now = told(&journal).await;
        journal.close().await;
        assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(user_version(&kept), version);
        let names = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 3, "the archive, its lock, and the backup");

        // Going back to it is going back to a backup.
        let restored = tempfile::tempdir().unwrap();
        fs::copy(&kept, restored.path().join(FILE)).unwrap();
        let identity = Identity { archive: "a2".to_owned(), principal: "p2".to_owned() };
        let options = Options { identity, ..legal::options(restored.path()) };
        let journal = SqliteJournal::open(&options).unwrap();
        assert_ne!(journal.local_owner().as_str(), "p1.a1", "version {version}");
        for id in [legal::COMPLETED, legal::FAILED, legal::RETRY, legal::CANCELLED] {
            let outcome = serde_json::to_string_pretty(&record(&journal, id).await.outcome);
            assert!(now.contains(&outcome.unwrap()), "{id} says what it said");
        }
        for id in [legal::QUEUED, legal::PUT_BACK] {
            let mark = record(&journal, id).await.mark;
            assert!([Mark::Unconfirmed, Mark::Settled].contains(&mark), "{id} is {mark:?}");
        }
        journal.close().await;
        assert_eq!(check(restored.path(), None).unwrap().faults, [""; 0], "version {version}");
    }
}

#[tokio::test]
async fn an_archive_of_this_version_is_not_copied() {
    let folder = folder(VERSION);
    SqliteJournal::open(&legal::options(folder.path())).unwrap().close().await;
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the archive and its lock");
}

#[tokio::test]
async fn an_archive_that_cannot_be_kept_is_not_brought_up_to_date() {
    for version in 1..VERSION {
        let folder = folder(version);
        let kept = folder.path().join(format!("holdfast-v{version}.db"));
        fs::create_dir(&kept).unwrap();
        let file = folder.path().join(FILE);
        let before = fs::read(&file).unwrap();
        let refused = SqliteJournal::open(&legal::options(folder.path()));
        let sentence = refused.err().map(|error| error.to_string()).unwrap();
        assert!(sentence.contains("is of an older version, and was left as it is"), "{sentence}");
        assert!(fs::read(&file).unwrap() == before, "nothing was changed");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "and nothing was left");
        fs::remove_dir(&kept).unwrap();
        SqliteJournal::open(&legal::options(folder.path())).unwrap().close().await;
        assert_eq!(user_version(&kept), version);
    }
}

#[tokio::test]
async fn a_backup_of_an_older_archive_is_one_that_this_version_reads() {
    for version in 1..VERSION {
        let folder = folder(version);
        let to = folder.path().join("backup");
        assert_eq!(backup(folder.path(), &to, &Stop::default()).unwrap().asks, 12);
        assert_eq!(user_version(&folder.path().join(FILE)), version, "the archive is left alone");
        assert_eq!(check_file(&to).unwrap().faults, [""; 0]);
    }
}
