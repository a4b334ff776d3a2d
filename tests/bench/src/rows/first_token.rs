//! The first token on the screen: through Holdfast, and straight from the provider to the barest of
//! pages, in turns, over lines of the same length.
//!
//! The bare page sends the provider the very body that Holdfast sent, but for the question. Each has a
//! browser of its own, so that neither is the tab in the background.

use std::net::SocketAddr;
use std::time::Duration;

use holdfast_tests::browser::Browser;
use holdfast_tests::mock::{MockProvider, Script};
use holdfast_tests::proxy::{Fault, FaultProxy, Reply, Route, Rule};
use holdfast_tests::server::Start;
use serde_json::Value;

use crate::bench::Bench;
use crate::failure::{Context as _, Result};
use crate::report::{Bar, Row};
use crate::rounds::Figures;
use crate::screen::stage::{Stage, far_away};
use crate::screen::watch::{Watch, round_trip, seen};
use crate::screen::{self, ENTER, ROUND_TRIP};

/// How long the mock thinks before it says anything.
const THINKING: Duration = Duration::from_millis(200);
/// What Holdfast may take, as a multiple of what the bare page takes, beside one round trip.
const BAR: f64 = 1.1;
/// A provider that takes its time should not take it for what is not measured.
const TOKENS: &str = "16";

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    screen::run(async {
        let mut rows = Vec::new();
        for round_trip in [Duration::ZERO, ROUND_TRIP] {
            let sides = Sides::start(bench.provider(), round_trip).await?;
            let rounds = bench.either(20, 3);
            let name = format!("{} injected", Injected(round_trip));
            bench.progress.say(&format!("first-token, {name}, {rounds} rounds"));
            rows.push(sides.measure(rounds, &name).await?);
            sides.end().await;
        }
        Ok(rows)
    })
}

/// A round trip in words.
struct Injected(Duration);

impl std::fmt::Display for Injected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_zero() { f.write_str("no round trip") } else { write!(f, "{:?}", self.0) }
    }
}

struct Sides {
    stage: Stage,
    bare: Browser,
    /// What else they need for as long as they are asked.
    _held: (MockProvider, [FaultProxy; 2]),
}

impl Sides {
    /// Starts both, and has each answer once: what is fetched late, or made at first use, is there.
    async fn start(provider: Option<SocketAddr>, round_trip: Duration) -> Result<Self> {
        let mock = MockProvider::start().await.doing("start a provider")?;
        let answer = "The first of a few words.";
        mock.otherwise(Script::new().wait(THINKING).words(answer).end());
        let provider = provider.unwrap_or_else(|| mock.address());
        // It shows what Holdfast sends.
        let calls = FaultProxy::start(provider).await.doing("start a line")?;
        let start = Start::with_provider_at(&format!("{}v1", calls.url()));
        let stage = Stage::start(start.argument("--max-output-tokens", TOKENS)).await?;

        let line = FaultProxy::start(provider).await.doing("start a line")?;
        let page = Reply::new(200, "text/html", include_str!("../screen/bare.html"));
        line.rule(Rule::on(Route::Page, Fault::Instead(page)).always());
        let bare = Browser::start().await;
        bare.open(&line.url()).await;

        stage.far_away(round_trip);
        far_away(&line, round_trip);
        through_holdfast(&stage.browser, "Are you there?").await?;
        let called = calls.exchanges().pop().doing("find what Holdfast sent")?;
        let body: Value = serde_json::from_str(&called.body).doing("read what Holdfast sent")?;
        bare.run(&format!("globalThis.body = {body}")).await;
        straight(&bare, "Are you there still?").await?;
        Ok(Self { stage, bare, _held: (mock, [line, calls]) })
    }

    async fn measure(&self, rounds: usize, name: &str) -> Result<Row> {
        let mut figures = [(); 3].map(|()| Figures::default());
        let [ours, other, trip] = &mut figures;
        for round in 0..rounds {
            // Never the same question: what a provider has read before, it need not read again.
            let ask = |side: &str| format!("What is {} {side}?", 100 + round);
            if round % 2 == 0 {
                ours.push(through_holdfast(&self.stage.browser, &ask("apples")).await?);
                other.push(straight(&self.bare, &ask("plums")).await?);
            } else {
                other.push(straight(&self.bare, &ask("apples")).await?);
                ours.push(through_holdfast(&self.stage.browser, &ask("plums")).await?);
            }
            trip.push(round_trip(&self.stage.browser, "healthz").await?);
        }
        let (ours, other, trip) = (ours.median()?, other.median()?, trip.median()?);
        Ok(Row {
            what: format!("first token, less a round trip ÷ on a bare page, {name}"),
            ours: format!("{ours:.1} − {trip:.1} ms"),
            other: format!("{other:.1} ms"),
            ratio: (ours - trip) / other,
            bar: Bar::AtMost(BAR),
        })
    }

    async fn end(self) {
        self.stage.browser.close().await;
        self.bare.close().await;
    }
}

/// Milliseconds from the key to the first text, in a new chat.
async fn through_holdfast(browser: &Browser, question: &str) -> Result<f64> {
    browser.click("New chat").await;
    browser.write(question).await;
    let took = first_text(browser).await?;
    let turn = browser.turn_of(question).await;
    browser.turn_with(&turn.request_id, "completed", question).await;
    browser.no_pointers().await;
    Ok(took)
}

/// The same on the bare page.
async fn straight(bare: &Browser, question: &str) -> Result<f64> {
    bare.write(question).await;
    let took = first_text(bare).await?;
    bare.run("return globalThis.ended").await;
    Ok(took)
}

async fn first_text(browser: &Browser) -> Result<f64> {
    Watch { events: &["keydown"], selector: ".answer", text: "" }.begin(browser).await;
    browser.press(ENTER).await;
    Ok(seen(browser).await?.millis())
}
