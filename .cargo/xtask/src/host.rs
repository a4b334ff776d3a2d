//! Builds for the machine itself. Every call selects the whole workspace, also where one program is
//! wanted: cargo then settles each dependency's features once, and nothing is built twice. Not
//! here: the page, and running what was built.

use std::path::PathBuf;
use std::process::Command;

use crate::child;
use crate::failure::Result;
use crate::workspace::Workspace;

/// Builds `programs` and returns where they are.
pub(crate) fn build<const N: usize>(
    workspace: &Workspace,
    programs: [&str; N],
) -> Result<[PathBuf; N]> {
    let mut cargo = in_workspace(workspace, "build");
    for program in programs {
        cargo.args(["--bin", program]);
    }
    child::show(&format!("build {}", programs.join(" and ")), &mut cargo)?;
    Ok(programs.map(|program| workspace.binary(program)))
}

/// Builds the benchmark as a release is built and returns where it is.
pub(crate) fn build_bench(workspace: &Workspace) -> Result<PathBuf> {
    let mut cargo = in_workspace(workspace, "build");
    cargo.args(["--release", "--bin", "holdfast-bench"]);
    child::show("build the benchmark", &mut cargo)?;
    Ok(workspace.target.join("release/holdfast-bench"))
}

/// A cargo command over the whole workspace.
pub(crate) fn in_workspace(workspace: &Workspace, subcommand: &str) -> Command {
    let mut cargo = workspace.cargo();
    cargo.args([subcommand, "--workspace"]);
    cargo
}
