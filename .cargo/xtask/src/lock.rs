//! One xtask at a time where two would get into each other's way. Not here: Cargo.lock.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use crate::failure::{Context as _, Failure, Result};

/// Held until dropped, also when the process is killed.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock at `path`, whose folder is created; says so where it has to wait.
    pub(crate) fn take(path: &Path, doing: &str) -> Result<Self> {
        let dir = path.parent().unwrap_or(path);
        fs::create_dir_all(dir).map_err(|error| unwritable(dir, &error))?;
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(|error| unwritable(dir, &error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                println!("   waiting: another xtask is about to {doing}");
                file.lock().doing("wait for another xtask")?;
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).doing(format_args!("lock {}", path.display()));
            }
        }
        Ok(Self { _file: file })
    }
}

/// The cache cannot be written to.
pub(crate) fn unwritable(dir: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!(
        "cannot write to {} ({error}); set XDG_CACHE_HOME to a folder that you can write to",
        dir.display()
    ))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn excludes_until_dropped() {
        let dir = std::env::temp_dir().join(format!("xtask-lock-{}", std::process::id()));
        let path = dir.join("lock");
        let held = Lock::take(&path, "test").unwrap();
        let other = File::open(&path).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(held);
        assert!(other.try_lock().is_ok());
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn an_unwritable_cache_says_what_to_do() {
        let failure = Lock::take(Path::new("/proc/no/lock"), "test").unwrap_err();
        assert!(failure.to_string().contains("set XDG_CACHE_HOME"), "{failure}");
    }
}
