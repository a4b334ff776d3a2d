//! A backup is sound, private and one file; what is opened from it is another archive.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::os::unix::fs::PermissionsExt as _;

use holdfast_protocol::Status;
use tempfile::TempDir;

use super::super::check::tests::{force, legal};
use super::super::{Identity, Options, SqliteJournal, check};
use super::*;
use crate::journal::suite::{ask, request_id, start};
use crate::journal::{Journal, Key, Mark, NewAsk, Partial, Record, Start};

fn backup(folder: &Path, to: &Path) -> Result<BackedUp, BackupError> {
    super::backup(folder, to, &Stop::default())
}

/// An archive with one of each kind of ask.
async fn archive() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    legal::archive(folder.path()).await;
    folder
}

/// Puts a backup into an empty data folder and opens it, as the archive `id` if it has to be another.
fn restore(backup: &Path, id: &str) -> (TempDir, SqliteJournal) {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(backup, folder.path().join(FILE)).unwrap();
    let identity = Identity { archive: id.to_owned(), principal: "another".to_owned() };
    let options = Options { identity, ..legal::options(folder.path()) };
    let journal = SqliteJournal::open(&options).unwrap();
    (folder, journal)
}

async fn found(journal: &SqliteJournal, id: u128) -> Record {
    let key = Key::new(journal.local_principal(), request_id(id));
    journal.find(key).await.unwrap().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| name(entry).into_string().unwrap()).collect();
    names.sort();
    names
}

fn sentence(folder: &Path, to: &Path) -> String {
    backup(folder, to).unwrap_err().to_string()
}

#[tokio::test]
async fn a_backup_of_an_archive_in_use_is_sound_private_and_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    legal::write(&journal).await;
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("backup");
    let made = backup(folder.path(), &to).unwrap();
    assert_eq!((made.asks, made.bytes), (12, fs::metadata(&to).unwrap().len()));
    assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(check_file(&to).unwrap().faults, [""; 0]);
    assert_eq!(names(place.path()), ["backup"]);

    // The original goes on, and the backup stays what it is.
    journal.accept(ask(&journal, 99, 99)).await.unwrap();
    assert_eq!(check_file(&to).unwrap().asks, 12);
    assert_eq!(check(folder.path(), None).unwrap().asks, 13);
    journal.close().await;
    let again = place.path().join("again");
    assert_eq!(backup(folder.path(), &again).unwrap().asks, 13);
    assert_eq!(names(folder.path()), [FILE, "holdfast.lock"], "and nothing is left beside it");
}

#[tokio::test]
async fn what_is_opened_from_a_backup_is_another_archive_of_the_same_principal() {
    let folder = archive().await;
    let to = folder.path().join("backup");
    backup(folder.path(), &to).unwrap();
    let original = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    assert_eq!(original.local_owner().as_str(), "p1.a1");
    let (_first, first) = restore(&to, "a2");
    assert_eq!(first.local_owner().as_str(), "p1.a2");
    let (second_folder, second) = restore(&to, "a3");
    assert_eq!(second.local_owner().as_str(), "p1.a3", "from the same file");
    second.close().await;
    let options =
        Options { folder: second_folder.path().to_owned(), ..legal::options(folder.path()) };
    let second = SqliteJournal::open(&options).unwrap();
    assert_eq!(second.local_owner().as_str(), "p1.a3", "and it stays that one");

    for id in [legal::COMPLETED, legal::FAILED, legal::RETRY, legal::CANCELLED, legal::INTERRUPTED]
    {
        assert_eq!(found(&first, id).await, found(&original, id).await);
    }
}

#[tokio::test]
async fn what_waits_in_a_backup_has_its_end_there() {
    let folder = archive().await;
    let to = folder.path().join("backup");
    backup(folder.path(), &to).unwrap();
    let (_folder, restored) = restore(&to, "a2");
    for id in [legal::QUEUED, legal::PUT_BACK] {
        let Record { mark, outcome, .. } = found(&restored, id).await;
        assert_eq!((mark, outcome.status), (Mark::Settled, Status::Interrupted), "{id}");
        let said = outcome.error.unwrap().message;
        assert!(said.contains("may have answered it since, which may have been billed"), "{said}");
    }
    assert_eq!(found(&restored, legal::CALLING).await.mark, Mark::Calling { billable: true });

    let original = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    assert_eq!(found(&original, legal::QUEUED).await.mark, Mark::Accepted);
}

