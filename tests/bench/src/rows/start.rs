//! From the start of the process until asks are taken.

use std::path::Path;
use std::time::Instant;

use crate::archive;
use crate::bench::{Bench, Holdfast};
use crate::failure::{Failure, Result};
use crate::load;
use crate::report::{Bar, Row};
use crate::rounds::Figures;

/// Settled asks of the small archive.
const FEW: u64 = 1000;
/// Starts in a round.
const STARTS: usize = 5;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let many = bench.either(1_000_000, 100_000);
    let folder = bench.folder()?;
    let large = archive::settled(folder, many, &bench.progress)?;
    let small = archive::settled(folder, FEW, &bench.progress)?;
    let (mut with_many, mut with_few) = (Figures::default(), Figures::default());
    for round in 0..bench.rounds() {
        bench.progress.say(&format!("start, round {}", round + 1));
        for _ in 0..STARTS {
            with_few.push(start(&small)?);
            with_many.push(start(&large)?);
        }
    }
    let (with_many, with_few) = (with_many.median()?, with_few.median()?);
    Ok(vec![Row {
        what: format!("start to readyz with {many} settled asks ÷ with {FEW}"),
        ours: format!("{with_many:.1} ms"),
        other: format!("{with_few:.1} ms"),
        ratio: with_many / with_few,
        bar: Bar::AtMost(2.0),
    }])
}

/// Starts Holdfast and returns how long it took until it said that it is ready, in milliseconds.
fn start(folder: &Path) -> Result<f64> {
    let begun = Instant::now();
    // It says where it listens once it takes asks.
    let server = Holdfast::on(folder).start()?;
    if !load::is_ready(server.address)? {
        return Err(Failure::new("a server that takes asks says that it is not ready"));
    }
    Ok(begun.elapsed().as_secs_f64() * 1000.0)
}
