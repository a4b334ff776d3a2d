//! The experiments, each the ratios of one thing.

mod alone;
mod asks;
mod conversation;
mod first_token;
mod growth;
mod line_back;
mod lookups;
mod peer;
pub(crate) mod search;
mod start;
mod streaming;
mod waiters;

use crate::arguments::Run;
use crate::bench::Bench;
use crate::failure::{Failure, Result};
use crate::report::{Row, table};

type Experiment = fn(&Bench<'_>) -> Result<Vec<Row>>;

/// By name, in the order in which they are run.
const EXPERIMENTS: [(&str, Experiment); 12] = [
    ("asks", asks::measure),
    ("alone", alone::measure),
    ("peer", peer::measure),
    ("lookups", lookups::measure),
    ("waiters", waiters::measure),
    ("streaming", streaming::measure),
    ("growth", growth::measure),
    ("conversation", conversation::measure),
    ("search", search::measure),
    ("start", start::measure),
    ("line-back", line_back::measure),
    ("first-token", first_token::measure),
];

/// Runs those that were asked for, and prints the table of what was measured.
pub(crate) fn run(run: &Run) -> Result<()> {
    let names = EXPERIMENTS.map(|(name, _)| name);
    if let Some(unknown) = run.only.iter().find(|only| !names.contains(&only.as_str())) {
        let names = names.join(", ");
        return Err(Failure::new(format!("there is no experiment `{unknown}`; there are {names}")));
    }
    let bench = Bench::new(run);
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    for (name, measure) in EXPERIMENTS {
        if !run.only.is_empty() && !run.only.iter().any(|only| only == name) {
            continue;
        }
        bench.progress.say(name);
        match measure(&bench) {
            Ok(measured) => rows.extend(measured),
            Err(failure) => {
                bench.progress.say(&format!("{name}: {failure}"));
                broken.push(name);
            }
        }
    }
    table(&rows);
    if broken.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("could not measure: {}", broken.join(", "))))
}
