//! The same durable ask made by another crate: a workflow of one step, on SQLite, on the same disk.
//! It is asked in its own process, without HTTP, by as many at once.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::asks::CLIENTS;
use crate::bench::{Bench, Holdfast};
use crate::child::Load;
use crate::failure::{Context as _, Failure, Result};
use crate::report::{Bar, Row};
use crate::rounds::Figures;

/// How it syncs: as it does by itself, where a commit is not synced, and so that each commit is.
const SYNCHRONOUS: [(&str, &str); 2] =
    [("full", "FULL"), ("normal", "NORMAL, its default, not durable")];

/// What the peer says it did.
#[derive(Debug, Deserialize)]
struct Said {
    asks: u64,
    seconds: f64,
    journal_mode: String,
    synchronous: String,
}

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let Some(peer) = bench.peer() else {
        return Err(Failure::new(
            "no program was named with --peer; `cargo xtask bench` builds it",
        ));
    };
    let ours_in = bench.fresh()?;
    let server = Holdfast::on(ours_in.path()).start()?;
    let mut ours = Figures::default();
    let mut theirs = SYNCHRONOUS.map(|(flag, name)| (flag, name, Figures::default(), None));
    for round in 0..bench.rounds() {
        bench.progress.say(&format!("peer, round {}", round + 1));
        let load = Load::of(&server, "ask").with("--clients", &CLIENTS);
        ours.push(load.with("--millis", &bench.millis()).run()?.rate());
        for (flag, _, figures, mode) in &mut theirs {
            let said = ask(bench, peer, flag)?;
            #[expect(clippy::cast_precision_loss, reason = "a count of a few seconds")]
            figures.push(said.asks as f64 / said.seconds);
            *mode = Some(format!("{}, synchronous={}", said.journal_mode, said.synchronous));
        }
    }
    let ours = ours.median()?;
    let row = |name: &str, figures: &Figures, mode: &str, bar| {
        let other = figures.median()?;
        Ok(Row {
            what: format!("durable asks, {CLIENTS} at once, ÷ durare's with {name}"),
            ours: format!("{ours:.0} asks/s"),
            other: format!("{other:.0} asks/s ({mode})"),
            ratio: ours / other,
            bar,
        })
    };
    let [(_, full, durable, full_mode), (_, normal, default, normal_mode)] = &theirs;
    Ok(vec![
        row(full, durable, full_mode.as_deref().unwrap_or_default(), Bar::AtLeast(5.0))?,
        row(normal, default, normal_mode.as_deref().unwrap_or_default(), Bar::Beside)?,
    ])
}

fn ask(bench: &Bench<'_>, peer: &Path, synchronous: &str) -> Result<Said> {
    let folder = bench.fresh()?;
    let output = Command::new(peer)
        .arg(folder.path())
        .args([synchronous, &CLIENTS.to_string(), &bench.millis().to_string()])
        .stderr(Stdio::inherit())
        .output()
        .doing("run the peer")?;
    if !output.status.success() {
        return Err(Failure::new(format!("the peer failed: {}", output.status)));
    }
    serde_json::from_slice(&output.stdout).doing("understand the peer")
}
