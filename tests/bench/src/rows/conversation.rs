//! The last page of a long conversation against that of a short one.

use crate::archive;
use crate::bench::{Bench, Holdfast};
use crate::child::Load;
use crate::failure::Result;
use crate::ids::{self, TURNS};
use crate::report::{Bar, Row};
use crate::rounds::Figures;

/// A page as long as the short conversation; and as long as it is by default, which has five times as
/// many turns, each with a longer list of those before it, and so is only shown beside.
const LIMITS: [(&str, &str, Bar); 2] =
    [("limit=10", "?limit=10", Bar::AtMost(3.0)), ("by default 50", "", Bar::Beside)];

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let turns = bench.either(10_000, 1000);
    let server = Holdfast::on(&archive::long(bench.folder()?, turns, &bench.progress)?).start()?;
    let page = |conversation, query: &str| {
        let path = format!("/api/v1/conversations/{}{query}", ids::made_conversation(conversation));
        Load::of(&server, "fetch").with("--millis", &bench.millis()).with("--path", &path).run()
    };
    let mut rows = Vec::new();
    for (name, query, bar) in LIMITS {
        let (mut long, mut short) = (Figures::default(), Figures::default());
        let (mut long_body, mut short_body) = (0, 0);
        for round in 0..bench.rounds() {
            bench.progress.say(&format!("conversation, {name}, round {}", round + 1));
            for (conversation, times, body) in
                [(0, &mut long, &mut long_body), (TURNS, &mut short, &mut short_body)]
            {
                let seen = page(conversation, query)?;
                times.push(seen.p50);
                *body = seen.body;
            }
        }
        let (long, short) = (long.median()?, short.median()?);
        rows.push(Row {
            what: format!("last page ({name}) of {turns} turns ÷ of {TURNS}"),
            ours: format!("{long:.3} ms, {long_body} bytes"),
            other: format!("{short:.3} ms, {short_body} bytes"),
            ratio: long / short,
            bar,
        });
    }
    Ok(rows)
}
