//! A check looks in and leaves no trace.

use std::fs;

use super::legal::options;
use super::*;
use crate::journal::Journal as _;
use crate::journal::sqlite::SqliteJournal;

/// Names and contents of what is in a folder, save the index of the log, which only readers use.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.to_str().unwrap().ends_with("-shm"))
        .map(|path| (path.display().to_string(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_closed_archive_is_sound_and_left_as_it_was() {
    let folder = legal();
    let before = contents(folder.path());
    let checked = check(folder.path(), None).unwrap();
    assert_eq!(checked.faults, [""; 0]);
    assert_eq!((checked.asks, checked.unsettled, checked.conversations), (12, 3, 3));
    assert_eq!(contents(folder.path()), before);
    let names = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 1, "nothing was put beside it");
}

#[tokio::test]
async fn an_archive_in_use_is_sound_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(&options(folder.path())).unwrap();
    legal::write(&journal).await;
    let before = contents(folder.path());
    assert_eq!(check(folder.path(), None).unwrap().asks, 12);
    assert_eq!(contents(folder.path()), before);
    journal.accept(crate::journal::suite::ask(&journal, 99, 99)).await.unwrap();
    let checked = check(folder.path(), None).unwrap();
    assert_eq!((checked.asks, checked.faults), (13, vec![]));
    journal.close().await;
}

#[tokio::test]
async fn what_a_crash_left_in_the_log_is_checked_and_left_there() {
    let served = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(&options(served.path())).unwrap();
    legal::write(&journal).await;
    // As a kill leaves it: the log is not written back.
    let folder = tempfile::tempdir().unwrap();
    for name in [FILE, "holdfast.db-wal"] {
        fs::copy(served.path().join(name), folder.path().join(name)).unwrap();
    }
    journal.close().await;
    let before = contents(folder.path());
    assert!(before.iter().any(|(name, log)| name.ends_with("-wal") && !log.is_empty()));
    for _ in 0..2 {
        let checked = check(folder.path(), None).unwrap();
        assert_eq!((checked.asks, checked.faults), (12, vec![]));
        assert_eq!(contents(folder.path()), before);
    }
    let journal = SqliteJournal::open(&options(folder.path())).unwrap();
    assert_eq!(journal.unsettled().await.unwrap().len(), 3);
    journal.close().await;
}

#[test]
fn a_start_that_was_cut_off_is_no_fault() {
    let folder = tempfile::tempdir().unwrap();
    let sentence = |folder: &Path| check(folder, None).unwrap_err().to_string();
    assert!(sentence(folder.path()).starts_with("there is no archive in "));
    assert!(sentence(&folder.path().join("none")).starts_with("there is no archive in "));
    assert_eq!(contents(folder.path()), [], "and none was made");
    fs::write(folder.path().join(FILE), "").unwrap();
    assert!(sentence(folder.path()).starts_with("there is no archive in "));
    let place = Place { file: folder.path().join(FILE), vfs: None };
    let mut connection = place.writer().unwrap();
    drop(place.writer().unwrap());
    assert!(sentence(folder.path()).starts_with("there is no archive in "));
    super::super::super::migrate::migrate(&mut connection).unwrap();
    drop(connection);
    let checked = check(folder.path(), None).unwrap();
    assert_eq!((checked.asks, checked.faults), (0, vec![]));
}

#[test]
fn what_cannot_be_checked_is_said_in_a_sentence() {
    let folder = legal();
    force(folder.path(), "PRAGMA user_version = 999");
    let sentence = check(folder.path(), None).unwrap_err().to_string();
    assert!(sentence.contains("was written by a newer holdfast (format 999"), "{sentence}");
    force(folder.path(), "PRAGMA user_version = 1");
    let sentence = check(folder.path(), None).unwrap_err().to_string();
    assert!(sentence.contains("was written by an older holdfast (format 1"), "{sentence}");

    let taken = tempfile::tempdir().unwrap();
    fs::create_dir(taken.path().join(FILE)).unwrap();
    let sentence = check(taken.path(), None).unwrap_err().to_string();
    assert!(sentence.starts_with("cannot read "), "{sentence}");
    let sentence = check_file(&taken.path().join("none")).unwrap_err().to_string();
    assert!(sentence.starts_with("cannot read "), "{sentence}");
}

#[test]
fn a_file_can_be_checked_wherever_it_is() {
    let folder = legal();
    let copy = folder.path().join("copy");
    fs::copy(folder.path().join(FILE), &copy).unwrap();
    assert_eq!(check_file(&copy).unwrap().asks, 12);
}
