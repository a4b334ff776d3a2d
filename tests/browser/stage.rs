//! What every test here stands on, and what must hold after each of them.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;

use fantoccini::wd::WindowHandle;
use futures_util::FutureExt as _;
use holdfast_tests::browser::{Browser, Role};
use holdfast_tests::client::Request;
use holdfast_tests::mock::MockProvider;
use holdfast_tests::nginx::Nginx;
use holdfast_tests::proxy::{Exchange, FaultProxy, Line, Route};
use holdfast_tests::server::{Holdfast, Start};
use serde_json::Value;

/// A browser in front of a line in front of a server in front of a provider.
pub(crate) struct Stage {
    pub(crate) browser: Browser,
    pub(crate) line: FaultProxy,
    pub(crate) holdfast: Holdfast,
    pub(crate) mock: MockProvider,
    may_break: bool,
}

/// How a stage is set up where it is not the usual way.
#[derive(Default)]
pub(crate) struct Setting {
    /// More flags for Chromium.
    pub(crate) chromium: Vec<String>,
    /// The name the page is opened under instead of 127.0.0.1.
    pub(crate) host: Option<&'static str>,
    /// The mount of a real nginx that the page is opened at: it stands in front of the line.
    pub(crate) behind_nginx: Option<&'static str>,
    /// Nobody waits for a document to load: it may never do.
    pub(crate) impatient: bool,
}

/// Whatever the page waits for a second or longer comes ten times as soon; what it sends, and what is
/// shown, stay the same.
const HURRIED: &str = "
    const set = window.setTimeout;
    window.setTimeout = (act, millis, ...rest) => set(act, millis < 1e3 ? millis : millis / 10, ...rest);";

/// Whether an exchange is of the kind of which a tab has one: a stream, or its client asked to wait.
pub(crate) fn is_long(exchange: &Exchange) -> bool {
    let waits = exchange.header("prefer").is_some_and(|prefer| prefer != "wait=0");
    exchange.route == Route::Events || waits
}

/// The offset that an exchange asks to go on from.
fn after(exchange: &Exchange) -> Option<usize> {
    let (_, after) = exchange.target.split_once("after=")?;
    after.split('&').next()?.parse().ok()
}

/// Runs a test on a stage of its own, with the page open. A test that fails leaves a picture, the
/// console and what went over the line.
pub(crate) async fn on_stage(name: &str, test: impl AsyncFnOnce(&mut Stage)) {
    on_stage_with(name, Setting::default(), test).await;
}

/// Like [`on_stage`], set up differently.
pub(crate) async fn on_stage_with(
    name: &str,
    setting: Setting,
    test: impl AsyncFnOnce(&mut Stage),
) {
    let mock = MockProvider::start().await.unwrap();
    // The line's port must be known before the server is told its public name.
    let line = FaultProxy::start(([127, 0, 0, 1], 1).into()).await.unwrap();
    let mut start = Start::with_mock(&mock);
    let mut url = line.url();
    if let Some(host) = setting.host {
        url = format!("http://{host}:{}/", line.address().port());
        start = start.argument("--public-url", &url);
    }
    let nginx = match setting.behind_nginx {
        Some(mount) => {
            let nginx = Nginx::start(line.address()).await;
            url = nginx.url(mount);
            Some(nginx)
        }
        None => None,
    };
    let holdfast = start.start().await;
    line.point_at(holdfast.address());
    let flags: Vec<&str> = setting.chromium.iter().map(String::as_str).collect();
    let browser = if setting.impatient {
        Browser::start_impatient().await
    } else {
        Browser::start_with(&flags).await
    };
    let mut stage = Stage { browser, line, holdfast, mock, may_break: false };

    let run = AssertUnwindSafe(async {
        stage.browser.open(&url).await;
        stage.ready().await;
        test(&mut stage).await;
        stage.assert_whole().await;
    });
    let result = run.catch_unwind().await;
    drop(nginx);
    if let Err(panic) = result {
        stage.tell(name).await;
        stage.browser.close().await;
        std::panic::resume_unwind(panic);
    }
    stage.browser.close().await;
}

impl Stage {
    /// Waits until a question can be sent.
    pub(crate) async fn ready(&self) {
        self.browser.control(Role::Textbox, "Question").await;
        self.browser.control(Role::Button, "Send").await;
    }

    /// Loads the page anew, and every page from then on, as one whose timers run ten times as fast:
    /// for what only shows once a deadline, or many pauses, are over.
    pub(crate) async fn hurry(&mut self) {
        self.browser.before_every_document(HURRIED).await;
        self.browser.run("window.__unhurried = true").await;
        self.browser.reload().await;
        self.browser
            .wait_for("the page anew", async |page| {
                (page.run("return window.__unhurried ?? false").await == false).then_some(())
            })
            .await;
        self.ready().await;
    }

