//! Where things are, and child processes that see a clean environment. Not here: what is run.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Context as _, Failure, Result};

/// The folders that every command works with.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The repository.
    pub(crate) root: PathBuf,
    /// Cargo's target folder for the host.
    pub(crate) target: PathBuf,
    /// Shared by all clones of one user: tools, and the page's target folder.
    pub(crate) cache: PathBuf,
}

impl Workspace {
    /// Finds the folders; creates none.
    pub(crate) fn find() -> Result<Self> {
        // Cargo says it when it runs this; what was true at compile time may be another clone's, where
        // two share a target folder.
        let manifest =
            env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest)
            .join("../..")
            .canonicalize()
            .doing("find the repository that xtask belongs to")?;
        let target = match env::var_os("CARGO_TARGET_DIR").filter(|dir| !dir.is_empty()) {
            Some(dir) => root.join(dir),
            None => root.join("target"),
        };
        let cache = cache_home(env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"))
            .ok_or_else(|| {
                Failure::new(
                    "neither XDG_CACHE_HOME nor HOME says where tools can be kept; set one of them",
                )
            })?
            .join("holdfast");
        Ok(Self { root, target, cache })
    }

    /// What Trunk writes, and what the binary embeds: a copy of it that changes only when the page
    /// does. Trunk rewrites its own output each time, and cargo would rebuild the server for it.
    pub(crate) fn page(&self) -> PathBuf {
        self.target.join("page")
    }

    /// Cargo's target folder for the page, which has its own profile and target.
    pub(crate) fn page_target(&self) -> PathBuf {
        self.cache.join("page-target")
    }

    /// A program of the host's build.
    pub(crate) fn binary(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }

    /// A command that starts in the repository and inherits nothing from the cargo that runs xtask.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        Self::clean(&self.root, program)
    }

    /// The same, in another folder.
    pub(crate) fn clean(folder: &Path, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder);
        for (name, _) in env::vars_os() {
            if name.to_str().is_some_and(is_leaked) {
                command.env_remove(name);
            }
        }
        command
    }

    /// Cargo, for the host, with the page embedded. The page is named in every call, also where it
    /// does not matter, because a changed environment would rebuild the server between two steps.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = self.command("cargo");
        cargo.env("CARGO_TARGET_DIR", &self.target);
        if self.page().join("index.html").is_file() {
            cargo.env("HOLDFAST_PAGE", self.page());
        }
        cargo
    }
}

/// The base directory specification: only an absolute path counts.
fn cache_home(
    xdg: Option<std::ffi::OsString>,
    home: Option<std::ffi::OsString>,
) -> Option<PathBuf> {
    xdg.map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| Some(PathBuf::from(home.filter(|home| !home.is_empty())?).join(".cache")))
}

/// Whether `cargo run` (or rustup) set the variable for xtask, so that a nested cargo would rebuild
/// or mix toolchains; or whether it would aim the page's and the host's builds at each other.
fn is_leaked(name: &str) -> bool {
    const NAMES: [&str; 19] = [
        "CARGO",
        "CARGO_BIN_NAME",
        "CARGO_BUILD_TARGET",
        "CARGO_CRATE_NAME",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_MAKEFLAGS",
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_PATH",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_TARGET_DIR",
        "CARGO_TARGET_TMPDIR",
        "HOLDFAST_PAGE",
        "LD_LIBRARY_PATH",
        "OUT_DIR",
        "RUSTC",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTFLAGS",
        "RUSTUP_TOOLCHAIN",
    ];
    const PREFIXES: [&str; 5] =
        ["CARGO_BIN_EXE_", "CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PKG_", "TRUNK_"];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn scrubs_what_the_outer_cargo_set() {
        for name in [
            "CARGO",
            "CARGO_MANIFEST_DIR",
            "CARGO_PKG_VERSION_MAJOR",
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTUP_TOOLCHAIN",
            "LD_LIBRARY_PATH",
            "TRUNK_BUILD_DIST",
        ] {
            assert!(is_leaked(name), "{name}");
        }
    }

    #[test]
    fn keeps_what_the_user_set() {
        for name in [
            "CARGO_HOME",
            "CARGO_TERM_COLOR",
            "CARGO_NET_OFFLINE",
            "CARGO_BUILD_JOBS",
            "CARGO_REGISTRIES_CRATES_IO_PROTOCOL",
            "RUSTUP_HOME",
            "RUST_LOG",
            "PATH",
            "HOME",
            "HOLDFAST_PROVIDER_KEY",
            "CARGOES",
        ] {
            assert!(!is_leaked(name), "{name}");
        }
    }

    #[test]
    fn a_child_does_not_see_the_outer_cargo() {
        // The test itself runs under cargo, so there is something to scrub.
        assert!(env::var_os("CARGO_MANIFEST_DIR").is_some());
        let output = Workspace::find().unwrap().command("env").output().unwrap();
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.contains("PATH="), "{output}");
        assert!(!output.contains("CARGO_MANIFEST_DIR="), "{output}");
        assert!(!output.contains("CARGO_PKG_NAME="), "{output}");
    }

    #[test]
    fn takes_the_cache_from_the_environment() {
        let cache = |xdg: Option<&str>, home: Option<&str>| {
            cache_home(xdg.map(Into::into), home.map(Into::into))
        };
        assert_eq!(cache(Some("/c"), Some("/h")), Some("/c".into()));
        assert_eq!(cache(Some("relative"), Some("/h")), Some("/h/.cache".into()));
        assert_eq!(cache(None, Some("/h")), Some("/h/.cache".into()));
        assert_eq!(cache(Some(""), Some("")), None);
        assert_eq!(cache(None, None), None);
    }
}
