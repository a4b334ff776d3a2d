//! The writer: a pump over groups of commands. What drives it is [`drive`](super::drive).
//!
//! A group is one transaction and one sync of the disk, however many asks it carries. Each command
//! has a savepoint, so that one that cannot be does not fail its neighbours, and is replied to only
//! after the whole group is durable.
//!
//! *Architecture invariant:* the pump is a plain function. A thread drives it in production, a task
//! in a simulation, and nothing else differs between the two.
//!
//! *Architecture invariant:* no ask that waits is said to be accepted before a second commit says that
//! its group was confirmed: the next group's, or one of its own where nothing else is to be written.
//! Should that one fail, the confirmation is made up for as soon as the disk can be written. So what a
//! crash leaves of a commit that was said to have failed can be told apart, and is never run unasked,
//! save where running it costs nothing.
//!
//! *Architecture invariant:* every commit is synced. One that was not would lie in the log before the
//! next, and a disk whose sync fails may lose it there, and all that comes after it.
//!
//! *Architecture invariant:* after a commit that failed, nothing is admitted until a durable
//! transaction has gone through that also removes whatever asks the failed group may have left: its
//! callers were told that they were not accepted.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

use super::connect::{BUSY, Place};
use crate::journal::{JournalError, Key, Result};

/// What a command may use while it is applied.
pub(super) struct Write<'a> {
    pub(super) connection: &'a Connection,
    pub(super) epoch: i64,
    pub(super) births: &'a mut Births,
    /// Whether what was purged is to be scrubbed away after the group.
    pub(super) wants_scrub: &'a mut bool,
}

impl Write<'_> {
    /// Has what was purged scrubbed away as soon as the group is over.
    pub(super) const fn ask_for_scrub(&mut self) {
        *self.wants_scrub = true;
    }
}

/// The asks that come into being with a group.
pub(super) struct Births {
    group: i64,
    keys: Vec<Key>,
    /// Whether the one that has just come waits.
    one_waits: bool,
    /// Which of the group's commands brought one that waits: only those may be run after a crash, and
    /// need a confirmation.
    waiting: Vec<usize>,
}

impl Births {
    const fn new(group: i64) -> Self {
        Self { group, keys: Vec::new(), one_waits: false, waiting: Vec::new() }
    }

    /// The group's number: higher than that of every ask so far.
    pub(super) const fn group(&self) -> i64 {
        self.group
    }

    pub(super) fn add(&mut self, key: Key, waits: bool) {
        self.keys.push(key);
        self.one_waits = waits;
    }
}

