//! Logs as `SQLite` leaves them, whole, cut off and spoilt.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod damaged;
mod refused;
mod whole;

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use super::frame::{FRAME, HEADER};
use super::*;

const PAGE_SIZE: usize = 4096;

/// A log of which nothing was moved into its archive.
struct Log {
    _folder: TempDir,
    path: PathBuf,
    connection: Connection,
    bytes: Vec<u8>,
    /// Where each transaction ends.
    ends: Vec<usize>,
}

impl Log {
    /// Transactions with so many rows each, about one to a page.
    fn new(transactions: &[u32]) -> Self {
        Self::with(transactions, "")
    }

    fn with(transactions: &[u32], parameters: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.db");
        let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI;
        let uri = format!("file:{}{parameters}", path.display());
        let connection = Connection::open_with_flags(uri, flags).unwrap();
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = 4;
                 PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)",
            )
            .unwrap();
        let mut log = Self { _folder: folder, path, connection, bytes: vec![], ends: vec![] };
        log.read();
        for rows in transactions {
            log.commit(*rows);
        }
        log
    }

    fn commit(&mut self, rows: u32) {
        self.connection
            .execute(
                "WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
                 INSERT INTO t SELECT randomblob(3000) FROM n",
                [rows],
            )
            .unwrap();
        self.read();
    }

    fn read(&mut self) {
        self.bytes = fs::read(self.log()).unwrap();
        self.ends.push(self.bytes.len());
    }

    fn log(&self) -> PathBuf {
        self.place().log().unwrap()
    }

    fn place(&self) -> Place {
        Place { file: self.path.clone(), vfs: None }
    }

    /// Where the last transaction begins.
    fn last(&self) -> usize {
        self.ends[self.ends.len() - 2]
    }

    /// With one bit turned.
    fn with_flipped(&self, bit: usize) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    }
}

fn found(bytes: &[u8]) -> Option<(u64, u64)> {
    walk(&mut Cursor::new(bytes)).unwrap().map(|found| (found.at, found.commits))
}

/// Where the frame begins that this byte belongs to, or the header.
fn frame_of(byte: usize) -> usize {
    match byte.checked_sub(HEADER) {
        None => 0,
        Some(byte) => HEADER + byte / (FRAME + PAGE_SIZE) * (FRAME + PAGE_SIZE),
    }
}

/// Puts a log beside a copy of an archive. Returns the copy's folder.
fn beside(archive: &Path, log: &[u8]) -> (TempDir, Place) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.db");
    fs::copy(archive, &file).unwrap();
    let place = Place { file, vfs: None };
    fs::write(place.log().unwrap(), log).unwrap();
    (folder, place)
}

fn rows(place: &Place) -> u32 {
    let connection = place.visitor().unwrap();
    connection.query_row("SELECT count(*) FROM t", (), |row| row.get(0)).unwrap()
}
