//! The check, checked: a legal archive is sound, and each rule finds what breaks it and nothing else.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod damage;
pub(in crate::journal::sqlite) mod legal;
mod rules;
mod visiting;

use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;

/// The faults of the archive in a folder.
fn faults(folder: &Path) -> Vec<String> {
    check(folder, None).unwrap().faults
}

/// An archive that a test may break, with one of each kind of ask.
fn legal() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(FILE), pristine()).unwrap();
    folder
}

/// The bytes of that archive, which is made once.
fn pristine() -> Vec<u8> {
    static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    let make = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        runtime.block_on(legal::archive(folder.path()));
        std::fs::read(folder.path().join(FILE)).unwrap()
    };
    // On a thread of its own, for whoever asks first may be in a runtime.
    BYTES.get_or_init(|| std::thread::spawn(make).join().unwrap()).clone()
}

/// Writes to an archive what the journal never would.
pub(in crate::journal::sqlite) fn force(folder: &Path, sql: &str) {
    let connection = Connection::open(folder.join(FILE)).unwrap();
    let free = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;";
    connection.execute_batch(free).unwrap();
    connection.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// An ask of the legal archive, as a line begins.
fn ask(id: u128, says: &str) -> String {
    format!("ask {}: {says}", uuid::Uuid::from_u128(id))
}

fn conversation(id: u128, says: &str) -> String {
    format!("conversation {}: {says}", uuid::Uuid::from_u128(id))
}
