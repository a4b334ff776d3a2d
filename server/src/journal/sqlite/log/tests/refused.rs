//! On a damaged log nothing is begun: a person is told, and everything is left as it was.

use super::*;
use crate::journal::Journal as _;
use crate::journal::sqlite::check::tests::legal;
use crate::journal::sqlite::{FILE, SqliteJournal, Stop, backup, check};

/// An archive as a kill leaves it, with everything in a log that is damaged.
async fn damaged() -> TempDir {
    let served = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(&legal::options(served.path())).unwrap();
    legal::write(&journal).await;
    let folder = tempfile::tempdir().unwrap();
    for name in [FILE, "holdfast.db-wal"] {
        fs::copy(served.path().join(name), folder.path().join(name)).unwrap();
    }
    journal.close().await;
    let log = folder.path().join("holdfast.db-wal");
    let mut bytes = fs::read(&log).unwrap();
    bytes[HEADER + 3 * (FRAME + PAGE_SIZE) + 999] ^= 4;
    fs::write(&log, bytes).unwrap();
    folder
}

/// What is kept in a folder: neither its lock nor the index of the log, which readers share.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("holdfast.lock") && !path.ends_with("holdfast.db-shm"))
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_start_is_refused_until_somebody_decides() {
    let folder = damaged().await;
    let before = contents(folder.path());
    let at = HEADER + 3 * (FRAME + PAGE_SIZE);
    for _ in 0..2 {
        let refused = SqliteJournal::open(&legal::options(folder.path())).err().unwrap();
        let sentence = refused.to_string();
        assert!(sentence.contains(&format!("breaks off at byte {at}, and ")), "{sentence}");
        assert!(sentence.contains(&format!("truncate -s {at} holdfast.db-wal")), "{sentence}");
        assert_eq!(contents(folder.path()), before);
    }
    // Whoever goes on without them does so knowingly.
    let log = fs::File::options().write(true).open(folder.path().join("holdfast.db-wal")).unwrap();
    log.set_len(at as u64).unwrap();
    let journal = SqliteJournal::open(&legal::options(folder.path())).unwrap();
    journal.close().await;
    assert_eq!(check(folder.path(), None).unwrap().faults, [""; 0]);
}

#[tokio::test]
async fn a_check_says_so_first_and_a_backup_is_refused() {
    let folder = damaged().await;
    let before = contents(folder.path());
    let at = HEADER + 3 * (FRAME + PAGE_SIZE);
    let faults = check(folder.path(), None).unwrap().faults;
    let says = format!("archive: the log breaks off at byte {at}, and ");
    assert!(faults.first().is_some_and(|fault| fault.starts_with(&says)), "{faults:?}");
    assert_eq!(faults.len(), 1, "what SQLite reads of it is sound");
    let to = folder.path().join("backup");
    let refused = backup(folder.path(), &to, &Stop::default()).unwrap_err().to_string();
    assert!(refused.contains(&says), "{refused}");
    assert_eq!(contents(folder.path()), before);
}
