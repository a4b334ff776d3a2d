//! The store suite on this backend, and what only this backend has: the folder, the pump, the epoch.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;
use std::path::Path;

use futures_util::future::join_all;
use rusqlite::config::DbConfig;
use tempfile::TempDir;

use super::migrate::VERSION;
use super::*;
use crate::journal::Mark;
use crate::journal::suite::{self, Store, ask};

fn options(folder: &Path, drive: Drive) -> Options {
    let identity = Identity { archive: "a1".to_owned(), principal: "p1".to_owned() };
    Options { folder: folder.to_owned(), drive, identity, vfs: None }
}

struct Folder {
    path: TempDir,
    drive: Drive,
    journal: Arc<SqliteJournal>,
}

impl Folder {
    fn new(drive: Drive) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Arc::new(SqliteJournal::open(&options(folder.path(), drive)).unwrap());
        Self { path: folder, drive, journal }
    }
}

impl Store for Folder {
    fn journal(&self) -> Arc<dyn Journal> {
        Arc::clone(&self.journal) as _
    }

    async fn reopen(&mut self) {
        self.journal.close().await;
        let options = options(self.path.path(), self.drive);
        self.journal = Arc::new(SqliteJournal::open(&options).unwrap());
    }

    async fn abandon_and_reopen(&mut self) {
        self.journal.abandon().await;
        let options = options(self.path.path(), self.drive);
        self.journal = Arc::new(SqliteJournal::open(&options).unwrap());
    }

    /// As if the lock had not held, as on some file systems across a network.
    fn take_over(&self) -> Arc<dyn Journal> {
        let place = place(self.path.path());
        let mut connection = place.writer().unwrap();
        let options = options(self.path.path(), self.drive);
        let taken = take_over(&mut connection, &options.identity).unwrap();
        let lock = tempfile::tempfile().unwrap();
        Arc::new(SqliteJournal::driven(place, connection, taken, lock, self.drive).unwrap())
    }

    fn assert_sound(&self) {
        assert_eq!(check(self.path.path(), None).unwrap().faults, [""; 0]);
    }
}

#[tokio::test]
async fn the_suite_on_a_thread() {
    suite::every_case(|| Folder::new(Drive::Thread)).await;
}

#[tokio::test]
async fn the_suite_on_a_task() {
    suite::every_case(|| Folder::new(Drive::Task)).await;
}

fn place(folder: &Path) -> connect::Place {
    connect::Place { file: folder.join(FILE), vfs: None }
}

fn refusal(folder: &Path) -> String {
    let opened = SqliteJournal::open(&options(folder, Drive::Task));
    opened.err().map(|error| error.to_string()).unwrap()
}

/// Names, lengths and contents of what is in a folder.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.display().to_string(), fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_second_process_is_refused_and_the_folder_is_free_after_the_first() {
    let mut store = Folder::new(Drive::Thread);
    let before = contents(store.path.path());
    assert!(refusal(store.path.path()).contains("another holdfast process"));
    assert_eq!(contents(store.path.path()), before);
    store.reopen().await;
    store.journal.abandon().await;
    store.reopen().await;
}

#[tokio::test]
async fn a_closed_archive_is_one_file() {
    for drive in [Drive::Thread, Drive::Task] {
        let store = Folder::new(drive);
        let record = ask(&*store.journal, 1, 1);
        store.journal.accept(record.clone()).await.unwrap();
        store.journal.find(record.key).await.unwrap();
        store.journal.close().await;
        let names: Vec<_> = contents(store.path.path()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), 2, "the archive and the lock: {names:?}");
    }
}

#[tokio::test]
async fn what_is_no_archive_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE);
    for bytes in [&b"short"[..], &[7; 4096]] {
        fs::write(&file, bytes).unwrap();
        let before = contents(folder.path());
        assert!(refusal(folder.path()).contains("is not a Holdfast archive"));
        assert_eq!(contents(folder.path()), before);
    }
    fs::remove_file(&file).unwrap();
    Connection::open(&file).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = contents(folder.path());
    assert!(refusal(folder.path()).contains("is not a Holdfast archive"));
    assert_eq!(contents(folder.path()), before);
}

