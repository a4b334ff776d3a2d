//! One ask alone: it waits for nobody, so it takes what its two syncs take and little more.

use crate::bench::{Bench, Holdfast};
use crate::child::Load;
use crate::disk;
use crate::failure::Result;
use crate::report::{Bar, Row};
use crate::rounds::Figures;

/// What an ask may take beside its syncs, in milliseconds.
const BESIDE: f64 = 0.5;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let folder = bench.fresh()?;
    let server = Holdfast::on(folder.path()).start()?;
    let (mut asks, mut syncs) = (Figures::default(), Figures::default());
    for round in 0..bench.rounds() {
        bench.progress.say(&format!("alone, round {}", round + 1));
        syncs.push(disk::sync_millis(folder.path())?);
        asks.push(Load::of(&server, "ask").with("--millis", &bench.millis()).run()?.p50);
    }
    let (ask, sync) = (asks.median()?, syncs.median()?);
    let allowed = 2.0 * sync + BESIDE;
    Ok(vec![Row {
        what: format!("one ask alone ÷ two syncs and {BESIDE} ms"),
        ours: format!("{ask:.3} ms"),
        other: format!("2 × {sync:.3} + {BESIDE} = {allowed:.3} ms"),
        ratio: ask / allowed,
        bar: Bar::AtMost(1.0),
    }])
}
