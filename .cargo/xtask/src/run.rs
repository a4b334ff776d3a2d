//! `run`: from a clone to a page in the browser. Not here: the bad line, which is `flaky`.

use std::os::unix::process::CommandExt as _;

use crate::failure::{Context as _, Result};
use crate::steps::Steps;
use crate::tools::{Purpose, Tools};
use crate::workspace::Workspace;
use crate::{flaky, host, page};

/// Builds everything and becomes `holdfast serve`, so that signals and the exit code are its own.
pub(crate) fn run(workspace: &Workspace, is_flaky: bool, serve: &[String]) -> Result<()> {
    let mut steps = Steps::default();
    let tools = steps.run("tools", || Tools::ensure(workspace, Purpose::Run))?;
    steps.run("page", || page::build(workspace, &tools))?;
    if is_flaky {
        let programs = steps.run("holdfast and a bad line", || {
            host::build(workspace, ["holdfast", "holdfast-flaky"])
        })?;
        return flaky::run(workspace, &programs, serve);
    }
    let [holdfast] = steps.run("holdfast", || host::build(workspace, ["holdfast"]))?;
    println!("\nHoldfast is built; open its address, below, in a browser. Ctrl-C stops it.");
    let mut command = workspace.command(&holdfast);
    command.current_dir(std::env::current_dir().doing("see which folder this is")?);
    let error = command.arg("serve").args(serve).exec();
    Err(error).doing(format_args!("start {}", holdfast.display()))
}
