//! The line is back: how long until the answer that was archived meanwhile stands on the screen.
//!
//! After an event that says so it takes one lookup. Where nothing says so, the page comes upon it when
//! its pause between two attempts is over; that pause is read from what went over the line.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use holdfast_tests::mock::{MockProvider, Script};
use holdfast_tests::proxy::{Exchange, Fault, Line, Route};
use holdfast_tests::server::Start;

use crate::bench::Bench;
use crate::failure::{Context as _, Result};
use crate::report::{Bar, Row};
use crate::rounds::Figures;
use crate::screen::stage::Stage;
use crate::screen::watch::{Seen, Watch, round_trip, seen};
use crate::screen::{self, ENTER, ROUND_TRIP};

/// How the page learns that it is worth looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Online,
    Visible,
    PageShow,
}

const SIGNS: [Sign; 3] = [Sign::Online, Sign::Visible, Sign::PageShow];

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    screen::run(async {
        let mock = MockProvider::start().await.doing("start a provider")?;
        let stage = Stage::start(Start::with_mock(&mock)).await?;
        stage.far_away(ROUND_TRIP);
        let mut experiment = Experiment { stage, mock, asked: 0 };
        let rounds = bench.either(20, 3);
        let mut rows = Vec::new();
        for sign in SIGNS {
            experiment.stage.browser.click("New chat").await;
            bench.progress.say(&format!("line-back, {sign:?}, {rounds} rounds"));
            rows.push(experiment.after_a_sign(sign, rounds).await?);
        }
        experiment.stage.browser.click("New chat").await;
        bench.progress.say(&format!("line-back, without a sign, {rounds} rounds"));
        rows.push(experiment.without_a_sign(rounds).await?);
        experiment.stage.browser.close().await;
        Ok(rows)
    })
}

struct Experiment {
    stage: Stage,
    mock: MockProvider,
    asked: usize,
}

/// An answer of which the first words are on the screen.
struct Begun {
    request_id: String,
    conversation_id: String,
    gate: String,
    last: String,
}

impl Experiment {
    /// Asks, and returns once the first words are on the screen; the rest waits behind a gate.
    async fn begin(&mut self) -> Result<Begun> {
        self.asked += 1;
        let (gate, last) = (format!("gate {}", self.asked), format!("last-{}.", self.asked));
        self.mock.next(Script::gated("the first words ", &gate, &last));
        let browser = &self.stage.browser;
        let question = format!("question {}.", self.asked);
        browser.write(&question).await;
        browser.press(ENTER).await;
        let request_id = browser.turn_of(&question).await.request_id;
        browser.turn_with(&request_id, "pending", "the first words").await;
        let address = browser.address().await;
        let (_, conversation) = address.split_once("#/c/").doing("see which conversation it is")?;
        Ok(Begun { request_id, conversation_id: conversation.to_owned(), gate, last })
    }

    /// The page watches for the rest of the answer.
    async fn watch(&self, begun: &Begun, events: &[&str]) {
        let watch = Watch { events, selector: "article .answer", text: &begun.last };
        watch.begin(&self.stage.browser).await;
    }

    /// The rest of the answer gets into the archive.
    async fn archive(&self, begun: &Begun) -> Result<()> {
        self.mock.open(&begun.gate);
        self.stage.archived(&begun.request_id, &begun.conversation_id).await
    }

    async fn ended(&self, begun: &Begun) {
        self.stage.browser.turn_with(&begun.request_id, "completed", &begun.last).await;
        self.stage.browser.no_pointers().await;
    }

    async fn after_a_sign(&mut self, sign: Sign, rounds: usize) -> Result<Row> {
        let (mut waited, mut bare) = (Figures::default(), Figures::default());
        for _ in 0..rounds {
            let begun = self.begin().await?;
            waited.push(self.come_back(sign, &begun).await?.millis());
            self.ended(&begun).await;
            bare.push(round_trip(&self.stage.browser, "healthz").await?);
        }
        let (waited, bare) = (waited.median()?, bare.median()?);
        Ok(Row {
            what: format!("{sign:?} → answer on screen ÷ a bare fetch, {ROUND_TRIP:?} injected"),
            ours: format!("{waited:.1} ms"),
            other: format!("{bare:.1} ms"),
            ratio: waited / bare,
            bar: Bar::AtMost(1.5),
        })
    }

    /// The page is away while the answer settles, and comes back.
    async fn come_back(&self, sign: Sign, begun: &Begun) -> Result<Seen> {
        let browser = &self.stage.browser;
        match sign {
            Sign::Online => {
                self.watch(begun, &["online"]).await;
                browser.offline(true).await;
                self.stage.line.line(Line::Cut);
                self.archive(begun).await?;
                self.stage.line.line(Line::Up);
                browser.offline(false).await;
            }
            Sign::Visible => {
                self.look(false).await;
                self.watch(begun, &["visibilitychange"]).await;
                self.archive(begun).await?;
                self.look(true).await;
            }
            Sign::PageShow => {
                // The others come a little before it, and the page need not wait for it.
                self.watch(begun, &["resume", "visibilitychange", "pageshow"]).await;
                browser.open("about:blank").await;
                self.archive(begun).await?;
                browser.back().await;
            }
        }
        seen(browser).await
    }

    /// Hides the page or shows it, as far as it can tell: a headless browser shows all its tabs.
    async fn look(&self, is_visible: bool) {
        let state = if is_visible { "visible" } else { "hidden" };
        let script = format!(
            "Object.defineProperty(document, 'visibilityState',
                {{ value: '{state}', configurable: true }});
             document.dispatchEvent(new Event('visibilitychange', {{ bubbles: true }}))"
        );
        self.stage.browser.run(&script).await;
    }

    async fn without_a_sign(&mut self, rounds: usize) -> Result<Row> {
        let (mut waited, mut pauses) = (Figures::default(), Figures::default());
        for _ in 0..rounds {
            let begun = self.begin().await?;
            self.watch(&begun, &[]).await;
            self.stage.dead().await;
            self.archive(&begun).await?;
            // Any moment is as good as another for a line to come back.
            tokio::time::sleep(Duration::from_millis(fastrand::u64(1_000..6_000))).await;
            self.stage.only_far_away(ROUND_TRIP);
            let back = SystemTime::now().duration_since(UNIX_EPOCH).doing("read the clock")?;
            waited.push(seen(&self.stage.browser).await?.text - back.as_secs_f64() * 1_000.0);
            pauses.push(self.pause(&begun.request_id)?);
            self.ended(&begun).await;
        }
        let (waited, pause) = (waited.median()?, pauses.median()?);
        Ok(Row {
            what: "line back, and nothing says so → answer on screen ÷ the pause under way".into(),
            ours: format!("{waited:.0} ms"),
            other: format!("{pause:.0} ms"),
            ratio: waited / pause,
            bar: Bar::AtMost(1.0),
        })
    }

    /// The pause before the attempt that succeeded, in milliseconds.
    fn pause(&self, request_id: &str) -> Result<f64> {
        let mut lookups = self.stage.line.exchanges_on(Route::Lookup);
        lookups.retain(|it| it.request_id().as_deref() == Some(request_id));
        let is_cut = |it: &Exchange| it.fault == Some(Fault::CutBeforeForward);
        let failed = lookups.iter().rposition(is_cut).doing("find a lookup that failed")?;
        let (failed, next) =
            lookups.get(failed).zip(lookups.get(failed + 1)).doing("find the next")?;
        let ended = failed.began + failed.ended_after.unwrap_or_default();
        Ok(next.began.duration_since(ended).as_secs_f64() * 1_000.0)
    }
}
