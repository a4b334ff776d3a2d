//! `bench`: builds what is measured as it is released, and runs it. Not here: what is measured.

use std::path::PathBuf;

use crate::child;
use crate::failure::Result;
use crate::steps::Steps;
use crate::tools::{Purpose, Tools};
use crate::workspace::Workspace;
use crate::{host, page};

/// Measures the journal, what stands on it, and what is seen in a browser; `flags` are the program's
/// own.
pub(crate) fn run(workspace: &Workspace, flags: &[String]) -> Result<()> {
    let mut steps = Steps::default();
    let tools = steps.run("tools", || Tools::ensure(workspace, Purpose::Test))?;
    steps.run("page", || page::build(workspace, &tools))?;
    let [bench, holdfast] = steps.run("holdfast and the benchmark, optimised", || {
        host::build_optimised(workspace, ["holdfast-bench", "holdfast"])
    })?;
    let peer = steps.run("the peer, optimised", || build_peer(workspace))?;
    let mut command = workspace.command(&bench);
    // On the disk that builds are on, which is one that a person works with.
    command.arg("run").arg("--folder").arg(workspace.target.join("bench"));
    command.arg("--peer").arg(peer).args(flags).env("HOLDFAST_BIN", holdfast);
    steps.run("bench", || child::show("measure everything", &mut command))
}

/// It has a workspace and a lock file of its own, for it links another SQLite.
fn build_peer(workspace: &Workspace) -> Result<PathBuf> {
    let target = workspace.target.join("peer");
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--release", "--locked", "--manifest-path"]);
    cargo.arg(workspace.root.join("tests/bench/peer/Cargo.toml"));
    cargo.arg("--target-dir").arg(&target);
    child::show("build the peer", &mut cargo)?;
    Ok(target.join("release/holdfast-bench-peer"))
}
