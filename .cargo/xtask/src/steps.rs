//! Steps of a command: each says its name when it begins and its seconds when it ends. Not here:
//! what a step does.

use std::time::{Duration, Instant};

use crate::failure::{Failure, Result};

/// The steps so far.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    ended: Vec<(String, Duration, bool)>,
}

impl Steps {
    /// Runs one step; its failure is for the caller to pass on.
    pub(crate) fn run<T>(&mut self, name: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("── {name}");
        let started = Instant::now();
        let result = step();
        let took = started.elapsed();
        self.ended.push((name.to_owned(), took, result.is_ok()));
        let end = if result.is_ok() { "" } else { "failed after " };
        println!("── {name}: {end}{}", seconds(took));
        result
    }

    /// Runs one step on which no later one depends: its failure is said, and kept for [`Self::end`].
    pub(crate) fn run_on<T>(&mut self, name: &str, step: impl FnOnce() -> Result<T>) -> Option<T> {
        self.run(name, step).inspect_err(|failure| eprintln!("xtask: {failure}.")).ok()
    }

    /// The table of times; a failure that names the failed steps, if there are any.
    pub(crate) fn end(&self) -> Result<()> {
        let total = self.ended.iter().map(|(_, took, _)| *took).sum();
        println!();
        for (name, took, ok) in &self.ended {
            println!("{:>10}  {name}{}", seconds(*took), if *ok { "" } else { ": FAILED" });
        }
        println!("{:>10}  in all", seconds(total));
        let failed: Vec<_> =
            self.ended.iter().filter(|(_, _, ok)| !ok).map(|(name, _, _)| &**name).collect();
        if failed.is_empty() {
            return Ok(());
        }
        Err(Failure::new(format!("failed: {}", failed.join(", "))))
    }
}

/// A duration as a person reads it.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_failure_is_kept_to_the_end() {
        let mut steps = Steps::default();
        assert_eq!(steps.run_on("one", || Ok(1)), Some(1));
        assert!(steps.end().is_ok());
        assert_eq!(steps.run_on::<()>("two", || Err(Failure::new("no"))), None);
        assert!(steps.run("three", || Ok(())).is_ok());
        assert_eq!(steps.end().unwrap_err().to_string(), "failed: two");
    }
}
