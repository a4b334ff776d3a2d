//! The journal in SQLite, embedded in the process.
//!
//! One connection writes ([`writer`]), several read ([`readers`]); write-ahead logging keeps the one
//! from holding up the others. Nothing outside this folder knows SQL.

mod asks;
mod backup;
mod check;
mod connect;
mod conversations;
mod copy;
mod drive;
mod log;
mod migrate;
mod open;
mod purge;
mod readers;
mod reads;
mod rows;
mod search;
mod transcripts;
mod writer;

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod purged;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use holdfast_protocol::{Conversation, ConversationList, ConversationSummary, Outcome, Owner};
use rusqlite::{Connection, params};
use tokio::sync::{Notify, mpsc, oneshot};

pub use self::backup::{BackedUp, BackupError, Stop, backup};
pub use self::check::{CheckError, Checked, check, check_file};
pub use self::copy::CopyError;
pub use self::drive::Drive;
pub use self::log::LogBreak;
pub use self::open::{FILE, OpenError};

use self::connect::Place;
use self::drive::Driven;
use self::readers::Readers;
use self::search::Batch;
use self::writer::{Command, Write, Writer, command};
use super::{
    Accept, Begin, CancelledUnheard, Changes, ConversationKey, Deletion, Identity, Imported,
    Journal, JournalError, Key, Listing, Mark, Moment, NewAsk, Partial, PrincipalId, Purge, Record,
    Restore, Result, Start, Transcript, Turn,
};
use crate::clock::Uptime;

/// How to open an archive.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data folder, created where it is missing.
    pub folder: PathBuf,
    /// What drives the writer.
    pub drive: Drive,
    /// Who a new archive is and belongs to; an existing one keeps what it has.
    pub identity: Identity,
    /// The name of the SQLite VFS its file lives in, where that is not the operating system's: for
    /// simulations of the disk. It must have been registered.
    pub vfs: Option<&'static str>,
}

/// The journal in a data folder.
pub struct SqliteJournal {
    local: PrincipalId,
    owner: Owner,
    readers: Readers,
    commands: Mutex<Option<mpsc::Sender<Box<dyn Command>>>>,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
    abandoned: Arc<AtomicBool>,
    /// Something may have settled that is not indexed yet.
    unindexed: Notify,
}

impl SqliteJournal {
    /// Opens the archive, with a new epoch for this process. With [`Drive::Task`] it must be called
    /// inside a runtime.
    ///
    /// # Errors
    /// A sentence for whoever starts the server. What could be refused beforehand has changed
    /// nothing on disk.
    pub fn open(options: &Options) -> std::result::Result<Self, OpenError> {
        let store = |source| OpenError::Store { folder: options.folder.clone(), source };
        let opened = open::open(&options.folder, options.vfs)?;
        let mut connection = opened.connection;
        let taken = take_over(&mut connection, &options.identity).map_err(store)?;
        Self::driven(opened.place, connection, taken, opened.lock, options.drive)
            .map_err(|source| OpenError::Folder { path: options.folder.clone(), source })
    }

    /// The journal of an archive that was taken over. The lock is held until its writer has ended.
    fn driven(
        place: Place,
        connection: Connection,
        taken: TakenOver,
        lock: File,
        drive: Drive,
    ) -> std::io::Result<Self> {
        let TakenOver { epoch, group, local, owner } = taken;
        let writer = Writer::new(place.clone(), connection, epoch, group, lock);
        let Driven { commands, ended, abandoned } = drive.start(writer)?;
        Ok(Self {
            local,
            owner,
            readers: Readers::start(place, drive)?,
            commands: Mutex::new(Some(commands)),
            ended: Mutex::new(Some(ended)),
            abandoned,
            unindexed: Notify::new(),
        })
    }

    /// Ends the journal as a crash would: commands that wait are not written. Afterwards the data
    /// folder can be opened again. For simulations.
    pub async fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
        self.end().await;
    }

    async fn end(&self) {
        // First, for the last connection to close writes the log back, and only the writer can.
        self.readers.close().await;
        drop(self.commands.lock().unwrap_or_else(PoisonError::into_inner).take());
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ended) = ended {
            // An error means that the writer is gone already.
            let _ = ended.await;
        }
    }

    async fn write<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Write<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let gone = || JournalError::Unavailable("the writer has ended".to_owned());
        let commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (command, result) = command(work);
        commands.ok_or_else(gone)?.send(command).await.map_err(|_| gone())?;
        result.await.map_err(|_| gone())?
    }

    /// Writes what may leave something to be indexed.
    async fn write_and_index<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Write<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let done = self.write(work).await?;
        self.unindexed.notify_one();
        Ok(done)
    }
}

/// An archive as the process that takes it over finds it.
struct TakenOver {
    /// Its own epoch, higher than every earlier one.
    epoch: i64,
    /// The last group of writes with a new ask.
    group: i64,
    local: PrincipalId,
    owner: Owner,
}

