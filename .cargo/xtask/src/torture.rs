//! `torture`: the tests that take the power away and kill the server, alone or at length. Not here:
//! the tests.

use crate::child;
use crate::failure::Result;
use crate::steps::Steps;
use crate::tools::{Purpose, Tools};
use crate::workspace::Workspace;
use crate::{host, page};

/// What a long run does of each kind.
const LONG: [(&str, &str); 3] =
    [("HOLDFAST_LONG", "1"), ("HOLDFAST_POWER_LOSSES", "2000"), ("HOLDFAST_KILLS", "500")];

/// Runs them as `test` does, or at length; variables of the environment go before.
pub(crate) fn run(workspace: &Workspace, is_long: bool) -> Result<()> {
    let mut steps = Steps::default();
    let tools = steps.run("tools", || Tools::ensure(workspace, Purpose::Run))?;
    steps.run("page", || page::build(workspace, &tools))?;
    let [holdfast] = steps.run("holdfast", || host::build(workspace, ["holdfast"]))?;
    let mut cargo = host::in_workspace(workspace, "test");
    cargo.env("HOLDFAST_BIN", holdfast);
    for (name, value) in LONG {
        if is_long && std::env::var_os(name).is_none() {
            cargo.env(name, value);
        }
    }
    cargo.args(["--test", "torture", "--", "--nocapture"]);
    steps.run("torture", || child::show("survive the torture", &mut cargo))
}