#[tokio::test]
async fn a_run_that_cannot_be_billed_is_not_repeated_from_a_backup() {
    let folder = archive().await;
    let original = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    let start = Start { provider: "notes".to_owned(), billable: false, ..start() };
    let calling = NewAsk { start: Some(start), ..ask(&original, 50, 50) };
    let key = calling.key;
    original.accept(calling).await.unwrap();
    let partial = Partial { text: "half".to_owned(), ..Partial::default() };
    original.append(key, partial).await.unwrap();
    let to = folder.path().join("backup");
    backup(folder.path(), &to).unwrap();
    let (_folder, restored) = restore(&to, "a2");
    let outcome = found(&restored, 50).await.outcome;
    // Whoever opened it may have another provider by now.
    assert_eq!((outcome.status, outcome.answer), (Status::Interrupted, None));
    assert_eq!(found(&original, 50).await.mark, Mark::Calling { billable: false });
}

#[tokio::test]
async fn a_backup_is_not_mixed_with_the_log_of_what_was_there_before() {
    let folder = archive().await;
    let to = folder.path().join("backup");
    backup(folder.path(), &to).unwrap();
    let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    journal.accept(ask(&journal, 99, 99)).await.unwrap();
    // As a process leaves it that is killed now, and as it is restored in haste.
    let killed = tempfile::tempdir().unwrap();
    let log = format!("{FILE}-wal");
    fs::copy(folder.path().join(&log), killed.path().join(&log)).unwrap();
    fs::copy(&to, killed.path().join(FILE)).unwrap();
    let refused = SqliteJournal::open(&legal::options(killed.path()));
    let said = refused.err().unwrap().to_string();
    assert!(said.contains("belongs to another archive"), "{said}");
    assert_eq!(check(killed.path(), None).unwrap().faults.len(), 1);
    assert!(backup(killed.path(), &killed.path().join("again")).is_err());
    assert_eq!(fs::read(killed.path().join(FILE)).unwrap(), fs::read(&to).unwrap());
}

#[tokio::test]
async fn a_backup_that_is_stopped_leaves_nothing() {
    let folder = archive().await;
    let place = tempfile::tempdir().unwrap();
    let stop = Stop::default();
    stop.stop();
    let ended = super::backup(folder.path(), &place.path().join("backup"), &stop);
    assert!(matches!(ended, Err(BackupError::Stopped)));
    assert_eq!(names(place.path()), [""; 0]);
}

#[tokio::test]
async fn what_cannot_be_backed_up_is_refused_in_a_sentence_and_leaves_nothing() {
    let folder = archive().await;
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("backup");
    let empty = tempfile::tempdir().unwrap();
    assert!(sentence(empty.path(), &to).starts_with("there is no archive in "));
    assert!(sentence(&empty.path().join("none"), &to).starts_with("there is no archive in "));
    fs::write(empty.path().join(FILE), "").unwrap();
    assert!(sentence(empty.path(), &to).starts_with("there is no archive in "));
    fs::write(empty.path().join(FILE), "something else ".repeat(1_000)).unwrap();
    assert!(sentence(empty.path(), &to).ends_with("is not a Holdfast archive"));
    fs::remove_file(empty.path().join(FILE)).unwrap();
    force(empty.path(), "CREATE TABLE theirs (x)");
    assert!(sentence(empty.path(), &to).ends_with("is not a Holdfast archive"));
    let nowhere = place.path().join("none/backup");
    assert!(sentence(folder.path(), &nowhere).starts_with("cannot back "));
    assert_eq!(names(place.path()), [""; 0]);

    fs::write(&to, "of somebody").unwrap();
    assert!(sentence(folder.path(), &to).contains("is there already"));
    assert_eq!(fs::read(&to).unwrap(), b"of somebody");
    fs::remove_file(&to).unwrap();
    std::os::unix::fs::symlink("nowhere", &to).unwrap();
    assert!(sentence(folder.path(), &to).contains("is there already"), "a name is a name");
    fs::remove_file(&to).unwrap();

    force(folder.path(), "UPDATE asks SET answer = '' WHERE status = 'completed'");
    let said = sentence(folder.path(), &to);
    assert!(said.contains("is not sound, and nothing was written: ask "), "{said}");
    force(folder.path(), "PRAGMA user_version = 99");
    assert!(sentence(folder.path(), &to).contains("by a newer holdfast (format 99"));
    assert_eq!(names(place.path()), [""; 0]);
}

/// Two that are made at once: neither replaces the other.
#[tokio::test]
async fn a_name_that_is_taken_meanwhile_is_not_taken_away() {
    let folder = archive().await;
    let to = folder.path().join("backup");
    let place = Place { file: folder.path().join(FILE), vfs: None };
    let copy = Copy::of(&place.visitor().unwrap(), &to).unwrap();
    fs::write(&to, "of somebody").unwrap();
    assert!(copy.keep().unwrap_err().to_string().contains("exists"));
    assert_eq!(fs::read(&to).unwrap(), b"of somebody");
    assert_eq!(names(folder.path()), ["backup", FILE, "holdfast.lock"]);
}
