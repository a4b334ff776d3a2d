//! `bench`: builds what is measured as it is released, and runs it. Not here: what is measured.

use std::path::PathBuf;

use crate::child;
use crate::failure::Result;
use crate::host;
use crate::steps::Steps;
use crate::workspace::Workspace;

/// Measures the journal and what stands on it; `flags` are the program's own.
pub(crate) fn run(workspace: &Workspace, flags: &[String]) -> Result<()> {
    let mut steps = Steps::default();
    let bench = steps.run("the benchmark, optimised", || host::build_bench(workspace))?;
    let peer = steps.run("the peer, optimised", || build_peer(workspace))?;
    let mut command = workspace.command(&bench);
    // On the disk that builds are on, which is one that a person works with.
    command.arg("run").arg("--folder").arg(workspace.target.join("bench"));
    command.arg("--peer").arg(peer).args(flags);
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