#[tokio::test]
async fn a_newer_archive_is_refused_untouched() {
    let mut store = Folder::new(Drive::Task);
    store.journal.close().await;
    let file = store.path.path().join(FILE);
    let connection = Connection::open(&file).unwrap();
    connection.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 999").unwrap();
    drop(connection);
    let before = contents(store.path.path());
    let sentence = refusal(store.path.path());
    assert!(sentence.contains("written by a newer holdfast (format 999"), "{sentence}");
    assert_eq!(contents(store.path.path()), before);
    let known = format!("PRAGMA user_version = {VERSION}");
    Connection::open(&file).unwrap().execute_batch(&known).unwrap();
    store.reopen().await;
}

#[tokio::test]
async fn a_newer_archive_is_refused_also_where_only_its_log_says_so() {
    let store = Folder::new(Drive::Task);
    store.journal.close().await;
    // As a newer process leaves it that is killed in its first start.
    let newer = place(store.path.path()).writer().unwrap();
    newer.execute_batch("PRAGMA user_version = 999").unwrap();
    newer.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    drop(newer);
    let before = contents(store.path.path());
    let sentence = refusal(store.path.path());
    assert!(sentence.contains("written by a newer holdfast (format 999"), "{sentence}");
    let is_log = |(name, _): &&(String, Vec<u8>)| !name.ends_with("-shm");
    let after = contents(store.path.path());
    assert!(after.iter().filter(is_log).eq(before.iter().filter(is_log)), "and left as it is");
}

#[tokio::test]
async fn a_log_without_the_beginning_of_its_archive_is_left_alone() {
    let store = Folder::new(Drive::Task);
    store.journal.accept(ask(&*store.journal, 1, 1)).await.unwrap();
    // As the process leaves it that is killed now, and whatever takes the beginning afterwards.
    let copy = tempfile::tempdir().unwrap();
    for (file, content) in contents(store.path.path()) {
        let name = Path::new(&file).file_name().unwrap().to_owned();
        let content = if name == FILE { Vec::new() } else { content };
        fs::write(copy.path().join(name), content).unwrap();
    }
    for length in [0, 1, 99, 4095] {
        fs::write(copy.path().join(FILE), vec![7; length]).unwrap();
        let before = contents(copy.path());
        assert!(refusal(copy.path()).contains("has lost its beginning"));
        let checked = check(copy.path(), None).unwrap();
        assert_eq!(
            checked.faults,
            ["archive: the file ends before its first page does, and its log is still there"]
        );
        assert!(backup(copy.path(), &copy.path().join("backup"), &Stop::default()).is_err());
        assert_eq!(contents(copy.path()), before);
    }
}

#[tokio::test]
async fn nothing_is_appended_to_a_log_that_cannot_be_put_away_first() {
    let store = Folder::new(Drive::Task);
    let reader = place(store.path.path()).reader().unwrap();
    let snapshot = reader.unchecked_transaction().unwrap();
    let count = |sql| snapshot.query_row(sql, (), |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM asks"), 0);
    store.journal.accept(ask(&*store.journal, 1, 1)).await.unwrap();
    store.journal.close().await;
    let writer = place(store.path.path()).writer().unwrap();
    writer.busy_timeout(std::time::Duration::ZERO).unwrap();
    assert!(!open::put_log_away(&writer, std::time::Duration::ZERO).unwrap());
    drop(snapshot);
    drop(reader);
    assert!(open::put_log_away(&writer, std::time::Duration::ZERO).unwrap());
}

#[tokio::test]
async fn an_unusable_folder_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(refusal(&file.join("data")).starts_with("cannot use the data folder"));
    assert!(refusal(&file).starts_with("cannot use the data folder"));
}

#[tokio::test]
async fn a_crash_during_the_very_first_start_leaves_something_that_opens() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), "").unwrap();
    let journal = SqliteJournal::open(&options(folder.path(), Drive::Task)).unwrap();
    journal.close().await;
    let folder = tempfile::tempdir().unwrap();
    place(folder.path()).writer().unwrap();
    SqliteJournal::open(&options(folder.path(), Drive::Task)).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn folder_and_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("data");
    let journal = SqliteJournal::open(&options(&folder, Drive::Task)).unwrap();
    journal.accept(ask(&journal, 1, 1)).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files = contents(&folder);
    assert_eq!(files.len(), 4, "the archive, its log, its index and the lock");
    for (file, _) in files {
        assert_eq!(mode(Path::new(&file)), 0o600, "{file}");
    }
}

