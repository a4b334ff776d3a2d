//! What the disk itself takes for one sync, measured beside whatever needs it.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use crate::failure::{Context as _, Result};
use crate::rounds::quantile;

/// What is written before each sync: a page, as the least that a commit can write.
const PAGE: usize = 4096;
/// How many syncs are measured.
const SYNCS: usize = 200;

/// The median time of a page written and synced in `folder`, in milliseconds.
pub(crate) fn sync_millis(folder: &Path) -> Result<f64> {
    let mut file = tempfile::tempfile_in(folder).doing("write to the bench's folder")?;
    let mut times = (0..SYNCS).map(|_| page(&mut file)).collect::<Result<Vec<_>>>()?;
    quantile(&mut times, 0.5).doing("sync at all")
}

fn page(file: &mut File) -> Result<f64> {
    let begun = Instant::now();
    file.write_all(&[7; PAGE]).doing("write to the bench's folder")?;
    file.sync_all().doing("sync the bench's folder")?;
    Ok(begun.elapsed().as_secs_f64() * 1000.0)
}
