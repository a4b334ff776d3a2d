//! Streams: what a token costs the server, and what each who watches adds to that.

use std::time::Duration;

use crate::bench::{Bench, Holdfast};
use crate::child::Load;
use crate::failure::{Failure, Result};
use crate::report::{Bar, Row};
use crate::rounds::Figures;
use crate::server::TOKEN;

/// How many are answered at once, each in its own conversation.
const ASKS: usize = 50;
/// The pace of each: a hundred tokens a second, which is a fast model.
const EVERY: Duration = Duration::from_millis(10);
/// What figures are told for.
const TOKENS: usize = 100_000;
/// How many watch each ask, in turns.
const WATCHERS: [usize; 3] = [0, 1, 5];

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let tokens = TOKENS / ASKS / bench.either(1, 4);
    let mut figures = WATCHERS.map(|_| Figures::default());
    for round in 0..bench.either(3, 1) {
        bench.progress.say(&format!("streaming, round {}", round + 1));
        for (figures, watchers) in figures.iter_mut().zip(WATCHERS) {
            figures.push(cpu(bench, tokens, watchers)?);
        }
    }
    let [none, one, more] = figures;
    let (none, one, more) = (none.median()?, one.median()?, more.median()?);
    #[expect(clippy::cast_precision_loss, reason = "a few")]
    let further = (more - one) / (WATCHERS[2] - WATCHERS[1]) as f64;
    let row = |what: &str, ours: f64, other: f64| Row {
        what: format!("CPU for {TOKENS} tokens at 100/s: {what}"),
        ours: format!("{ours:.2} s"),
        other: format!("{other:.2} s"),
        ratio: ours / other,
        bar: Bar::Beside,
    };
    Ok(vec![
        row("watched by one ÷ by nobody", one, none),
        row("each further who watches ÷ nobody", further, none),
    ])
}

/// Seconds of the server's CPU for [`TOKENS`].
fn cpu(bench: &Bench<'_>, tokens: usize, watchers: usize) -> Result<f64> {
    let folder = bench.fresh()?;
    let server = Holdfast::on(folder.path()).side_by_side(ASKS).paced(tokens, EVERY);
    let mut server = server.start()?;
    let before = server.used()?.cpu;
    let load = Load::of(&server, "follow").with("--clients", &ASKS);
    let seen = load.with("--watchers", &watchers).run()?;
    let after = server.used()?.cpu;
    if seen.body != tokens * TOKEN.len() {
        return Err(Failure::new(format!("an answer of {} bytes", seen.body)));
    }
    #[expect(clippy::cast_precision_loss, reason = "some thousands")]
    let share = TOKENS as f64 / (tokens * ASKS) as f64;
    Ok((after - before) * share)
}