/// A writer that a test pumps by hand.
fn writer(folder: &Path) -> Writer {
    let opened = open::open(folder, None).unwrap();
    let mut connection = opened.connection;
    let identity = Identity { archive: "a1".to_owned(), principal: "p1".to_owned() };
    let TakenOver { epoch, group, .. } = take_over(&mut connection, &identity).unwrap();
    Writer::new(opened.place, connection, epoch, group, opened.lock)
}

/// Pumps a group, and once more where somebody waits for its confirmation.
fn pump(writer: &mut Writer, group: Vec<Box<dyn Command>>) {
    writer.pump(group);
    if writer.owes() {
        writer.pump(Vec::new());
    }
}

/// A journal whose writer nobody drives, for the values that need one.
fn journal(folder: &Path) -> SqliteJournal {
    SqliteJournal {
        local: PrincipalId(1),
        owner: "p1.a1".parse().unwrap(),
        readers: Readers::start(place(folder), Drive::Task).unwrap(),
        commands: Mutex::default(),
        ended: Mutex::default(),
        abandoned: Arc::default(),
        unindexed: Notify::new(),
    }
}

#[tokio::test]
async fn one_command_that_cannot_be_does_not_fail_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let journal = journal(folder.path());
    let (first, second) = (ask(&journal, 1, 1), ask(&journal, 2, 1));
    let keys = [first.key, second.key];
    let (one, one_done) = command(move |write| asks::accept(write, &first));
    let (bad, bad_done) = command(|write| {
        write.connection.execute("UPDATE conversations SET title = 'changed'", ())?;
        write.connection.execute("INSERT INTO principals VALUES (1, 'x', 'x')", ())
    });
    let (two, two_done) = command(move |write| asks::accept(write, &second));
    pump(&mut writer, vec![one, bad, two]);
    assert!(matches!(one_done.await.unwrap(), Ok(Accept::New(_))));
    assert!(matches!(bad_done.await.unwrap(), Err(JournalError::Broken(_))));
    assert!(matches!(two_done.await.unwrap(), Ok(Accept::New(_))));
    for key in keys {
        assert!(journal.find(key).await.unwrap().is_some());
    }
    let conversation = ConversationKey::new(PrincipalId(1), ask(&journal, 1, 1).conversation_id);
    let title = journal.conversation(conversation, None, 1).await.unwrap().unwrap().title;
    assert_eq!(title, "Question 1?", "what the refused command had done is undone");
}

#[tokio::test]
async fn a_full_disk_fails_the_whole_group_and_the_next_one_after_it_heals() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let journal = journal(folder.path());
    let limit = |writer: &mut Writer, pages: i64| {
        let (limit, _) = command(move |write| {
            write.connection.query_row(&format!("PRAGMA max_page_count = {pages}"), (), |_| Ok(()))
        });
        pump(writer, vec![limit]);
    };
    limit(&mut writer, 1);
    let small = ask(&journal, 1, 1);
    let large = NewAsk { question: "why ".repeat(30_000), ..ask(&journal, 2, 2) };
    let (one, one_done) = command(move |write| asks::accept(write, &small));
    let (two, two_done) = command(move |write| asks::accept(write, &large));
    pump(&mut writer, vec![one, two]);
    assert!(matches!(one_done.await.unwrap(), Err(JournalError::Unavailable(_))));
    assert!(matches!(two_done.await.unwrap(), Err(JournalError::Unavailable(_))));
    assert!(journal.find(ask(&journal, 1, 1).key).await.unwrap().is_none());
    // A new connection has no such limit: the disk has room again, and was tried at once.
    assert_eq!(writer.doubtful(), None);
    let again = ask(&journal, 1, 1);
    let (one, one_done) = command(move |write| asks::accept(write, &again));
    pump(&mut writer, vec![one]);
    assert!(matches!(one_done.await.unwrap(), Ok(Accept::New(_))));
}

