//! Parts of the Rust toolchain: the standard library for WebAssembly, and the lints.

use std::fmt::Display;
use std::path::Path;

use super::{find_on_path, install_with, succeeds};
use crate::child;
use crate::failure::{Failure, Result};
use crate::workspace::Workspace;

/// A part that rustup adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    kind: &'static str,
    name: &'static str,
}

pub(super) const WASM: Part = Part { kind: "target", name: "wasm32-unknown-unknown" };
pub(super) const CLIPPY: Part = Part { kind: "component", name: "clippy" };
pub(super) const RUSTFMT: Part = Part { kind: "component", name: "rustfmt" };

impl Display for Part {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

impl Part {
    /// Asks the toolchain rather than rustup: a distribution's toolchain has no rustup.
    pub(super) fn is_there(self, workspace: &Workspace) -> Result<bool> {
        match self.name {
            "clippy" => Ok(succeeds(workspace.command("cargo").args(["clippy", "--version"]))),
            "rustfmt" => Ok(succeeds(workspace.command("cargo").args(["fmt", "--version"]))),
            target => {
                let mut rustc = workspace.command("rustc");
                let root =
                    child::read("ask rustc where it is", rustc.args(["--print", "sysroot"]))?;
                Ok(Path::new(root.trim()).join("lib/rustlib").join(target).join("lib").is_dir())
            }
        }
    }

    pub(super) fn install(self, workspace: &Workspace) -> Result<()> {
        let Self { kind, name } = self;
        if find_on_path("rustup").is_none() {
            return Err(Failure::new(format!(
                "the Rust toolchain lacks {name} and there is no rustup to add it; install rustup (https://rustup.rs)"
            )));
        }
        let mut rustup = workspace.command("rustup");
        install_with(&format!("install {name}"), rustup.args([kind, "add", name]))
    }
}
