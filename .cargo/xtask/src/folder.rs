//! What is in a folder. Not here: what for.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Context as _, Result};

/// The files below `dir`, relative to it, in order.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut dirs = vec![PathBuf::new()];
    while let Some(below) = dirs.pop() {
        let reading = dir.join(&below);
        let entries = fs::read_dir(&reading).doing(format_args!("read {}", reading.display()))?;
        for entry in entries {
            let entry = entry.doing(format_args!("read {}", reading.display()))?;
            let path = below.join(entry.file_name());
            if entry.path().is_dir() {
                dirs.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
