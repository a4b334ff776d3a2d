//! The project's own commands, as `cargo xtask …`: the list is in [`command::HELP`].
//!
//! Here belongs what a clone needs to become a running page and a tested one. It depends on nothing
//! of the product, and runs cargo, Trunk and the tests as a person would.

mod bench;
mod child;
mod command;
mod failure;
mod flaky;
mod folder;
mod host;
mod lock;
mod mutants;
mod page;
mod results;
mod run;
mod simulate;
mod size;
mod split;
mod stand_in;
mod steps;
mod test;
mod tools;
mod torture;
mod wasm_opt;
mod workspace;

use std::path::Path;
use std::process::ExitCode;

use command::Command;
use failure::Result;
use stand_in::StandIn;
use steps::Steps;
use tools::{Purpose, Tools};
use workspace::Workspace;

fn main() -> ExitCode {
    let mut arguments = std::env::args();
    let called = arguments.next().unwrap_or_default();
    let arguments: Vec<_> = arguments.collect();
    let end = match StandIn::called(Path::new(&called)) {
        Some(StandIn::WasmBindgen) => split::run(&arguments),
        Some(StandIn::WasmOpt) => wasm_opt::run(&arguments),
        None => Command::parse(&arguments).and_then(obey).map(|()| ExitCode::SUCCESS),
    };
    match end {
        Ok(code) => code,
        Err(failure) => {
            if failure.is_news() {
                eprintln!("xtask: {failure}.");
            }
            failure.exit_code()
        }
    }
}

fn obey(command: Command) -> Result<()> {
    let workspace = Workspace::find()?;
    match command {
        Command::Run { is_flaky, serve } => run::run(&workspace, is_flaky, &serve),
        Command::Test { is_long } => test::run(&workspace, is_long),
        Command::Size => weigh(&workspace),
        Command::Simulate { seed, is_long } => simulate::run(&workspace, seed, is_long),
        Command::Torture { is_long } => torture::run(&workspace, is_long),
        Command::Mutants => mutants::run(&workspace),
        Command::Bench { flags } => bench::run(&workspace, &flags),
        Command::Help => {
            println!("{}", command::HELP);
            Ok(())
        }
    }
}

fn weigh(workspace: &Workspace) -> Result<()> {
    let mut steps = Steps::default();
    let tools = steps.run("tools", || Tools::ensure(workspace, Purpose::Run))?;
    steps.run("page", || page::build(workspace, &tools))?;
    steps.run("size", || size::check(&workspace.page()))
}
