//! SQLite itself on the disk: that the disk is one, and that it can tell a promise kept from one that
//! was not.

#![expect(clippy::unwrap_used, reason = "tests")]

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::system::{self, Syncs};
use super::*;

const READ_ONLY: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY;

fn connect(disk: &Disk, flags: OpenFlags) -> Connection {
    let file = disk.folder().join("holdfast.db");
    Connection::open_with_flags_and_vfs(file, flags, vfs()).unwrap()
}

fn writer(disk: &Disk, synchronous: &str) -> Connection {
    let connection = connect(disk, OpenFlags::default());
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};
             CREATE TABLE IF NOT EXISTS t (x INTEGER PRIMARY KEY, text TEXT)"
        ))
        .unwrap();
    connection
}

fn insert(connection: &Connection) -> rusqlite::Result<i64> {
    connection.execute("INSERT INTO t (text) VALUES (?)", ["text".repeat(500)])?;
    Ok(connection.last_insert_rowid())
}

fn count(connection: &Connection) -> i64 {
    connection.query_row("SELECT count(*) FROM t", (), |row| row.get(0)).unwrap()
}

fn is_sound(connection: &Connection) -> bool {
    let verdict: String =
        connection.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
    verdict == "ok"
}

#[test]
fn readers_see_their_snapshot_beside_a_writer() {
    let disk = Disk::new(1);
    let writer = writer(&disk, "FULL");
    let readers = [connect(&disk, READ_ONLY), connect(&disk, READ_ONLY)];
    insert(&writer).unwrap();
    readers[0].execute_batch("BEGIN").unwrap();
    assert_eq!(readers.each_ref().map(count), [1, 1]);
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    insert(&writer).unwrap();
    assert_eq!(readers.each_ref().map(count), [1, 1]);
    let second = connect(&disk, OpenFlags::default());
    let busy = second.execute_batch("BEGIN IMMEDIATE").unwrap_err();
    assert_eq!(busy.sqlite_error_code(), Some(ErrorCode::DatabaseBusy));
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(readers.each_ref().map(count), [1, 2], "the first one reads on in its snapshot");
    let (busy, log, back): (i64, i64, i64) = writer
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert!(busy == 1 && back < log, "its snapshot is in the log: {back} of {log} written back");
    readers[0].execute_batch("COMMIT").unwrap();
    assert_eq!(count(&readers[0]), 2);
}

#[test]
fn a_checkpoint_a_close_and_a_second_opening_lose_nothing() {
    let disk = Disk::new(1);
    let connection = writer(&disk, "FULL");
    for _ in 0..3_000 {
        insert(&connection).unwrap();
    }
    let log = disk.folder().join("holdfast.db-wal").display().to_string();
    let size = |disk: &Disk| disk.files().into_iter().find(|(name, _)| *name == log);
    assert!(size(&disk).is_some_and(|(_, size)| size < 8 << 20), "checkpoints happened");
    drop(connection);
    assert_eq!(size(&disk), None, "the last connection takes the log along");
    assert_eq!(disk.files().len(), 1);
    let connection = writer(&disk, "FULL");
    assert_eq!(count(&connection), 3_000);
    assert!(is_sound(&connection));
}

#[test]
fn threads_share_it() {
    let disk = Disk::new(1);
    let first = writer(&disk, "FULL");
    first.execute_batch("PRAGMA wal_autocheckpoint = 20").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let reader = connect(&disk, READ_ONLY);
                let mut seen = 0;
                while seen < 200 {
                    let now = count(&reader);
                    assert!(now >= seen, "{now} after {seen}");
                    seen = now;
                }
            });
        }
        for _ in 0..200 {
            insert(&first).unwrap();
        }
    });
    assert!(is_sound(&first));
}

