//! The tools that a build or a test needs beside cargo: which, whether they are there, and getting
//! them where they are not. Not here: using them.

mod crates;
mod debian;
mod rustup;

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use crate::child;
use crate::failure::{Context as _, Failure, Result};
use crate::lock::Lock;
use crate::stand_in::Real;
use crate::workspace::Workspace;

/// What for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Building and serving the page.
    Run,
    /// All of that, and what checks it: lints and a browser.
    Test,
}

/// Tools that are there.
#[derive(Debug)]
pub(crate) struct Tools {
    path: OsString,
    real: Real,
}

impl Tools {
    /// Finds the tools, and installs those that are missing.
    pub(crate) fn ensure(workspace: &Workspace, purpose: Purpose) -> Result<Self> {
        let wanted = Wanted::list(workspace, purpose)?;
        let missing = wanted.missing(workspace)?;
        if !missing.is_empty() {
            println!("   missing, and kept for later runs and other clones: {}", names(&missing));
            let _lock = Lock::take(&workspace.cache.join("tools/lock"), "install tools")?;
            // Another xtask may have installed some of them meanwhile.
            install(workspace, &wanted.missing(workspace)?)?;
            let still = wanted.missing(workspace)?;
            if !still.is_empty() {
                let still = names(&still);
                return Err(Failure::new(format!("installed, and still not found: {still}")));
            }
        }
        println!("   all there: {}", wanted.names());
        let own = wanted.crates.iter().map(|tool| tool.bin(workspace));
        let inherited = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(own.chain(env::split_paths(&inherited)))
            .doing("put the tools' folder on PATH")?;
        let real = Real::find(&path)?;
        Ok(Self { path: Real::path(workspace, &path)?, real })
    }

    /// Makes a child find these tools before any others.
    pub(crate) fn offer<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        self.real.tell(command.env("PATH", &self.path))
    }
}

/// Everything a purpose needs.
#[derive(Debug)]
struct Wanted {
    rustup: Vec<rustup::Part>,
    crates: Vec<crates::Tool>,
    debian: Vec<debian::Package>,
}

impl Wanted {
    fn list(workspace: &Workspace, purpose: Purpose) -> Result<Self> {
        let mut wanted = Self {
            rustup: vec![rustup::WASM],
            crates: crates::list(workspace)?,
            debian: vec![debian::MAKE, debian::WASM_OPT],
        };
        if purpose == Purpose::Test {
            wanted.rustup.extend([rustup::CLIPPY, rustup::RUSTFMT]);
            wanted.debian.extend([debian::CHROMIUM, debian::CHROMEDRIVER, debian::NGINX]);
        }
        Ok(wanted)
    }

    fn names(&self) -> String {
        [names(&self.rustup), names(&self.crates), names(&self.debian)].join(", ")
    }

    fn missing(&self, workspace: &Workspace) -> Result<Vec<Missing>> {
        let mut missing = Vec::new();
        for part in &self.rustup {
            if !part.is_there(workspace)? {
                missing.push(Missing::Rustup(*part));
            }
        }
        for tool in &self.crates {
            if !tool.is_there(workspace) {
                missing.push(Missing::Crate(tool.clone()));
            }
        }
        for package in &self.debian {
            if !package.is_there() {
                missing.push(Missing::Debian(*package));
            }
        }
        Ok(missing)
    }
}

/// One tool to install, by how it is installed.
#[derive(Debug)]
enum Missing {
    Rustup(rustup::Part),
    Crate(crates::Tool),
    Debian(debian::Package),
}

impl std::fmt::Display for Missing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rustup(part) => part.fmt(formatter),
            Self::Crate(tool) => tool.fmt(formatter),
            Self::Debian(package) => package.fmt(formatter),
        }
    }
}

/// The quick ones first: what needs a person should say so before minutes have passed.
fn install(workspace: &Workspace, missing: &[Missing]) -> Result<()> {
    let debian: Vec<_> = missing
        .iter()
        .filter_map(|tool| if let Missing::Debian(package) = tool { Some(*package) } else { None })
        .collect();
    if !debian.is_empty() {
        debian::install(workspace, &debian)?;
    }
    for tool in missing {
        if let Missing::Rustup(part) = tool {
            part.install(workspace)?;
        }
    }
    let crates: Vec<_> = missing
        .iter()
        .filter_map(|tool| if let Missing::Crate(tool) = tool { Some(tool) } else { None })
        .collect();
    crates::install(workspace, &crates)
}

fn names(tools: &[impl ToString]) -> String {
    tools.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Where `program` is, by `PATH`.
fn find_on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// Whether `command` runs and succeeds; what it says does not matter.
fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Prints what is about to be run, and runs it with signs of life.
fn install_with(doing: &str, command: &mut Command) -> Result<()> {
    let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    println!("   {}: {} {}", doing, command.get_program().to_string_lossy(), arguments.join(" "));
    child::watch(doing, command)
}
