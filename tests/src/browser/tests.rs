//! The browser must do what the tests believe it did. A made-up page stands in for Holdfast's.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::proxy::{Fault, FaultProxy, Reply, Route, Rule};

const PAGE: &str = r#"<!doctype html><meta name="viewport" content="width=device-width"><title>t</title>
    <label>Question <textarea oninput="said.textContent = this.value"></textarea></label>
    <button onclick="presses.textContent += 'x'">Send</button>
    <button style="display: none">Stop</button>
    <article data-request-id="1" data-status="completed" data-recovered="true">the answer</article>
    <p role="status">Recovered</p><p id="said"></p><p id="presses"></p><p id="events"></p>
    <script>
        sessionStorage["holdfast.pending"] = '[{"request_id":"1","question":"q"}]';
        for (const name of ['offline', 'online'])
            addEventListener(name, () => events.textContent += ' ' + name);
        addEventListener('keydown', e => { if (e.key === 'Enter') events.textContent += ' ' + e.repeat });
        console.error('an error of the page');
    </script>"#;

#[tokio::test]
async fn the_page_is_seen_as_a_person_sees_it_and_the_browser_does_as_told() {
    let nowhere = ([127, 0, 0, 1], 1).into();
    let proxy = match FaultProxy::start(nowhere).await {
        Ok(proxy) => proxy,
        Err(error) => panic!("no proxy: {error}"),
    };
    let page = Reply::new(200, "text/html; charset=utf-8", PAGE);
    proxy.rule(Rule::on(Route::Page, Fault::Instead(page)).always());

    let mut browser = Browser::start().await;
    browser.before_every_document("window.first = document.readyState").await;
    browser.open(&proxy.url()).await;
    assert_eq!(browser.run("return window.first").await, "loading");

    browser.write("Wörter").await;
    assert_eq!(browser.composer().await, "Wörter");
    browser.see("Wörter").await;
    browser.click("Send").await;
    browser.see("x").await;
    assert!(browser.can_press("Send").await);
    assert!(!browser.can_press("Stop").await, "hidden");
    assert!(browser.find(Role::Link, "Send").await.is_none(), "no link");

    let turn = browser.turn_with("1", "completed", "the answer").await;
    assert!(turn.recovered);
    assert_eq!(browser.turns().await, [turn]);
    assert_eq!(browser.pointers().await.keys().collect::<Vec<_>>(), ["1"]);
    assert_eq!(browser.status().await, "Recovered");
    assert!(browser.console().await.join("\n").contains("an error of the page"));

    browser.run("document.querySelector('textarea').focus()").await;
    browser.hold_enter(3).await;
    browser.see("false true true").await;
    browser.offline(true).await;
    browser.see("offline").await;
    browser.offline(false).await;
    browser.see("offline online").await;

    browser.screen(390, 800, true).await;
    let seen = browser
        .run("return [innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]")
        .await;
    assert_eq!(seen, json!([390, true]));

    let first = browser.window().await;
    browser.new_tab().await;
    browser.open(&proxy.url()).await;
    assert_eq!(browser.run("return window.first").await, "loading", "in a new tab as well");
    browser.close_window().await;
    browser.switch_to(&first).await;

    let missing = Duration::from_millis(100);
    let waited = Instant::now();
    let looked = async { browser.wait_for_within(missing, "nothing", async |_| None::<()>).await };
    let ended = tokio::time::timeout(Duration::from_secs(30), catch(looked)).await;
    assert_eq!(ended, Ok(true), "a wait ends by failing");
    assert!(waited.elapsed() >= missing);

    let picture = browser.screenshot("the-tools-own-page").await;
    assert!(std::fs::metadata(picture).is_ok_and(|file| file.len() > 1000));
    browser.close().await;
}

/// Whether a future panics.
async fn catch(work: impl Future<Output = ()>) -> bool {
    use futures_util::FutureExt as _;
    std::panic::AssertUnwindSafe(work).catch_unwind().await.is_err()
}
