//! Holdfast measured against its bars: `cargo xtask bench`.
//!
//! Every figure is a ratio of two sides of the same run on the same machine, and both sides are
//! printed. They are measured in turns, several rounds each, and the median counts. One program plays
//! all the parts: what is measured, whoever asks it, and the hand that conducts them ([`rows`]); each
//! is a process of its own, so that no side pays for another.
//!
//! Not here: whether anything is right (that is tested), and time limits. Whatever the figures, the
//! exit code is 0; it is 1 where something could not be measured.

mod archive;
mod arguments;
mod bench;
mod child;
mod disk;
mod failure;
mod ids;
mod load;
mod process;
mod report;
mod rounds;
mod rows;
mod screen;
mod server;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::Arguments;

/// As in the product's own program; those it is measured against have the same.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let ended = match Arguments::parse() {
        Arguments::Run(run) => rows::run(&run),
        Arguments::Serve(serve) => server::run(&serve),
        Arguments::Load(load) => load::run(&load),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("bench: {failure}");
            ExitCode::FAILURE
        }
    }
}