/// One change, with whoever waits for it.
pub(super) trait Command: Send {
    fn apply(&mut self, write: &mut Write<'_>) -> rusqlite::Result<()>;
    /// The command alone could not be: its savepoint was rolled back.
    fn refuse(&mut self, error: JournalError);
    /// How the group ended.
    fn reply(self: Box<Self>, end: Result<()>);
}

struct Job<T, F> {
    work: Option<F>,
    done: Result<Option<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T, F> Command for Job<T, F>
where
    T: Send,
    F: FnOnce(&mut Write<'_>) -> rusqlite::Result<T> + Send,
{
    fn apply(&mut self, write: &mut Write<'_>) -> rusqlite::Result<()> {
        if let Some(work) = self.work.take() {
            self.done = Ok(Some(work(write)?));
        }
        Ok(())
    }

    fn refuse(&mut self, error: JournalError) {
        self.done = Err(error);
    }

    fn reply(self: Box<Self>, end: Result<()>) {
        let done = end.and(self.done).and_then(|done| {
            done.ok_or_else(|| JournalError::Broken("a command was never applied".to_owned()))
        });
        // Whoever asked may have left; what was committed stays.
        let _ = self.reply.send(done);
    }
}

/// A command, and where its result will come.
pub(super) fn command<T, F>(work: F) -> (Box<dyn Command>, oneshot::Receiver<Result<T>>)
where
    T: Send + 'static,
    F: FnOnce(&mut Write<'_>) -> rusqlite::Result<T> + Send + 'static,
{
    let (reply, result) = oneshot::channel();
    (Box::new(Job { work: Some(work), done: Ok(None), reply }), result)
}

/// The one connection that writes.
pub(super) struct Writer {
    place: Place,
    connection: Connection,
    epoch: i64,
    /// The last group.
    group: i64,
    /// Commands that are durable and wait for their group's confirmation.
    unconfirmed: Vec<Box<dyn Command>>,
    /// The group to be confirmed with the next commit.
    owed: Option<i64>,
    /// Asks that a failed group may have left behind; present until a durable transaction has
    /// settled that they are gone.
    doubt: Option<Vec<Key>>,
    /// Released when the writer ends, and not before.
    _lock: File,
}

impl Writer {
    pub(super) const fn new(
        place: Place,
        connection: Connection,
        epoch: i64,
        group: i64,
        lock: File,
    ) -> Self {
        Self {
            place,
            connection,
            epoch,
            group,
            unconfirmed: Vec::new(),
            owed: None,
            doubt: None,
            _lock: lock,
        }
    }

    /// As if a group with these asks had failed.
    #[cfg(test)]
    pub(super) fn doubt(&mut self, asks: Vec<Key>) {
        self.doubt = Some(asks);
    }

    /// The asks that a failed group may have left.
    #[cfg(test)]
    pub(super) fn doubtful(&self) -> Option<&[Key]> {
        self.doubt.as_deref()
    }

    /// Whether somebody waits for a confirmation: then another group should follow at once, if an empty
    /// one.
    pub(super) const fn owes(&self) -> bool {
        !self.unconfirmed.is_empty()
    }

    /// Nobody knows what the last group did: its connection is not to be trusted either.
    pub(super) fn be_in_doubt(&mut self) {
        self.doubt.get_or_insert_default();
    }

    /// Whether it is open what the last group left on disk: then another should follow before long.
    pub(super) const fn is_in_doubt(&self) -> bool {
        self.doubt.is_some()
    }

    /// Applies a group in one transaction, which also confirms the one before, and replies to each of
    /// its commands, save those that wait for their own confirmation.
    pub(super) fn pump(&mut self, mut group: Vec<Box<dyn Command>>) {
        let was_in_doubt = self.is_in_doubt();
        let confirmed = std::mem::take(&mut self.unconfirmed);
        let mut births = Births::new(self.group + 1);
        let mut wants_scrub = false;
        // A fault in one command must not end the writing of all others for ever. What it left
        // half-done goes with its connection, which doubt replaces.
        let end = catch_unwind(AssertUnwindSafe(|| {
            self.commit(&mut group, &mut births, &mut wants_scrub)
        }))
        .unwrap_or_else(|_| Err(JournalError::Broken("a command panicked".to_owned())));
        if let Err(error) = &end {
            if !was_in_doubt {
                tracing::error!(%error, commands = group.len(), "a group of writes failed");
            }
            self.doubt.get_or_insert_default().extend(births.keys);
        } else if !births.waiting.is_empty() {
            self.owed = Some(births.group);
            for at in births.waiting.into_iter().rev() {
                self.unconfirmed.push(group.swap_remove(at));
            }
        }
        // Also where it failed: what it may have left must not be confirmed by a later one.
        self.group = births.group;
        for command in group {
            command.reply(end.clone());
        }
        // At once, because the log may end in the failed group now, as if it had succeeded, until
        // something is written over it. Where this fails too, the next group tries again.
        if end.is_err()
            && let Err(error) = self.settle_doubt()
            && !was_in_doubt
        {
            tracing::warn!(%error, "the archive cannot be written");
        }
        for command in confirmed {
            // They are durable, also where their confirmation has to wait for the disk: to say that they
            // failed would be untrue, and to say nothing would leave their asks to run unannounced.
            command.reply(Ok(()));
        }
        if wants_scrub && !self.is_in_doubt() {
            self.scrub();
        }
    }

    fn commit(
        &mut self,
        group: &mut [Box<dyn Command>],
        births: &mut Births,
        wants_scrub: &mut bool,
    ) -> Result<()> {
        self.settle_doubt()?;
        let connection = &self.connection;
        let run = |sql| connection.prepare_cached(sql)?.execute(());
        run("BEGIN IMMEDIATE").map_err(fault)?;
        let applied = check_epoch(connection, self.epoch).and_then(|()| {
            let mut write = Write { connection, epoch: self.epoch, births, wants_scrub };
            for (at, command) in group.iter_mut().enumerate() {
                run("SAVEPOINT command").map_err(fault)?;
                if let Err(error) = command.apply(&mut write) {
                    // SQLite may have rolled back everything on its own.
                    if spoils_the_group(&error) || connection.is_autocommit() {
                        return Err(fault(error));
                    }
                    run("ROLLBACK TO command").map_err(fault)?;
                    let error = fault(error);
                    tracing::error!(%error, "a write was refused");
                    command.refuse(error);
                }
                run("RELEASE command").map_err(fault)?;
                if std::mem::take(&mut write.births.one_waits) {
                    write.births.waiting.push(at);
                }
            }
            if let Some(group) = self.owed {
                confirm(connection, group).map_err(fault)?;
            }
            run("COMMIT").map_err(fault)
        });
        if applied.is_err() && !connection.is_autocommit() {
            // Where even this fails, the connection is dropped before the next group.
            let _ = run("ROLLBACK");
        }
        applied?;
        self.owed = None;
        Ok(())
    }

    /// Takes away every copy of what was purged that lies where no query looks: the file is written
    /// anew from what there is, and the log emptied. While somebody reads, the log cannot be; then what
    /// is left to be done is remembered, and has to be asked for again.
    fn scrub(&self) {
        if let Err(error) = scrub(&self.connection) {
            tracing::warn!(%error, "what was deleted cannot be scrubbed away yet");
        }
    }

    fn settle_doubt(&mut self) -> Result<()> {
        let Some(doubtful) = &self.doubt else { return Ok(()) };
        self.connection = self.place.writer().map_err(fault)?;
        let transaction = self.connection.transaction().map_err(fault)?;
        check_epoch(&transaction, self.epoch)?;
        for key in doubtful {
            super::asks::unmake(&transaction, *key).map_err(fault)?;
        }
        if let Some(group) = self.owed {
            confirm(&transaction, group).map_err(fault)?;
        }
        // Also where there is nothing to remove: an empty transaction would prove nothing.
        transaction.execute("UPDATE archive SET proofs = proofs + 1", ()).map_err(fault)?;
        transaction.commit().map_err(fault)?;
        tracing::info!("the archive can be written again");
        self.doubt = None;
        self.owed = None;
        Ok(())
    }
}

/// Larger archives are written anew by way of a file, not of memory.
const IN_MEMORY: i64 = 256 * 1024 * 1024;

fn scrub(connection: &Connection) -> rusqlite::Result<()> {
    let number = |sql: &str| connection.query_row(sql, (), |row| row.get::<_, i64>(0));
    if number("SELECT unscrubbed FROM archive")? == 2 {
        let bytes = number("PRAGMA page_count")? * number("PRAGMA page_size")?;
        let store = if bytes > IN_MEMORY { "FILE" } else { "MEMORY" };
        connection.execute_batch(&format!("PRAGMA temp_store = {store}; VACUUM;"))?;
        connection.execute("UPDATE archive SET unscrubbed = 1", ())?;
    }
    // Whoever reads is not waited for: others want to write.
    connection.busy_timeout(Duration::ZERO)?;
    let is_busy = number("PRAGMA wal_checkpoint(TRUNCATE)");
    connection.busy_timeout(BUSY)?;
    if is_busy? == 0 {
        connection.execute("UPDATE archive SET unscrubbed = 0 WHERE unscrubbed = 1", ())?;
    }
    Ok(())
}

/// Notes that whoever handed in the asks of a group has been told, or is about to be.
fn confirm(connection: &Connection, group: i64) -> rusqlite::Result<usize> {
    connection.prepare_cached("UPDATE archive SET confirmed = ?")?.execute([group])
}

/// A process whose epoch is over must not write: another one has classified its asks.
fn check_epoch(connection: &Connection, epoch: i64) -> Result<()> {
    let current: i64 = connection
        .prepare_cached("SELECT epoch FROM archive")
        .and_then(|mut statement| statement.query_row((), |row| row.get(0)))
        .map_err(fault)?;
    if current == epoch { Ok(()) } else { Err(JournalError::Stale) }
}

/// Whether an error says something about the store rather than about the one command.
fn spoils_the_group(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::OutOfMemory
                | ErrorCode::ReadOnly
                | ErrorCode::SystemIoFailure
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::DiskFull
                | ErrorCode::CannotOpen
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::PermissionDenied
                | ErrorCode::NotADatabase
        )
    )
}

/// What an error of SQLite means to whoever called the journal.
#[expect(clippy::needless_pass_by_value, reason = "so that it maps an error as it is")]
pub(super) fn fault(error: rusqlite::Error) -> JournalError {
    if spoils_the_group(&error) {
        JournalError::Unavailable(error.to_string())
    } else {
        JournalError::Broken(error.to_string())
    }
}