/// Takes the next epoch, and the archive's identity; a new archive gets one.
fn take_over(connection: &mut Connection, identity: &Identity) -> rusqlite::Result<TakenOver> {
    let transaction = connection.transaction()?;
    transaction.execute(
        "INSERT INTO archive (only_row, id, epoch, proofs, search_version)
         VALUES (1, ?, 0, 0, ?) ON CONFLICT DO NOTHING",
        params![identity.archive, crate::search::VERSION],
    )?;
    search::take_over(&transaction)?;
    transaction.execute(
        "INSERT INTO principals (id, key, name) VALUES (1, ?, 'local') ON CONFLICT DO NOTHING",
        params![identity.principal],
    )?;
    backup::take_over(&transaction, &identity.archive)?;
    let epoch = transaction.query_row(
        "UPDATE archive SET epoch = epoch + 1 RETURNING epoch",
        (),
        |row| row.get(0),
    )?;
    // Settled asks do not count: whoever asks about them needs no confirmation any more.
    let group = transaction.query_row(
        "SELECT max(confirmed,
             ifnull((SELECT max(born) FROM asks WHERE state <> 'settled'), 0)) FROM archive",
        (),
        |row| row.get(0),
    )?;
    let owner: String = transaction.query_row(
        "SELECT principals.key || '.' || archive.id FROM principals, archive
         WHERE principals.id = 1",
        (),
        |row| row.get(0),
    )?;
    transaction.commit()?;
    let owner = owner.parse().map_err(|error| {
        rusqlite::Error::ToSqlConversionFailure(format!("the archive's owner: {error}").into())
    })?;
    Ok(TakenOver { epoch, group, local: PrincipalId(1), owner })
}

#[async_trait]
impl Journal for SqliteJournal {
    fn local_principal(&self) -> PrincipalId {
        self.local
    }

    fn local_owner(&self) -> Owner {
        self.owner.clone()
    }

    async fn find(&self, key: Key) -> Result<Option<Record>> {
        self.readers.read(move |connection| asks::find(connection, key)).await
    }

    async fn accept(&self, ask: NewAsk) -> Result<Accept> {
        let accept = self.write(move |write| asks::accept(write, &ask)).await?;
        // It may have brought the question of one that was cancelled before.
        if let Accept::Known(record) = &accept
            && record.mark == Mark::Settled
        {
            self.unindexed.notify_one();
        }
        Ok(accept)
    }

    async fn begin(&self, key: Key, start: Start) -> Result<Begin> {
        self.write(move |write| asks::begin(write, key, &start)).await
    }

    async fn append(&self, key: Key, partial: Partial) -> Result<()> {
        self.write(move |write| asks::append(write, key, &partial)).await
    }

    async fn settle(&self, key: Key, outcome: Outcome) -> Result<Outcome> {
        self.write_and_index(move |write| asks::settle(write, key, &outcome)).await
    }

    async fn cancel_unheard(&self, cancelled: CancelledUnheard) -> Result<Record> {
        self.write_and_index(move |write| asks::cancel_unheard(write, &cancelled)).await
    }

    async fn requeue(&self, key: Key) -> Result<()> {
        self.write(move |write| asks::requeue(write, key)).await
    }

    async fn unsettled(&self) -> Result<Vec<Record>> {
        self.readers.read(reads::unsettled).await
    }

    async fn overdue(&self, now: Uptime) -> Result<Vec<Record>> {
        self.readers.read(move |connection| reads::overdue(connection, now)).await
    }

    async fn history(
        &self,
        conversation: ConversationKey,
        seq: u64,
        bytes: usize,
    ) -> Result<Vec<Turn>> {
        self.readers
            .read(move |connection| reads::history(connection, conversation, seq, bytes))
            .await
    }

    async fn conversation(
        &self,
        conversation: ConversationKey,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Option<Conversation>> {
        self.readers
            .read(move |connection| reads::conversation(connection, conversation, before, limit))
            .await
    }

    async fn conversations(
        &self,
        principal: PrincipalId,
        listing: Listing,
    ) -> Result<ConversationList> {
        self.readers
            .read(move |connection| conversations::list(connection, principal, &listing))
            .await
    }

    async fn change(
        &self,
        conversation: ConversationKey,
        changes: Changes,
    ) -> Result<Option<ConversationSummary>> {
        self.write(move |write| conversations::change(write, conversation, &changes)).await
    }

    async fn system_prompt(&self, conversation: ConversationKey) -> Result<Option<String>> {
        self.readers
            .read(move |connection| conversations::system_prompt(connection, conversation))
            .await
    }

    async fn transcript(
        &self,
        conversation: ConversationKey,
        after: u64,
        limit: u32,
    ) -> Result<Option<Transcript>> {
        self.readers
            .read(move |connection| transcripts::transcript(connection, conversation, after, limit))
            .await
    }

    async fn import(
        &self,
        principal: PrincipalId,
        transcripts: Vec<Transcript>,
    ) -> Result<Imported> {
        self.write_and_index(move |write| transcripts::import(write, principal, &transcripts)).await
    }

    async fn delete(&self, conversation: ConversationKey, at: Moment) -> Result<bool> {
        self.write(move |write| purge::delete(write, conversation, at)).await
    }

    async fn restore(&self, conversation: ConversationKey) -> Result<Restore> {
        self.write(move |write| purge::restore(write, conversation)).await
    }

    async fn deletions(&self) -> Result<Vec<Deletion>> {
        self.readers.read(purge::deletions).await
    }

    async fn purge(&self, conversation: ConversationKey) -> Result<Purge> {
        self.write(move |write| purge::purge(write, conversation)).await
    }

    async fn scrub(&self) -> Result<bool> {
        if self.readers.read(purge::is_scrubbed).await? {
            return Ok(true);
        }
        self.write(|write| {
            write.ask_for_scrub();
            Ok(())
        })
        .await?;
        // It is scrubbed before the next group.
        self.write(|write| purge::is_scrubbed(write.connection)).await
    }

    async fn unindexed(&self) {
        self.unindexed.notified().await;
    }

    async fn index(&self) -> Result<bool> {
        let batch = self.readers.read(Batch::read).await?;
        if batch.is_empty() {
            return Ok(false);
        }
        self.write(move |write| batch.write(write.connection)).await?;
        Ok(true)
    }

    async fn close(&self) {
        self.end().await;
    }
}
