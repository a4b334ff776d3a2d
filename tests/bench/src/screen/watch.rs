//! The watch that a page keeps: when something happened to it, and when the text it was waiting for
//! stood on the screen. Both times are the page's own, so that nothing of how it is driven counts.

use holdfast_tests::browser::Browser;
use serde_json::Value;

use crate::failure::{Context as _, Result};

/// Keeps the promise of both times, in milliseconds since 1970: `performance.now()` alone would begin
/// anew where the page does, and could not be compared with the line's clock.
const WATCH: &str = "
    const now = () => performance.timeOrigin + performance.now();
    const events = EVENTS;
    const began = events.length === 0 ? Promise.resolve(null) : new Promise(resolve => {
        const hear = event => {
            const leaves = event.type === 'visibilitychange' && document.visibilityState === 'hidden';
            if (!leaves) resolve(now());
        };
        for (const event of events) addEventListener(event, hear, { capture: true });
    });
    const seen = new Promise(resolve => {
        const look = () => {
            const found = [...document.querySelectorAll(WHERE)]
                .some(it => it.textContent.includes(TEXT) && it.textContent !== '');
            if (found) { observer.disconnect(); resolve(now()); }
        };
        const observer = new MutationObserver(look);
        observer.observe(document, { subtree: true, childList: true, characterData: true });
    });
    globalThis.watched = Promise.all([began, seen]);";

/// What is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch<'a> {
    /// The events from whose first time is taken; none: only the text is waited for. That the page is
    /// hidden is none of them.
    pub(crate) events: &'a [&'a str],
    /// Which elements of the page are looked at.
    pub(crate) selector: &'a str,
    /// What one of them must say; empty: anything at all.
    pub(crate) text: &'a str,
}

/// What was seen, in milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// When the first event came; when nothing was waited for, the same as `text`.
    pub(crate) event: f64,
    /// When the text was there.
    pub(crate) text: f64,
}

impl Seen {
    /// Milliseconds from the event to the text.
    pub(crate) fn millis(self) -> f64 {
        self.text - self.event
    }
}

impl Watch<'_> {
    /// Begins to watch.
    pub(crate) async fn begin(self, browser: &Browser) {
        let script = WATCH
            .replace("EVENTS", &Value::from(self.events).to_string())
            .replace("WHERE", &Value::from(self.selector).to_string())
            .replace("TEXT", &Value::from(self.text).to_string());
        browser.run(&script).await;
    }
}

/// Waits for what is watched, however long that takes short of the browser's patience.
pub(crate) async fn seen(browser: &Browser) -> Result<Seen> {
    let times = browser.run("return globalThis.watched").await;
    let time = |at: usize| times.get(at).and_then(Value::as_f64);
    let text = time(1).doing("learn from the page when the text was there")?;
    Ok(Seen { event: time(0).unwrap_or(text), text })
}

/// Milliseconds that a bare `fetch` takes on the page's own line, from the call to the whole reply.
pub(crate) async fn round_trip(browser: &Browser, path: &str) -> Result<f64> {
    let script = format!(
        "const began = performance.now();
         const reply = await fetch('{path}', {{ cache: 'no-store' }});
         await reply.arrayBuffer();
         return performance.now() - began"
    );
    // A function of its own: a script is none that may wait.
    let took = browser.run(&format!("return (async () => {{ {script} }})()")).await;
    took.as_f64().doing("learn from the page how long a bare fetch took")
}
