//! How much torture, from which seed on.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A number from the environment, or what a test run takes.
pub(crate) fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| {
        text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number"))
    })
}

/// Whether time is no matter.
pub(crate) fn is_long() -> bool {
    number("HOLDFAST_LONG", 0) > 0
}

/// The seed to begin with.
pub(crate) fn seed() -> u64 {
    number("HOLDFAST_SEED", 1)
}

/// Does something with a seed; if that fails, says how it is done again, with which `setting`.
pub(crate) fn with_seed<T>(seed: u64, test: &str, setting: &str, act: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| {
        eprintln!(
            "seed {seed} failed; again: HOLDFAST_SEED={seed} {setting} \
             cargo test -p holdfast-tests --test torture {test}"
        );
        resume_unwind(panic)
    })
}

/// Runs a future on this thread alone, with time that passes only when everybody waits.
pub(crate) fn simulated<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(future)
}
