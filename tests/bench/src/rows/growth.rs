//! A lookup in a large archive against one in a small one.

use crate::archive;
use crate::bench::{Bench, Holdfast};
use crate::child::{Load, Server};
use crate::failure::Result;
use crate::report::{Bar, Row};
use crate::rounds::Figures;

/// Settled asks of the small archive.
const FEW: u64 = 1000;
/// Lookups begun a second: far from what the server can do, so that none waits for another.
const RATE: u32 = 1000;
/// How many clients share them.
const CLIENTS: usize = 8;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let many = bench.either(1_000_000, 100_000);
    let folder = bench.folder()?;
    let of = |asks| {
        let server = Holdfast::on(&archive::settled(folder, asks, &bench.progress)?).start()?;
        Ok::<_, crate::failure::Failure>((asks, server, Figures::default(), Figures::default()))
    };
    let mut sides = [of(FEW)?, of(many)?];
    for round in 0..bench.rounds() {
        bench.progress.say(&format!("growth, round {}", round + 1));
        for (asks, server, p50, p99) in &mut sides {
            let seen = pace(bench, server, *asks).run()?;
            p50.push(seen.p50);
            p99.push(seen.p99);
        }
    }
    let [(_, _, few_p50, few_p99), (_, _, many_p50, many_p99)] = sides;
    let row = |name: &str, many_of: &Figures, few_of: &Figures, bar| {
        let (ours, other) = (many_of.median()?, few_of.median()?);
        Ok(Row {
            what: format!("a lookup's {name} with {many} settled asks ÷ with {FEW}"),
            ours: format!("{ours:.3} ms"),
            other: format!("{other:.3} ms"),
            ratio: ours / other,
            bar,
        })
    };
    Ok(vec![
        row("p99", &many_p99, &few_p99, Bar::AtMost(1.5))?,
        row("median", &many_p50, &few_p50, Bar::Beside)?,
    ])
}

fn pace(bench: &Bench<'_>, server: &Server, asks: u64) -> Load<'static> {
    Load::of(server, "fetch")
        .with("--clients", &CLIENTS)
        .with("--millis", &bench.millis())
        .with("--rate", &RATE)
        .with("--asks", &asks)
}
