//! What a person waits for, seen where it is seen: in a page of a real browser, by that page's own
//! clock.
//!
//! Here is what the experiments with a browser share: a stage on the line of the tests, the watch that
//! the page keeps, and times over many rounds. Not here: what is measured ([`crate::rows`]), and
//! whether the page does what it should, which is tested.
//!
//! A browser, a line or a server that does not do as it is told ends the benchmark with its panic, as
//! it ends a test: there is nothing to measure then.

pub(crate) mod stage;
pub(crate) mod watch;

use std::time::Duration;

use crate::failure::{Context as _, Result};

/// The round trip that is put into the line.
pub(crate) const ROUND_TRIP: Duration = Duration::from_millis(100);

/// The key that sends a question, to `WebDriver`.
pub(crate) const ENTER: &str = "\u{e007}";

/// Runs an experiment that waits for a browser.
pub(crate) fn run<T>(experiment: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .doing("start a runtime for the browser")?;
    runtime.block_on(experiment)
}