#[test]
fn a_rollback_journal_is_gone_for_good_only_when_its_folder_was_synced() {
    let kept = |mode: &str, synchronous: &str| {
        let disk = Disk::new(1);
        let connection = connect(&disk, OpenFlags::default());
        let pragmas = format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = {synchronous}");
        connection.execute_batch(&pragmas).unwrap();
        connection.execute_batch("CREATE TABLE t (x, text)").unwrap();
        disk.sync();
        insert(&connection).unwrap();
        disk.lose_power(Loss::Everything);
        count(&connect(&disk, OpenFlags::default()))
    };
    // SQLite's manual: in DELETE mode the last transaction may roll back unless it is EXTRA.
    assert_eq!([kept("DELETE", "FULL"), kept("DELETE", "EXTRA")], [0, 1]);
    assert_eq!([kept("TRUNCATE", "OFF"), kept("TRUNCATE", "FULL")], [0, 1]);
    assert_eq!([kept("PERSIST", "OFF"), kept("PERSIST", "FULL")], [0, 1]);
}

#[test]
fn a_rollback_journal_lets_one_write_when_nobody_reads() {
    let disk = Disk::new(1);
    let [first, second] = [(); 2].map(|()| connect(&disk, OpenFlags::default()));
    first.execute_batch("PRAGMA journal_mode = DELETE; CREATE TABLE t (x, text)").unwrap();
    let busy = |result: rusqlite::Result<()>| {
        result.unwrap_err().sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
    };
    first.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(busy(second.execute_batch("BEGIN IMMEDIATE")));
    second.execute_batch("BEGIN").unwrap();
    assert_eq!(count(&second), 0, "reading goes on beside it");
    insert(&first).unwrap();
    assert!(busy(first.execute_batch("COMMIT")), "but not beside the commit");
    second.execute_batch("COMMIT").unwrap();
    first.execute_batch("COMMIT").unwrap();
    assert_eq!(count(&second), 1);
}

#[test]
fn a_path_on_no_disk_is_refused() {
    let disk = Disk::new(1);
    let gone = disk.folder().join("holdfast.db");
    drop(disk);
    for path in [&gone, Path::new("/nowhere/holdfast.db")] {
        let opened = Connection::open_with_flags_and_vfs(path, OpenFlags::default(), vfs());
        assert_eq!(opened.unwrap_err().sqlite_error_code(), Some(ErrorCode::CannotOpen));
    }
}

#[test]
fn large_sorts_and_undone_work_have_room() {
    let disk = Disk::new(1);
    let connection = writer(&disk, "FULL");
    connection.execute_batch("PRAGMA cache_size = 5; PRAGMA temp_store = FILE; BEGIN").unwrap();
    for _ in 0..500 {
        insert(&connection).unwrap();
    }
    connection
        .execute_batch("SAVEPOINT s; UPDATE t SET text = text || 'x'; ROLLBACK TO s")
        .unwrap();
    let sorted: String = connection
        .query_row(
            "SELECT group_concat(x, ' ') FROM (SELECT x FROM t ORDER BY text, x)",
            (),
            |row| row.get(0),
        )
        .unwrap();
    assert!(sorted.starts_with("1 2 3 "));
    connection.execute_batch("COMMIT").unwrap();
    assert_eq!(count(&connection), 500);
}

#[test]
fn a_crash_keeps_what_was_written_and_ends_who_wrote_it() {
    let disk = Disk::new(1);
    let before = writer(&disk, "OFF");
    insert(&before).unwrap();
    before.execute_batch("BEGIN IMMEDIATE").unwrap();
    disk.crash();
    let after = writer(&disk, "FULL");
    assert_eq!(insert(&after), Ok(2), "no lock is left");
    let files = disk.files();
    assert!(before.execute_batch("COMMIT; INSERT INTO t (text) VALUES ('late')").is_err());
    drop(before);
    assert_eq!(disk.files(), files, "who is dead changes nothing");
    assert_eq!(count(&after), 2);
}

