//! Looking up what has settled, against a handler that does nothing.

use crate::archive;
use crate::arguments::Kind;
use crate::bench::{Bench, Holdfast, bare};
use crate::child::{Load, Server};
use crate::failure::Result;
use crate::report::{Bar, Row};
use crate::rounds::Figures;
use crate::server::REPLY_PATH;

/// How many clients look up, one lookup after the other.
const CLIENTS: usize = 64;
/// How many asks are looked up again and again.
const WARM: u64 = 1000;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let asks = bench.either(1_000_000, 100_000);
    let archive = archive::settled(bench.folder()?, asks, &bench.progress)?;
    let holdfast = Holdfast::on(&archive).start()?;
    // Also warms up.
    let body = look_up(bench, &holdfast, WARM).run()?.body;
    let idle = bare(Kind::Bare, body)?;
    let [mut warm, mut cold, mut nothing] = [(); 3].map(|()| Figures::default());
    for round in 0..bench.rounds() {
        bench.progress.say(&format!("lookups, round {}", round + 1));
        nothing.push(load(bench, &idle).with("--path", &REPLY_PATH).run()?.rate());
        warm.push(look_up(bench, &holdfast, WARM).run()?.rate());
        archive::warm(&archive)?;
        cold.push(look_up(bench, &holdfast, asks).run()?.rate());
    }
    let nothing = nothing.median()?;
    let row = |what: String, figures: &Figures, least| {
        let rate = figures.median()?;
        Ok(Row {
            what,
            ours: format!("{rate:.0} lookups/s"),
            other: format!("{nothing:.0} replies/s"),
            ratio: rate / nothing,
            bar: Bar::AtLeast(least),
        })
    };
    Ok(vec![
        row(format!("warm lookups ÷ a bare axum reply of {body} bytes"), &warm, 0.7)?,
        row(
            format!("lookups of any of {asks} asks, from SQLite, its file warm, ÷ the same"),
            &cold,
            0.35,
        )?,
    ])
}

fn load(bench: &Bench<'_>, server: &Server) -> Load<'static> {
    Load::of(server, "fetch").with("--clients", &CLIENTS).with("--millis", &bench.millis())
}

fn look_up(bench: &Bench<'_>, server: &Server, asks: u64) -> Load<'static> {
    load(bench, server).with("--asks", &asks)
}
