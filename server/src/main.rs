//! The binary: see [`holdfast::cli`].

use std::process::ExitCode;

/// Every connection has buffers that are mostly empty. This allocator leaves what is never touched to
/// the system, also where thousands wait at once; the usual one spreads the rest over all of it.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    holdfast::cli::run(std::env::args_os())
}