/// Commits until the machine goes down after so many changes, then loses power. Returns how many rows
/// were committed, and how many are there.
fn committed_and_kept(seed: u64, synchronous: &str, changes: u64, loss: Loss) -> (i64, i64) {
    let disk = Disk::new(seed);
    let connection = writer(&disk, synchronous);
    connection.execute_batch("PRAGMA wal_autocheckpoint = 30").unwrap();
    disk.go_down_after(changes);
    let mut committed = 0;
    while let Ok(row) = insert(&connection) {
        committed = row;
    }
    assert!(disk.is_down());
    disk.lose_power(loss);
    drop(connection);
    // The table itself may be gone where nothing is synced.
    let connection = writer(&disk, "FULL");
    assert!(is_sound(&connection) || synchronous == "OFF", "seed {seed}");
    (committed, count(&connection))
}

#[test]
fn what_was_committed_survives_any_loss_of_power() {
    for loss in [Loss::Everything, Loss::Nothing, Loss::Chance] {
        for seed in 0..300 {
            let (committed, kept) = committed_and_kept(seed, "FULL", 20 + seed, loss);
            assert!(
                kept == committed || kept == committed + 1,
                "{loss:?}, seed {seed}: {committed} committed, {kept} kept"
            );
        }
    }
}

#[test]
fn it_can_tell_a_commit_that_was_not_synced() {
    for seed in 0..20 {
        let (committed, kept) = committed_and_kept(seed, "OFF", 100, Loss::Everything);
        assert!(committed > 20 && kept < committed, "{committed} committed, {kept} kept");
    }
    // In normal mode only what a checkpoint has synced is durable.
    let (committed, kept) = committed_and_kept(1, "NORMAL", 100, Loss::Everything);
    assert!(kept < committed, "{committed} committed, {kept} kept");
}

#[test]
fn without_syncs_chance_takes_some_and_leaves_some() {
    let mut fractions = Vec::new();
    for seed in 0..40 {
        let disk = Disk::new(seed);
        let connection = writer(&disk, "FULL");
        connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
        for _ in 0..20 {
            insert(&connection).unwrap();
        }
        let unsynced = disk.unsynced();
        let survivors = disk.lose_power(Loss::Chance);
        let sum = survivors.kept + survivors.dropped + survivors.torn;
        assert!(sum > 20 && sum <= unsynced as u64);
        fractions.push(count(&writer(&disk, "FULL")));
    }
    assert!(fractions.contains(&0) && fractions.contains(&20), "{fractions:?}");
    assert!(fractions.iter().any(|kept| (1..20).contains(kept)), "{fractions:?}");
}

#[test]
fn the_same_seed_gives_the_same_disk() {
    let played = |seed| {
        let disk = Disk::new(seed);
        let mut story = Vec::new();
        for round in 0..5 {
            let connection = writer(&disk, "NORMAL");
            for _ in 0..10 {
                insert(&connection).unwrap();
            }
            let survivors = disk.lose_power(Loss::Chance);
            drop(connection);
            let counts = [Operation::Write, Operation::Read, Operation::Sync, Operation::Open];
            let counts = counts.map(|operation| disk.count(operation));
            let sizes: Vec<_> = disk.files().into_iter().map(|(_, size)| size).collect();
            story.push((round, survivors, counts, sizes, count(&writer(&disk, "NORMAL"))));
        }
        story
    };
    assert_eq!(played(1), played(1));
    assert_ne!(played(1), played(2));
}

