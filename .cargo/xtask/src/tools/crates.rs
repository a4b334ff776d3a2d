//! Tools that cargo builds: Trunk, and the wasm-bindgen of exactly the version that the page links.
//! Each version has a folder of its own in the user's cache.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use super::{install_with, succeeds};
use crate::failure::{Context as _, Failure, Result};
use crate::lock::unwritable;
use crate::stand_in::SPLITTER;
use crate::workspace::Workspace;

/// Later ones need a newer compiler than the workspace does.
const TRUNK: &str = "0.21.14";
/// Takes what `wasm_split_helpers` of the same line marks.
const WASM_SPLIT: &str = "0.2.4";

/// One version of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tool {
    program: &'static str,
    package: &'static str,
    version: String,
    flags: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    /// It can be asked which version it is. Its folder says so in any case.
    says_version: bool,
}

/// A tool's own profile may link with full LTO, for twice the time and no gain here.
const QUICK: &[(&str, &str)] = &[
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
];

/// The tools that build the page.
pub(super) fn list(workspace: &Workspace) -> Result<Vec<Tool>> {
    let lock = workspace.root.join("Cargo.lock");
    let lock = fs::read_to_string(&lock).doing(format_args!("read {}", lock.display()))?;
    Ok(vec![
        Tool {
            program: "wasm-bindgen",
            package: "wasm-bindgen-cli",
            version: locked_version(&lock, "wasm-bindgen")?.to_owned(),
            // Not --locked: its lock file may name a crate version that a registry has not got.
            flags: &[],
            env: &[],
            says_version: true,
        },
        Tool {
            program: "trunk",
            package: "trunk",
            version: TRUNK.to_owned(),
            flags: &["--locked", "--no-default-features", "--features", "rustls"],
            env: QUICK,
            says_version: true,
        },
        Tool {
            program: SPLITTER,
            package: "wasm_split_cli_support",
            version: WASM_SPLIT.to_owned(),
            flags: &["--locked", "--features", "build-binary"],
            env: QUICK,
            says_version: false,
        },
    ])
}

/// The version of `package` in the text of a Cargo.lock.
fn locked_version<'a>(lock: &'a str, package: &str) -> Result<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut versions = lock.split("[[package]]").filter_map(|entry| {
        let mut lines = entry.trim_start().lines();
        let is_named = lines.next() == Some(&name);
        let version = lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')?;
        is_named.then_some(version)
    });
    match (versions.next(), versions.next()) {
        (Some(version), None) => Ok(version),
        (None, _) => Err(Failure::new(format!("Cargo.lock names no {package}"))),
        (Some(one), Some(other)) => Err(Failure::new(format!(
            "Cargo.lock names two versions of {package}, {one} and {other}; one is needed"
        ))),
    }
}

impl Display for Tool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.program, self.version)
    }
}

impl Tool {
    fn folder(&self) -> String {
        format!("{}-{}", self.program, self.version)
    }

    /// The folder that goes on `PATH`.
    pub(super) fn bin(&self, workspace: &Workspace) -> PathBuf {
        workspace.cache.join("tools").join(self.folder()).join("bin")
    }

    pub(super) fn is_there(&self, workspace: &Workspace) -> bool {
        let program = self.bin(workspace).join(self.program);
        if !self.says_version {
            return succeeds(workspace.command(program).arg("--help"));
        }
        let says = workspace.command(program).arg("--version").output();
        says.is_ok_and(|output| {
            let says = String::from_utf8_lossy(&output.stdout);
            says.split_whitespace().any(|word| word == self.version)
        })
    }

    fn command(&self, workspace: &Workspace, tools: &Path, root: &Path, target: &Path) -> Command {
        let mut cargo = workspace.command("cargo");
        // Outside the repository, whose settings are not meant for other people's crates.
        cargo.current_dir(tools).env("CARGO_TARGET_DIR", target).envs(self.env.iter().copied());
        cargo.args(["install", self.package, "--version", &format!("={}", self.version)]);
        cargo.args(self.flags).arg("--root").arg(root);
        cargo
    }

    /// Under the lock. An interrupted build goes on where it was; a tool appears in one step.
    fn install(&self, workspace: &Workspace) -> Result<()> {
        let tools = workspace.cache.join("tools");
        let partial = tools.join(format!(".{}", self.folder()));
        let (root, target) = (partial.join("root"), partial.join("target"));
        fs::create_dir_all(&partial).map_err(|error| unwritable(&tools, &error))?;
        install_with(
            &format!("install {self}"),
            &mut self.command(workspace, &tools, &root, &target),
        )?;
        let home = tools.join(self.folder());
        if home.exists() {
            // Without the right program in it, or this would not have been missing.
            fs::remove_dir_all(&home).map_err(|error| unwritable(&tools, &error))?;
        }
        fs::rename(&root, &home).map_err(|error| unwritable(&tools, &error))?;
        fs::remove_dir_all(&partial).map_err(|error| unwritable(&tools, &error))
    }
}

/// Installs `missing`, side by side: each has a long stretch in which only one core is busy.
pub(super) fn install(workspace: &Workspace, missing: &[&Tool]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    println!("   building takes about 15 minutes on two cores, once for this machine");
    thread::scope(|scope| {
        let builds: Vec<_> =
            missing.iter().map(|tool| scope.spawn(|| tool.install(workspace))).collect();
        builds.into_iter().try_for_each(|build| {
            build.join().unwrap_or_else(|_| Err(Failure::new("an installation panicked")))
        })
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    const LOCK: &str = r#"# This file is automatically @generated by Cargo.
version = 4

[[package]]
name = "wasm-bindgen"
version = "0.2.130"
source = "registry+https://github.com/rust-lang/crates.io-index"
dependencies = [
 "wasm-bindgen-macro",
]

[[package]]
name = "wasm-bindgen-macro"
version = "0.2.131"

[[package]]
name = "syn"
version = "1.0.0"

[[package]]
name = "syn"
version = "2.0.0"
"#;

    #[test]
    fn reads_the_locked_version() {
        assert_eq!(locked_version(LOCK, "wasm-bindgen").unwrap(), "0.2.130");
        assert_eq!(locked_version(LOCK, "wasm-bindgen-macro").unwrap(), "0.2.131");
    }

    #[test]
    fn refuses_none_and_two() {
        let none = locked_version(LOCK, "wasm").unwrap_err().to_string();
        assert_eq!(none, "Cargo.lock names no wasm");
        let two = locked_version(LOCK, "syn").unwrap_err().to_string();
        assert!(two.contains("two versions of syn, 1.0.0 and 2.0.0"), "{two}");
    }

    #[test]
    fn installs_exactly_the_version_into_its_own_root() {
        let workspace = Workspace::find().unwrap();
        let tools = list(&workspace).unwrap();
        let trunk = tools.iter().find(|tool| tool.program == "trunk").unwrap();
        let command = trunk.command(&workspace, "/t".as_ref(), "/t/r".as_ref(), "/t/b".as_ref());
        let arguments: Vec<_> =
            command.get_args().map(|argument| argument.to_str().unwrap()).collect();
        assert_eq!(
            arguments.join(" "),
            "install trunk --version =0.21.14 --locked --no-default-features --features rustls --root /t/r"
        );
        let bindgen = tools.iter().find(|tool| tool.program == "wasm-bindgen").unwrap();
        assert_eq!(bindgen.folder(), format!("wasm-bindgen-{}", bindgen.version));
    }
}
