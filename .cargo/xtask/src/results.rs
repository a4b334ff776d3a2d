//! Adding up what test programs report. Not here: running them.

use std::fmt::Display;

/// The sums so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Results {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
}

impl Results {
    /// Adds the counts of a `test result:` line; other lines add nothing.
    pub(crate) fn hear(&mut self, line: &str) {
        let Some((_, counts)) = line.split_once("test result: ") else {
            return;
        };
        for part in counts.split(';') {
            let mut words = part.split_whitespace().rev();
            let (Some(what), Some(count)) = (words.next(), words.next()) else {
                continue;
            };
            let Ok(count) = count.parse::<u64>() else {
                continue;
            };
            match what {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.ignored += count,
                _ => {}
            }
        }
    }
}

impl Display for Results {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up() {
        let mut results = Results::default();
        for line in [
            "running 3 tests",
            "test a ... ok",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.01s",
            "test result: FAILED. 10 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.23s",
            "\u{1b}[32mtest result: \u{1b}[0mok. 4 passed; 0 failed; 0 ignored",
            "the test result is 9 passed; 9 failed",
            "test result: ok",
        ] {
            results.hear(line);
        }
        assert_eq!(results, Results { passed: 17, failed: 2, ignored: 1 });
        assert_eq!(results.to_string(), "17 passed, 2 failed");
    }
}
