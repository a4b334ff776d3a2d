//! Without a mouse, and without eyes.

use holdfast_tests::mock::{Script, Step};
use serde_json::json;

use crate::stage::on_stage;

const ENTER: &str = "\u{E007}";
const TAB: &str = "\u{E004}";

#[tokio::test]
async fn everything_can_be_done_by_keyboard() {
    on_stage("by_keyboard", async |stage| {
        stage.mock.next(Script::new().words("the first words ").then(Step::Hang));
        tab_to(stage, "Question").await;
        stage.browser.press("typed blindly").await;
        stage.browser.press(ENTER).await;
        let id = stage.browser.turn_of("typed blindly").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        tab_to(stage, "Stop").await;
        stage.browser.press(ENTER).await;
        stage.browser.turn_when("cancelled", &id, |turn| turn.status == "cancelled").await;
        tab_to(stage, "New chat").await;
        stage.browser.press(ENTER).await;
        stage
            .browser
            .wait_for("a new chat", async |page| page.turns().await.is_empty().then_some(()))
            .await;
        stage.browser.press("at once").await;
        stage.browser.press(ENTER).await;
        let next = stage.browser.turn_of("at once").await;
        stage.browser.turn_with(&next.request_id, "completed", "The answer to").await;
    })
    .await;
}

/// Presses Tab until the control of that name has the focus, visibly.
async fn tab_to(stage: &crate::stage::Stage, name: &str) {
    for _ in 0..40 {
        stage.browser.press(TAB).await;
        let focus = stage
            .browser
            .run(
                "const e = document.activeElement;
                 const rings = [e, e.parentElement].map(e => getComputedStyle(e))
                     .some(s => s.outlineStyle !== 'none' || s.boxShadow !== 'none');
                 return [e.ariaLabel ?? e.textContent.trim(), rings];",
            )
            .await;
        if focus[0] == name {
            assert_eq!(focus[1], true, "the focus on “{name}” can be seen");
            return;
        }
    }
    panic!("Tab never comes to “{name}”");
}

#[tokio::test]
async fn shift_enter_makes_a_line_and_a_composing_enter_sends_nothing() {
    on_stage("shift_enter", async |stage| {
        stage.browser.write("first\u{E008}\u{E007}\u{E008}second").await;
        assert_eq!(stage.browser.composer().await, "first\nsecond");
        for composing in [
            json!({"key": "Enter", "isComposing": true, "bubbles": true, "cancelable": true}),
            json!({"key": "Enter", "keyCode": 229, "bubbles": true, "cancelable": true}),
        ] {
            let script = format!(
                "document.querySelector('textarea').dispatchEvent(
                     new KeyboardEvent('keydown', {composing}))"
            );
            stage.browser.run(&script).await;
        }
        assert_eq!(stage.browser.composer().await, "first\nsecond");
        assert!(stage.browser.turns().await.is_empty());
        stage.browser.write("\u{E007}").await;
        let turn = stage.browser.turn_of("second").await;
        stage.browser.turn_with(&turn.request_id, "completed", "The answer to").await;
        assert_eq!(stage.mock.calls()[0].question, "first\nsecond");
    })
    .await;
}

#[tokio::test]
async fn the_one_status_region_tells_the_story_and_not_the_text() {
    on_stage("the_status_region", async |stage| {
        let watch = "
            window.__said = [];
            const regions = document.querySelectorAll('[role=status]');
            const say = () => { for (const r of regions) {
                const text = r.textContent.trim();
                if (text && __said.at(-1) !== text) __said.push(text); } };
            for (const r of regions)
                new MutationObserver(say).observe(r, {childList: true, subtree: true, characterData: true});
            return regions.length;";
        assert_eq!(stage.browser.run(watch).await, 1, "one region");
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("tell me").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.line.line(holdfast_tests::proxy::Line::Cut);
        said(stage, "onnection lost").await;
        stage.line.line(holdfast_tests::proxy::Line::Up);
        stage.mock.open("go");
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        said(stage, "ecovered").await;
        let told = stage.browser.run("return __said").await;
        assert!(told[0].as_str().is_some_and(|first| first.contains("ent")), "{told}");
        assert!(!told.to_string().contains("first words"), "tokens are not read out: {told}");

        let live = "return [...document.querySelectorAll('article [aria-live], article[aria-live],\
            [role=log]')].filter(e => e.getAttribute('aria-live') !== 'off').length";
        assert_eq!(stage.browser.run(live).await, 0, "no turn is a live region");
    })
    .await;
}

async fn said(stage: &crate::stage::Stage, words: &str) {
    stage
        .browser
        .wait_for(words, async |page| {
            page.run("return __said").await.to_string().contains(words).then_some(())
        })
        .await;
}
