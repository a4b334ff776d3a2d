//! Connections that only read: a lookup never waits for a write.
//!
//! A few threads, each with its own connection, share one queue. Whoever finds more than one read in
//! it takes several, and reads them in one snapshot: under load a read costs neither a thread, nor a
//! transaction, nor a wake-up of its own.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::connect::Place;
use super::drive::Drive;
use super::writer::fault;
use crate::journal::{JournalError, Result};

/// The most threads: a disk serves many reads at once, most come from memory.
const THREADS: usize = 8;
/// The most reads in one snapshot, so that one thread does not take what several could share.
const TOGETHER: usize = 16;

/// One read, with whoever waits for it. Says whether the connection can be trusted with another.
type Read = Box<dyn FnOnce(Result<&Connection>) -> bool + Send>;

/// Those who read.
pub(super) enum Readers {
    /// Threads that share a queue.
    Threads {
        queue: Arc<Queue>,
        /// Ends once every thread has let go of its connection.
        ended: tokio::sync::Mutex<mpsc::Receiver<()>>,
    },
    /// Whoever asks, at once: for simulations.
    Inline(Mutex<Option<Reader>>),
}

impl Readers {
    pub(super) fn start(place: Place, drive: Drive) -> std::io::Result<Self> {
        if drive == Drive::Task {
            return Ok(Self::Inline(Mutex::new(Some(Reader::new(place)))));
        }
        let queue = Arc::new(Queue::default());
        let (reading, ended) = mpsc::channel(1);
        let threads = thread::available_parallelism().map_or(THREADS, usize::from);
        for _ in 0..threads.clamp(2, THREADS) {
            let (queue, reading) = (Arc::clone(&queue), reading.clone());
            let mut reader = Reader::new(place.clone());
            thread::Builder::new().name("journal-read".to_owned()).spawn(move || {
                while let Some(reads) = queue.take() {
                    reader.read_together(reads);
                }
                drop(reader);
                drop(reading);
            })?;
        }
        Ok(Self::Threads { queue, ended: tokio::sync::Mutex::new(ended) })
    }

    /// Reads in one snapshot of the archive, which holds whatever was committed before the call.
    pub(super) async fn read<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let gone = || JournalError::Unavailable("the archive is closed".to_owned());
        let (reply, result) = oneshot::channel();
        let read: Read = Box::new(move |connection| {
            if reply.is_closed() {
                // Whoever asked has left: others wait.
                return true;
            }
            let read = connection.and_then(|connection| work(connection).map_err(fault));
            let is_sound = read.is_ok();
            // Whoever asked may have left.
            let _ = reply.send(read);
            is_sound
        });
        match self {
            Self::Threads { queue, .. } => queue.push(read),
            Self::Inline(reader) => {
                let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
                reader.as_mut().ok_or_else(gone)?.read_together(VecDeque::from([read]));
            }
        }
        result.await.map_err(|_| gone())?
    }

    /// Lets go of every connection; what is in the queue is not read any more.
    pub(super) async fn close(&self) {
        match self {
            Self::Threads { queue, ended } => {
                queue.close();
                // Nothing is ever sent: it ends when nobody could.
                while ended.lock().await.recv().await.is_some() {}
            }
            Self::Inline(reader) => {
                *reader.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        if let Self::Threads { queue, .. } = self {
            queue.close();
        }
    }
}

/// One connection, opened when it is first needed.
pub(super) struct Reader {
    place: Place,
    connection: Option<Connection>,
}

impl Reader {
    const fn new(place: Place) -> Self {
        Self { place, connection: None }
    }

    /// Reads all of these, in one snapshot as long as nothing fails.
    fn read_together(&mut self, mut reads: VecDeque<Read>) {
        while !reads.is_empty() {
            let connection = self.connection.take().map_or_else(|| self.place.reader(), Ok);
            match connection.and_then(|connection| read_in_one(connection, &mut reads)) {
                Ok(connection) => self.connection = connection,
                // They could not even begin.
                Err(error) => {
                    let error = fault(error);
                    for read in reads.drain(..) {
                        read(Err(error.clone()));
                    }
                }
            }
        }
    }
}

/// Reads in one snapshot until the connection cannot be trusted with another read; it is given back
/// where it can.
fn read_in_one(
    connection: Connection,
    reads: &mut VecDeque<Read>,
) -> rusqlite::Result<Option<Connection>> {
    let run = |sql| connection.prepare_cached(sql)?.execute(());
    run("BEGIN")?;
    while let Some(read) = reads.pop_front() {
        // A fault in one read must not be the end of all others. Its asker is told by the silence.
        let is_sound = catch_unwind(AssertUnwindSafe(|| read(Ok(&connection)))).unwrap_or(false);
        if !is_sound {
            return Ok(None);
        }
    }
    // All have been answered; only the connection depends on this.
    Ok(run("COMMIT").is_ok().then_some(connection))
}

/// The reads that wait for a thread.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    reads: VecDeque<Read>,
    is_closed: bool,
}

