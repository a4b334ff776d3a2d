//! Clients that wait: what each of them costs while nothing happens.

use std::thread::sleep;
use std::time::Duration;

use crate::arguments::Kind;
use crate::bench::{Bench, Holdfast, bare};
use crate::child::{Load, Server};
use crate::failure::Result;
use crate::report::{Bar, Row};
use crate::rounds::Figures;
use crate::server::WAIT_PATH;

/// How long after the last has begun to wait: what is done at the beginning has been undone by then.
const CALM: Duration = Duration::from_secs(1);

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let clients = bench.either(10_000, 2000);
    let [mut ours, mut hyper, mut axum] = [(); 3].map(|()| Figures::default());
    for round in 0..bench.either(3, 1) {
        bench.progress.say(&format!("waiters, {clients} of them, round {}", round + 1));
        let folder = bench.fresh()?;
        ours.push(each(&mut Holdfast::on(folder.path()).silent().start()?, clients, None)?);
        hyper.push(each(&mut bare(Kind::Hyper, 0)?, clients, Some(WAIT_PATH))?);
        axum.push(each(&mut bare(Kind::AxumServe, 0)?, clients, Some(WAIT_PATH))?);
    }
    let (ours, hyper, axum) = (ours.median()?, hyper.median()?, axum.median()?);
    let row = |other: f64, who: &str, bar| Row {
        what: format!("memory of one of {clients} who wait ÷ {who}"),
        ours: format!("{ours:.2} KiB"),
        other: format!("{other:.2} KiB"),
        ratio: ours / other,
        bar,
    };
    Ok(vec![
        row(12.0, "what it may be", Bar::AtMost(1.0)),
        row(hyper, "bare hyper", Bar::Beside),
        row(axum, "axum::serve", Bar::Beside),
    ])
}

/// Resident memory that each of so many clients adds, in KiB.
fn each(server: &mut Server, clients: u32, path: Option<&str>) -> Result<f64> {
    let wait = |server: &Server, clients: u32| {
        let load = Load::of(server, "wait").with("--clients", &clients);
        match path {
            Some(path) => load.with("--path", &path),
            None => load,
        }
        .wait()
    };
    // What the first client needs, the others share.
    let first = wait(server, 1)?;
    let before = server.used()?.resident;
    let all = wait(server, clients)?;
    sleep(CALM);
    let after = server.used()?.resident;
    drop((first, all));
    #[expect(clippy::cast_precision_loss, reason = "a server of some GiB at most")]
    let grown = after.saturating_sub(before) as f64;
    Ok(grown / f64::from(clients))
}
