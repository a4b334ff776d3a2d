//! The last page of a long conversation against that of a short one.

use crate::archive;
use crate::bench::{Bench, Holdfast};
use crate::child::Load;
use crate::failure::Result;
use crate::ids::{self, TURNS};
use crate::report::{Bar, Row};
use crate::rounds::Figures;

/// A page as long as the short conversation, and as long as it is by default.
const LIMITS: [(&str, &str); 2] = [("limit=10", "?limit=10"), ("by default 50", "")];

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let turns = bench.either(10_000, 1000);
    let server = Holdfast::on(&archive::long(bench.folder()?, turns, &bench.progress)?).start()?;
    let page = |conversation, query: &str| {
        let path = format!("/api/v1/conversations/{}{query}", ids::made_conversation(conversation));
        Load::of(&server, "fetch").with("--millis", &bench.millis()).with("--path", &path).run()
    };
    let mut rows = Vec::new();
    for (name, query) in LIMITS {
        let (mut long, mut short) = (Figures::default(), Figures::default());
        for round in 0..bench.rounds() {
            bench.progress.say(&format!("conversation, {name}, round {}", round + 1));
            long.push(page(0, query)?.p50);
            short.push(page(TURNS, query)?.p50);
        }
        let (long, short) = (long.median()?, short.median()?);
        rows.push(Row {
            what: format!("last page ({name}) of {turns} turns ÷ of {TURNS}"),
            ours: format!("{long:.3} ms"),
            other: format!("{short:.3} ms"),
            ratio: long / short,
            bar: Bar::AtMost(3.0),
        });
    }
    Ok(rows)
}
