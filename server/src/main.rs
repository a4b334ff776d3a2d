//! The binary: see [`holdfast::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    holdfast::cli::run(std::env::args_os())
}