#[tokio::test]
async fn what_a_crash_leaves_of_a_group_that_was_never_confirmed_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let journal = journal(folder.path());
    let [told, untold] = [ask(&journal, 1, 1), ask(&journal, 2, 1)];
    let keys = [told.key, untold.key];
    for ask in [told, untold] {
        let (accept, _) = command(move |write| asks::accept(write, &ask));
        pump(&mut writer, vec![accept]);
    }
    // As a commit leaves it that was said to have failed, or before whose reply the process died.
    let other = place(folder.path()).writer().unwrap();
    other.execute("UPDATE archive SET confirmed = confirmed - 1", ()).unwrap();
    let marks = async || {
        let mut marks = Vec::new();
        for key in keys {
            marks.push(journal.find(key).await.unwrap().unwrap().mark);
        }
        marks
    };
    assert_eq!(marks().await, [Mark::Accepted, Mark::Unconfirmed]);
    drop(writer);

    // It stays so when the archive is opened again, and what is written then is told apart from it.
    let mut writer = self::writer(folder.path());
    let later = NewAsk { start: Some(suite::start()), ..ask(&journal, 3, 3) };
    let (accept, accepted) = command(move |write| asks::accept(write, &later));
    pump(&mut writer, vec![accept]);
    assert!(matches!(accepted.await.unwrap(), Ok(Accept::New(_))));
    assert_eq!(marks().await, [Mark::Accepted, Mark::Unconfirmed]);
}

#[tokio::test]
async fn a_command_that_panics_fails_its_group_and_not_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let journal = journal(folder.path());
    let first = ask(&journal, 1, 1);
    let (one, one_done) = command(move |write| asks::accept(write, &first));
    let (bad, bad_done) = command(|_| -> rusqlite::Result<()> { panic!("as the test wants it") });
    pump(&mut writer, vec![one, bad]);
    assert!(matches!(one_done.await.unwrap(), Err(JournalError::Broken(_))));
    assert!(matches!(bad_done.await.unwrap(), Err(JournalError::Broken(_))));
    let again = ask(&journal, 1, 1);
    let (one, one_done) = command(move |write| asks::accept(write, &again));
    pump(&mut writer, vec![one]);
    assert!(matches!(one_done.await.unwrap(), Ok(Accept::New(_))));
}

#[tokio::test]
async fn what_a_failed_group_left_is_removed_before_anything_is_admitted() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let journal = journal(folder.path());
    let (ghost, known) = (ask(&journal, 1, 1), ask(&journal, 2, 2));
    let (accept, _) = command(move |write| asks::accept(write, &known));
    pump(&mut writer, vec![accept]);
    // A commit whose sync fails may be on disk all the same: this one is, and is said to have failed.
    let ghost_key = ghost.key;
    let (accept, _) = command(move |write| asks::accept(write, &ghost));
    pump(&mut writer, vec![accept]);
    writer.doubt(vec![ghost_key]);
    let next = ask(&journal, 3, 3);
    let (accept, accepted) = command(move |write| asks::accept(write, &next));
    pump(&mut writer, vec![accept]);
    assert!(matches!(accepted.await.unwrap(), Ok(Accept::New(_))));
    assert!(journal.find(ghost_key).await.unwrap().is_none(), "nobody was told of it");
    let left = journal.unsettled().await.unwrap();
    assert_eq!(left.len(), 2);
    let conversation = ConversationKey::new(PrincipalId(1), ask(&journal, 1, 1).conversation_id);
    assert!(journal.conversation(conversation, None, 1).await.unwrap().is_none());
}

#[tokio::test]
async fn a_process_whose_epoch_is_over_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let journal = journal(folder.path());
    let mut other = place(folder.path()).writer().unwrap();
    let identity = Identity { archive: "a2".to_owned(), principal: "p2".to_owned() };
    let TakenOver { epoch, owner, .. } = take_over(&mut other, &identity).unwrap();
    assert_eq!((epoch, owner.as_str()), (2, "p1.a1"), "who the archive is stays");
    let late = ask(&journal, 1, 1);
    let (accept, accepted) = command(move |write| asks::accept(write, &late));
    pump(&mut writer, vec![accept]);
    assert_eq!(accepted.await.unwrap(), Err(JournalError::Stale));
    assert!(journal.find(ask(&journal, 1, 1).key).await.unwrap().is_none());
}

#[tokio::test]
async fn what_waits_is_written_before_a_journal_closes_and_refused_afterwards() {
    let mut store = Folder::new(Drive::Task);
    let journal = Arc::clone(&store.journal);
    let accepts = (1..=100).map(|id| journal.accept(ask(&*journal, id, id)));
    let (accepted, ()) = tokio::join!(join_all(accepts), journal.close());
    let written = accepted.iter().filter(|accepted| accepted.is_ok()).count();
    assert_eq!(written, 100);
    let late = journal.accept(ask(&*journal, 999, 999)).await;
    assert!(matches!(late, Err(JournalError::Unavailable(_))));
    store.reopen().await;
    assert_eq!(store.journal.unsettled().await.unwrap().len(), 100);
}
