//! `simulate`: one seed of the simulation, to look at, or thousands. Not here: the simulation, which
//! is a test.

use crate::child;
use crate::failure::Result;
use crate::host;
use crate::steps::Steps;
use crate::workspace::Workspace;

/// How many worlds a long run plays.
const WORLDS: u64 = 10_000;

/// Plays the world of `seed` again with every step shown; `is_long`: that one and thousands after
/// it, which show only how they ended.
pub(crate) fn run(workspace: &Workspace, seed: u64, is_long: bool) -> Result<()> {
    let mut cargo = host::in_workspace(workspace, "test");
    cargo.env("HOLDFAST_SEED", seed.to_string());
    if is_long {
        cargo.env("HOLDFAST_WORLDS", WORLDS.to_string());
    } else {
        cargo.env("HOLDFAST_TRACE", "1");
    }
    cargo.args(["--test", "simulation", "--", "--nocapture"]);
    Steps::default().run(&format!("simulation, seed {seed}"), || {
        child::show(&format!("get through the simulation with seed {seed}"), &mut cargo)
    })
}
