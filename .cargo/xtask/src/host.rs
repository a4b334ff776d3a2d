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
    build_with(workspace, programs, &[])?;
    Ok(programs.map(|program| workspace.binary(program)))
}

/// The same, as a release is built.
pub(crate) fn build_optimised<const N: usize>(
    workspace: &Workspace,
    programs: [&str; N],
) -> Result<[PathBuf; N]> {
    build_with(workspace, programs, &["--release"])?;
    Ok(programs.map(|program| workspace.target.join("release").join(program)))
}

fn build_with<const N: usize>(
    workspace: &Workspace,
    programs: [&str; N],
    flags: &[&str],
) -> Result<()> {
    let mut cargo = in_workspace(workspace, "build");
    cargo.args(flags);
    for program in programs {
        cargo.args(["--bin", program]);
    }
    child::show(&format!("build {}", programs.join(" and ")), &mut cargo)
}

/// A cargo command over the whole workspace.
pub(crate) fn in_workspace(workspace: &Workspace, subcommand: &str) -> Command {
    let mut cargo = workspace.cargo();
    cargo.args([subcommand, "--workspace"]);
    cargo
}