impl Queue {
    fn push(&self, read: Read) {
        let mut waiting = self.lock();
        if !waiting.is_closed {
            waiting.reads.push_back(read);
            drop(waiting);
            self.changed.notify_one();
        }
    }

    /// The reads that come next, or nothing once it is closed.
    fn take(&self) -> Option<VecDeque<Read>> {
        let mut waiting = self.lock();
        while waiting.reads.is_empty() && !waiting.is_closed {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let together = waiting.reads.len().min(TOGETHER);
        (together > 0).then(|| waiting.reads.drain(..together).collect())
    }

    fn close(&self) {
        let mut waiting = self.lock();
        waiting.is_closed = true;
        // Whoever waits for them is told by the silence.
        waiting.reads.clear();
        drop(waiting);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing that holds it can panic half-way: it only pushes and pops.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use tempfile::TempDir;

    use super::*;

    fn readers(drive: Drive) -> (TempDir, Readers) {
        let folder = tempfile::tempdir().unwrap();
        let place = Place { file: folder.path().join("test.db"), vfs: None };
        place.writer().unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
        (folder, Readers::start(place, drive).unwrap())
    }

    fn count(connection: &Connection) -> rusqlite::Result<u32> {
        connection.query_row("SELECT count(*) FROM t", (), |row| row.get(0))
    }

    /// Many at once, so that some share a snapshot with the one that fails.
    async fn all_but_one(drive: Drive, one: fn() -> rusqlite::Result<u32>) {
        let (_folder, readers) = readers(drive);
        let reads = (0..100).map(|at| {
            readers.read(move |connection| if at == 7 { one() } else { count(connection) })
        });
        let read = futures_util::future::join_all(reads).await;
        for (at, read) in read.into_iter().enumerate() {
            assert_eq!(read.is_ok(), at != 7, "{at}: {read:?}");
        }
    }

    #[tokio::test]
    async fn a_read_that_fails_fails_alone() {
        for drive in [Drive::Thread, Drive::Task] {
            all_but_one(drive, || Err(rusqlite::Error::InvalidQuery)).await;
        }
    }

    #[tokio::test]
    async fn a_read_that_panics_fails_alone() {
        for drive in [Drive::Thread, Drive::Task] {
            all_but_one(drive, || panic!("as the test wants it")).await;
        }
    }

    #[tokio::test]
    async fn nothing_is_read_once_it_is_closed() {
        for drive in [Drive::Thread, Drive::Task] {
            let (folder, readers) = readers(drive);
            assert_eq!(readers.read(count).await, Ok(0));
            readers.close().await;
            let refused = readers.read(count).await;
            assert!(matches!(refused, Err(JournalError::Unavailable(_))), "{refused:?}");
            let log = folder.path().join("test.db-wal");
            assert!(!log.exists() || log.metadata().unwrap().len() == 0, "a reader holds on to it");
        }
    }

    #[tokio::test]
    async fn an_archive_that_is_not_there_is_said_to_be_so() {
        for drive in [Drive::Thread, Drive::Task] {
            let (folder, readers) = readers(drive);
            drop(folder);
            assert!(matches!(readers.read(count).await, Err(JournalError::Unavailable(_))));
        }
    }
}
