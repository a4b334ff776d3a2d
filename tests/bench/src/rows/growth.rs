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

/// What is looked up: what is read from the archive each time, so that it is the archives that are
/// compared; and beside it what may be at hand, as all of the small one is after a while.
const WAYS: [(&str, bool, Bar); 2] =
    [("from SQLite", true, Bar::AtMost(1.5)), ("at hand or not", false, Bar::Beside)];

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let many = bench.either(1_000_000, 100_000);
    let start = |asks| {
        let archive = archive::settled(bench.folder()?, asks, &bench.progress)?;
        Ok((asks, Holdfast::on(&archive).start()?, archive))
    };
    let sides = [start(FEW)?, start(many)?];
    let mut rows = Vec::new();
    for (name, unkept, bar) in WAYS {
        let mut p99 = [(); 2].map(|()| Figures::default());
        for round in 0..bench.rounds() {
            bench.progress.say(&format!("growth, {name}, round {}", round + 1));
            for ((asks, server, archive), p99) in sides.iter().zip(&mut p99) {
                archive::warm(archive)?;
                let load = pace(bench, server, *asks);
                let load = if unkept { load.flag("--unkept") } else { load };
                p99.push(load.run()?.p99);
            }
        }
        let [few, many_asks] = p99;
        let (few, many_asks) = (few.median()?, many_asks.median()?);
        rows.push(Row {
            what: format!(
                "a lookup's p99, {name}, files warm, with {many} settled asks ÷ with {FEW}"
            ),
            ours: format!("{many_asks:.3} ms"),
            other: format!("{few:.3} ms"),
            ratio: many_asks / few,
            bar,
        });
    }
    Ok(rows)
}

fn pace(bench: &Bench<'_>, server: &Server, asks: u64) -> Load<'static> {
    Load::of(server, "fetch")
        .with("--clients", &CLIENTS)
        .with("--millis", &bench.millis())
        .with("--rate", &RATE)
        .with("--asks", &asks)
}