    /// Tells the page that it is hidden, or seen again.
    pub(crate) async fn look_as_if(&self, visible: bool) {
        let state = if visible { "visible" } else { "hidden" };
        let looks = format!(
            "Object.defineProperty(document, 'visibilityState',
                {{ value: '{state}', configurable: true }});
            document.dispatchEvent(new Event('visibilitychange'))"
        );
        self.browser.run(&looks).await;
    }

    /// Opens an address in another tab, and goes there. The tab that was looked at before.
    pub(crate) async fn open_beside(&self, url: &str) -> WindowHandle {
        let before = self.browser.window().await;
        self.browser.new_tab().await;
        self.browser.open(url).await;
        before
    }

    /// Closes the tab, and goes to a new one.
    pub(crate) async fn leave_for_a_new_tab(&self) {
        let old = self.browser.window().await;
        let new = self.browser.new_tab().await;
        self.browser.switch_to(&old).await;
        self.browser.close_window().await;
        self.browser.switch_to(&new).await;
    }

    /// This test breaks the page on purpose: its console may say so.
    pub(crate) fn page_may_break(&mut self) {
        self.may_break = true;
    }

    /// How often the provider was called for an ask.
    pub(crate) fn calls(&self, request_id: &str) -> usize {
        self.mock.calls_of(request_id).len()
    }

    /// Waits until the provider was called for an ask.
    pub(crate) async fn called(&self, request_id: &str) {
        let what = format!("a call for {request_id}");
        self.mock
            .wait(&what, |calls| calls.iter().any(|call| call.key.as_deref() == Some(request_id)))
            .await;
    }

    /// The submissions of an ask that came over the line, whatever became of them.
    pub(crate) fn submissions(&self, request_id: &str) -> Vec<Exchange> {
        self.about(Route::Ask, request_id)
    }

    /// The lookups of an ask that came over the line.
    pub(crate) fn lookups(&self, request_id: &str) -> Vec<Exchange> {
        self.about(Route::Lookup, request_id)
    }

    /// The streams of an ask that came over the line.
    pub(crate) fn streams(&self, request_id: &str) -> Vec<Exchange> {
        self.about(Route::Events, request_id)
    }

    /// What was asked first about an ask once another exchange was over: from which offset on.
    pub(crate) async fn resumes_after(&self, over: &Exchange) -> Option<usize> {
        let id = over.request_id();
        let is_next = |it: &&Exchange| it.number > over.number && it.request_id() == id;
        let all = self.line.wait("what comes next", |all| all.iter().any(|it| is_next(&it))).await;
        all.iter().find(is_next).and_then(after)
    }

    fn about(&self, route: Route, request_id: &str) -> Vec<Exchange> {
        let mut exchanges = self.line.exchanges_on(route);
        exchanges.retain(|exchange| exchange.request_id().as_deref() == Some(request_id));
        exchanges
    }

    /// Cuts the streams that are under way, and leaves the line as it was.
    pub(crate) async fn cut_streams(&self) {
        self.cut(|it| it.route == Route::Events).await;
    }

    /// Cuts whatever is under way, as when the network changes, and leaves the line as it was.
    pub(crate) async fn cut_all(&self) {
        self.cut(|_| true).await;
    }

    /// The line must be down for long enough that all of it is seen to be.
    async fn cut(&self, is_meant: impl Fn(&Exchange) -> bool) {
        self.line.line(Line::Cut);
        let is_over = |it: &Exchange| !is_meant(it) || it.ended.is_some();
        self.line.wait("nothing under way", |all| all.iter().all(is_over)).await;
        self.line.line(Line::Up);
    }

    /// What the archive says became of an ask, not by way of the line.
    pub(crate) async fn outcome(&self, request_id: &str) -> Value {
        let body: Value = serde_json::from_str(&self.submissions(request_id)[0].body).unwrap();
        let conversation_id = body["conversation_id"].as_str().unwrap_or_default();
        let target = format!("/api/v1/requests/{request_id}?conversation_id={conversation_id}");
        Request::new(self.holdfast.address(), "GET", &target).send().await.unwrap().json()
    }

    /// What must hold after every test.
    async fn assert_whole(&self) {
        let mut paid = BTreeMap::<String, usize>::new();
        for call in self.mock.calls() {
            assert!(call.key.is_some(), "a call without a key: {call:?}");
            *paid.entry(call.key.unwrap_or_default()).or_default() += 1;
        }
        assert!(paid.values().all(|times| *times == 1), "paid for twice: {paid:?}");

        let mut bodies = BTreeMap::<String, String>::new();
        for ask in self.line.exchanges_on(Route::Ask) {
            let id = ask.request_id().unwrap_or_default();
            let first = bodies.entry(id).or_insert_with(|| ask.body.clone());
            assert_eq!(*first, ask.body, "the same body each time");
        }
        if !self.may_break {
            let mut seen = BTreeMap::<String, usize>::new();
            for turn in self.browser.turns().await {
                *seen.entry(turn.request_id).or_default() += 1;
            }
            assert!(seen.values().all(|times| *times == 1), "one turn an ask: {seen:?}");
            let console = self.browser.console().await;
            let broken =
                ["panicked", "RuntimeError", "Uncaught", "unreachable", "Content Security Policy"];
            let broken = console.iter().filter(|line| broken.iter().any(|it| line.contains(it)));
            assert_eq!(broken.collect::<Vec<_>>(), Vec::<&String>::new());
        }
    }

    /// Tells everything that helps to understand a failure.
    async fn tell(&self, name: &str) {
        // A browser that is gone must not hide why the test failed.
        let picture = AssertUnwindSafe(self.browser.screenshot(name)).catch_unwind().await;
        if let Ok(path) = picture {
            eprintln!("picture: {}", path.display());
        }
        if let Ok(console) = AssertUnwindSafe(self.browser.console()).catch_unwind().await {
            eprintln!("console: {console:#?}");
        }
        eprintln!("over the line:");
        for exchange in self.line.exchanges() {
            // A file of the page is compressed, and of no interest.
            let relayed = std::str::from_utf8(&exchange.relayed).unwrap_or_default();
            let relayed: String = relayed.chars().take(160).collect();
            eprintln!(
                "  {} {} {} fault {:?} upstream {:?} status {:?} {:?} after {:?}: {relayed}",
                exchange.number,
                exchange.method,
                exchange.target,
                exchange.fault,
                exchange.upstream_status,
                exchange.status,
                exchange.ended,
                exchange.ended_after,
            );
        }
        eprintln!("calls: {:#?}", self.mock.calls());
    }
}
