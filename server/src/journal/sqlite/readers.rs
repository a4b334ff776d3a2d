//! Connections that only read: a lookup never waits for a write.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use super::connect::Place;
use super::writer::{Drive, fault};
use crate::journal::{JournalError, Result};

/// Connections that are kept for the next read.
const KEPT: usize = 8;

/// A pool that opens a connection whenever none is idle.
#[derive(Clone)]
pub(super) struct Readers {
    place: Place,
    /// `None` once closed.
    idle: Arc<Mutex<Option<Vec<Connection>>>>,
    drive: Drive,
}

impl Readers {
    pub(super) fn new(place: Place, drive: Drive) -> Self {
        Self { place, idle: Arc::new(Mutex::new(Some(Vec::new()))), drive }
    }

    /// Reads in one snapshot of the archive.
    pub(super) async fn read<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let readers = self.clone();
        let read = move || readers.read_now(work).map_err(fault);
        match self.drive {
            Drive::Task => read(),
            // A disk may take its time, and the runtime's threads serve everybody.
            Drive::Thread => tokio::task::spawn_blocking(read)
                .await
                .map_err(|error| JournalError::Unavailable(error.to_string()))?,
        }
    }

    fn read_now<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let idle = self.idle().as_mut().and_then(Vec::pop);
        let connection = idle.map_or_else(|| self.place.reader(), Ok)?;
        let snapshot = connection.unchecked_transaction()?;
        // A connection whose read failed is not trusted with another.
        let result = work(&snapshot)?;
        snapshot.finish()?;
        if let Some(idle) = self.idle().as_mut().filter(|idle| idle.len() < KEPT) {
            idle.push(connection);
        }
        Ok(result)
    }

    /// Lets go of every idle connection, and keeps none any more.
    pub(super) fn close(&self) {
        *self.idle() = None;
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Option<Vec<Connection>>> {
        // Nothing that holds it can panic half-way: it only pushes and pops.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
