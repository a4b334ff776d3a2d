//! Whether the archive's log is whole: damage in the midst of it, told from an end that a crash left.
//!
//! `SQLite` reads its log up to the first frame whose checksum or salts are wrong, and takes that for
//! the end: whatever was committed behind it is gone, and nobody is told. Mostly that *is* the end. Of
//! a transaction that was cut off, any part may have reached the disk; of one that failed, a part
//! stays until it is overwritten; and behind that may lie an earlier generation of the log. But each
//! commit is synced before the next is begun, and so is a log's header before its first frame. So a
//! frame whose checksum follows from a commit proves that the commit was on the disk, with everything
//! before it. Where such a pair lies behind the end, that is no end: the log is damaged there.
//!
//! Here belong the log's format ([`frame`]), the [`walk`] over it, and what is to be thought of what
//! was found. Not here: mending it, and a log in a VFS of its own.
//!
//! A server refuses to start on such a log, rather than to warn and go on. Asks that were said to be
//! accepted would be unknown; a page that looks one up and is told so sends it again, and what may
//! have been billed is paid for twice. What the pages were told cannot be seen from here, and the
//! first thing a server writes would be written over what is left of it. So a person decides, who was
//! told, while everything is still there.
//!
//! *Architecture invariant:* what a crash, a loss of power or a failing sync can leave is no fault.
//! Therefore damage in the last transaction is not found: as long as nothing follows that, nothing
//! tells it from one that was cut off.

mod frame;
mod walk;

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use self::walk::{Found, walk};
use super::connect::Place;

/// How often a log is walked that is being written meanwhile.
const WALKS: usize = 8;

/// Where a log is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogBreak {
    /// The byte at which the first thing begins that cannot be believed.
    pub at: u64,
    /// How many commits can be seen behind it.
    pub commits: u64,
}

impl fmt::Display for LogBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, commits } = self;
        write!(f, "breaks off at byte {at}, and ")?;
        match commits {
            1 => f.write_str("1 commit lies behind it"),
            _ => write!(f, "{commits} commits lie behind it"),
        }
    }
}

/// Finds where the log of an archive is damaged, also while somebody writes it.
///
/// # Errors
/// If the log, or the archive beside it, cannot be read.
pub(super) fn find_break(place: &Place) -> io::Result<Option<LogBreak>> {
    let Some(path) = place.log() else { return Ok(None) };
    let mut seen = None;
    for _ in 0..WALKS {
        let mut log = match File::open(&path) {
            Ok(log) => BufReader::new(log),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(found) = walk(&mut log)? else { return Ok(None) };
        if found.is_first && is_kept(&found, &mut log, &place.file)? {
            return Ok(None);
        }
        // What was being written has been written by now: only damage is still where it was.
        let Found { header, at, commits, .. } = found;
        if seen.replace((header, at)) == Some((header, at)) {
            return Ok(Some(LogBreak { at, commits }));
        }
    }
    // Whoever writes it so fast does not read it by its checksums.
    Ok(None)
}

/// Whether what lies behind the break is in the archive, so that nothing is lost by it: a log that was
/// moved there is begun anew from its header, which power loss may tear.
fn is_kept(found: &Found, log: &mut (impl Read + Seek), archive: &Path) -> io::Result<bool> {
    if found.pages.is_empty() {
        return Ok(false);
    }
    let mut archive = File::open(archive)?;
    let [mut ours, mut theirs] = [(); 2].map(|()| vec![0; found.page]);
    for (page, at) in &found.pages {
        log.seek(SeekFrom::Start(*at))?;
        log.read_exact(&mut theirs)?;
        archive.seek(SeekFrom::Start(u64::from(page.saturating_sub(1)) * found.page as u64))?;
        match archive.read_exact(&mut ours) {
            Ok(()) if ours == theirs => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
