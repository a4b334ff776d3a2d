//! Building the page: Trunk, and a copy of what it wrote for the binary to embed. Not here: taking the
//! module apart (`split`), the embedding, which `server/build.rs` does, and the weighing.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;

use crate::child;
use crate::failure::{Context as _, Failure, Result};
use crate::folder::{files, read};
use crate::lock::Lock;
use crate::split::{self, Parts};
use crate::tools::Tools;
use crate::workspace::Workspace;

/// Builds the page into [`Workspace::page`].
pub(crate) fn build(workspace: &Workspace, tools: &Tools) -> Result<()> {
    // Trunk takes the module from cargo's folder after cargo has let go of it: another clone's
    // build must not put its own there in between. The other lock is for two builds of this clone
    // that have not the same cache: Trunk stages its output in one folder.
    let target = workspace.page_target();
    let _locks = [target.join("lock"), workspace.target.join("page.lock")]
        .map(|lock| Lock::take(&lock, "build a page"))
        .into_iter()
        .collect::<Result<Vec<_>>>()?;
    forget_other_clones(&target, &workspace.root)?;
    let parts = target.join("parts");
    let mut trunk = workspace.command("trunk");
    Parts::tell(&parts, tools.offer(&mut trunk))
        .args(["build", "--release"])
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", split::RUSTFLAGS)
        .env("TRUNK_SKIP_VERSION_CHECK", "true")
        // Its own backtrace would push the compiler's message off the screen.
        .env_remove("RUST_BACKTRACE");
    if env::var_os("NO_COLOR").is_some() {
        // Trunk reads it as a boolean and stops at the usual "1".
        trunk.env("NO_COLOR", "true");
    }
    child::show("build the page with Trunk", &mut trunk)?;
    let dist = workspace.root.join("target/dist");
    if !dist.join("index.html").is_file() {
        return Err(Failure::new(format!("Trunk wrote no index.html into {}", dist.display())));
    }
    split::join(&dist, &Parts::within(&parts))?;
    mirror(&dist, &workspace.page())
}

/// Cargo names the workspace's own crates alike in every clone and tells their age by the clock, so
/// that what another clone built last could pass for this one's. Their fingerprints go when the
/// clone changes; what all clones share stays.
fn forget_other_clones(target: &Path, root: &Path) -> Result<()> {
    let stamp = target.join("last-clone");
    let root = root.display().to_string();
    if fs::read_to_string(&stamp).is_ok_and(|last| last == root) {
        return Ok(());
    }
    let fingerprints = target.join("wasm32-unknown-unknown/wasm-release/.fingerprint");
    if fingerprints.is_dir() {
        let reading = fs::read_dir(&fingerprints);
        for entry in reading.doing(format_args!("read {}", fingerprints.display()))? {
            let entry = entry.doing(format_args!("read {}", fingerprints.display()))?;
            if entry.file_name().to_string_lossy().starts_with("holdfast-") {
                let dir = entry.path();
                fs::remove_dir_all(&dir).doing(format_args!("remove {}", dir.display()))?;
            }
        }
    }
    fs::create_dir_all(target).doing(format_args!("create {}", target.display()))?;
    fs::write(&stamp, root).doing(format_args!("write {}", stamp.display()))
}

/// Makes `to` hold what `from` holds, and touches only what differs.
fn mirror(from: &Path, to: &Path) -> Result<()> {
    let wanted: BTreeSet<_> = files(from)?.into_iter().collect();
    if to.is_dir() {
        for file in files(to)? {
            if !wanted.contains(&file) {
                let file = to.join(file);
                fs::remove_file(&file).doing(format_args!("remove {}", file.display()))?;
            }
        }
    }
    for file in wanted {
        let (source, copy) = (from.join(&file), to.join(&file));
        let bytes = read(&source)?;
        if fs::read(&copy).is_ok_and(|held| held == bytes) {
            continue;
        }
        let dir = copy.parent().unwrap_or(to);
        fs::create_dir_all(dir).doing(format_args!("create {}", dir.display()))?;
        fs::write(&copy, bytes).doing(format_args!("write {}", copy.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn another_clones_crates_are_built_anew_and_what_is_shared_is_not() {
        let dir = env::temp_dir().join(format!("xtask-clones-{}", std::process::id()));
        let fingerprints = dir.join("wasm32-unknown-unknown/wasm-release/.fingerprint");
        let (own, shared) = (fingerprints.join("holdfast-app-1"), fingerprints.join("leptos-1"));
        for clone in ["/one", "/two"] {
            fs::create_dir_all(&own).unwrap();
            fs::create_dir_all(&shared).unwrap();
            forget_other_clones(&dir, Path::new(clone)).unwrap();
            assert!(!own.exists() && shared.exists(), "{clone}");
            fs::create_dir_all(&own).unwrap();
            forget_other_clones(&dir, Path::new(clone)).unwrap();
            assert!(own.exists(), "the same clone again");
        }
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn mirrors_and_touches_only_what_differs() {
        let dir = env::temp_dir().join(format!("xtask-mirror-{}", std::process::id()));
        let (from, to) = (dir.join("from"), dir.join("to"));
        fs::create_dir_all(from.join("public")).unwrap();
        fs::write(from.join("index.html"), "one").unwrap();
        fs::write(from.join("public/icon.svg"), "icon").unwrap();
        mirror(&from, &to).unwrap();
        assert_eq!(files(&to).unwrap(), files(&from).unwrap());
        assert_eq!(files(&to).unwrap().len(), 2);

        let written = fs::metadata(to.join("public/icon.svg")).unwrap().modified().unwrap();
        fs::write(to.join("gone.js"), "old").unwrap();
        fs::write(from.join("index.html"), "two").unwrap();
        mirror(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("index.html")).unwrap(), "two");
        assert!(!to.join("gone.js").exists());
        let now = fs::metadata(to.join("public/icon.svg")).unwrap().modified().unwrap();
        assert_eq!(now, written);
        fs::remove_dir_all(dir).unwrap();
    }
}
