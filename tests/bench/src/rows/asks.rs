//! Durable asks from many clients: how many syncs of the disk they take, and what the syncs cost.

use crate::bench::{Bench, Holdfast};
use crate::child::{Load, Server};
use crate::failure::Result;
use crate::load::Seen;
use crate::report::{Bar, Row};
use crate::rounds::Figures;

/// How many clients ask.
pub(super) const CLIENTS: usize = 64;
/// How many conversations run side by side: as by default, and as many as there are clients.
const SIDE_BY_SIDE: [usize; 2] = [8, CLIENTS];
/// What the journal keeps of one ask: that it was accepted, and its outcome.
const RECORDS: f64 = 2.0;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for side_by_side in SIDE_BY_SIDE {
        rows.extend(measure_with(bench, side_by_side)?);
    }
    Ok(rows)
}

fn measure_with(bench: &Bench<'_>, side_by_side: usize) -> Result<[Row; 3]> {
    let (synced_folder, unsynced_folder) = (bench.fresh()?, bench.fresh()?);
    let synced = Holdfast::on(synced_folder.path()).side_by_side(side_by_side);
    let unsynced = Holdfast::on(unsynced_folder.path()).side_by_side(side_by_side).unsynced();
    let (mut synced, mut unsynced) = (synced.start()?, unsynced.start()?);
    let (mut with, mut without, mut syncs) =
        (Figures::default(), Figures::default(), Figures::default());
    for round in 0..bench.rounds() {
        bench.progress.say(&format!("asks, {side_by_side} side by side, round {}", round + 1));
        let (seen, synced) = ask(bench, &mut synced)?;
        with.push(seen.rate());
        syncs.push(synced);
        without.push(ask(bench, &mut unsynced)?.0.rate());
    }
    let (with, without, syncs) = (with.median()?, without.median()?, syncs.median()?);
    let who = format!("{CLIENTS} clients, {side_by_side} side by side");
    Ok([
        Row {
            what: format!("syncs of the disk an ask, {who}"),
            ours: format!("{syncs:.3} syncs"),
            other: "1 ask".to_owned(),
            ratio: syncs,
            bar: Bar::AtMost(0.1),
        },
        Row {
            what: format!("records an ask leaves in each group, {who}"),
            ours: format!("{:.0} records", RECORDS / syncs),
            other: "1 sync".to_owned(),
            ratio: RECORDS / syncs,
            bar: Bar::AtLeast(20.0),
        },
        Row {
            what: format!("durable asks, {who}, ÷ without syncs"),
            ours: format!("{with:.0} asks/s"),
            other: format!("{without:.0} asks/s"),
            ratio: with / without,
            bar: Bar::AtLeast(0.7),
        },
    ])
}

/// What was seen, and how many syncs an ask took.
fn ask(bench: &Bench<'_>, server: &mut Server) -> Result<(Seen, f64)> {
    let before = server.used()?.syncs;
    let load =
        Load::of(server, "ask").with("--clients", &CLIENTS).with("--millis", &bench.millis());
    let seen = load.run()?;
    let syncs = server.used()?.syncs - before;
    #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds")]
    let an_ask = syncs as f64 / seen.exchanges as f64;
    Ok((seen, an_ask))
}
