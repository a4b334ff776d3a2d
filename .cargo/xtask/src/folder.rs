//! What is in a folder: its files, and what they hold. Not here: what for.

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

/// What a file holds.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).doing(format_args!("read {}", file.display()))
}

/// A folder with these files in it, for a test; removed at its end.
#[cfg(test)]
pub(crate) struct Folder(pub(crate) PathBuf);

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
impl Folder {
    /// `name` tells those of one run apart.
    pub(crate) fn new(name: &str, files: &[(&str, &[u8])]) -> Self {
        let dir = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        for (file, bytes) in files {
            let file = dir.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        Self(dir)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}