#[test]
fn faults_strike_where_they_should_and_are_gone_when_lifted() {
    let cases = [
        (Operation::Write, Failure::Full, ErrorCode::DiskFull),
        (Operation::Write, Failure::Io, ErrorCode::SystemIoFailure),
        (Operation::Write, Failure::ReadOnly, ErrorCode::ReadOnly),
        (Operation::Sync, Failure::Io, ErrorCode::SystemIoFailure),
    ];
    for (operation, failure, expected) in cases {
        for fault in [Fault::once(operation, 1, failure), Fault::lasting(operation, failure)] {
            let disk = Disk::new(1);
            let connection = writer(&disk, "FULL");
            insert(&connection).unwrap();
            disk.fail(fault);
            let error = insert(&connection).unwrap_err();
            assert_eq!(error.sqlite_error_code(), Some(expected), "{fault:?}");
            assert_eq!(insert(&connection).is_err(), fault.lasts, "{fault:?}");
            disk.lift();
            assert!(insert(&connection).is_ok(), "{fault:?}");
            assert!(disk.struck() > 0);
            assert!(is_sound(&connection));
        }
    }
    let disk = Disk::new(1);
    drop(writer(&disk, "FULL"));
    disk.fail(Fault::once(Operation::Open, 1, Failure::CannotOpen));
    let file = disk.folder().join("holdfast.db");
    let opened = Connection::open_with_flags_and_vfs(&file, READ_ONLY, vfs());
    assert_eq!(opened.unwrap_err().sqlite_error_code(), Some(ErrorCode::CannotOpen));
    let connection = connect(&disk, READ_ONLY);
    disk.fail(Fault::lasting(Operation::Read, Failure::Io));
    let read = connection.query_row("SELECT count(*) FROM t", (), |row| row.get::<_, i64>(0));
    assert_eq!(read.unwrap_err().sqlite_error_code(), Some(ErrorCode::SystemIoFailure));
    disk.lift();
    assert_eq!(count(&connection), 0);
}

#[test]
fn nothing_comes_after_a_fault_that_takes_the_machine_along() {
    // A crash keeps what the sync that failed has left, by the seed; only ever that.
    let kept = (0..20).map(|seed| (seed, None, 1..=2));
    for (seed, loss, expected) in kept.chain([(3, Some(Loss::Everything), 1..=1)]) {
        let disk = Disk::new(seed);
        let connection = writer(&disk, "FULL");
        insert(&connection).unwrap();
        disk.go_down_with_fault();
        disk.fail(Fault::once(Operation::Sync, 1, Failure::Io));
        let writes = disk.count(Operation::Write);
        assert!(insert(&connection).is_err() && insert(&connection).is_err());
        assert!(disk.is_down());
        assert!(disk.count(Operation::Write) > writes, "the log was written, and not synced");
        match loss {
            None => disk.crash(),
            Some(loss) => drop(disk.lose_power(loss)),
        }
        let connection = writer(&disk, "FULL");
        let count = count(&connection);
        assert!(expected.contains(&count), "{loss:?} from seed {seed} left {count}");
        assert_eq!(insert(&connection), Ok(count + 1), "no fault is left");
    }
}

#[test]
fn its_files_can_be_copied_to_where_everybody_finds_them() {
    let disk = Disk::new(1);
    let connection = writer(&disk, "FULL");
    insert(&connection).unwrap();
    let folder = tempfile::tempdir().unwrap();
    disk.copy_to(folder.path()).unwrap();
    let copy = Connection::open(folder.path().join("holdfast.db")).unwrap();
    assert_eq!(count(&copy), 1, "in its log, as nothing was written back");
}

#[test]
fn the_systems_own_syncs_are_counted_and_may_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    for (name, syncs) in [("done", Syncs::Done), ("skipped", Syncs::Skipped)] {
        let file = folder.path().join(name);
        let flags = OpenFlags::default();
        let vfs = system::vfs(syncs);
        let connection = Connection::open_with_flags_and_vfs(&file, flags, vfs).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (x INTEGER PRIMARY KEY, text)")
            .unwrap();
        let before = system::count(syncs);
        for _ in 0..10 {
            insert(&connection).unwrap();
        }
        assert_eq!(system::count(syncs) - before, 10, "{name}: one for each commit");
        connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
        insert(&connection).unwrap();
        assert_eq!(system::count(syncs) - before, 10);
        let reader = Connection::open_with_flags_and_vfs(&file, READ_ONLY, vfs).unwrap();
        assert_eq!(count(&reader), 11);
    }
}
