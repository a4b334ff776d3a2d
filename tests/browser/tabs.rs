//! Many tabs on one server, seen and unseen.

use holdfast_tests::mock::Script;
use serde_json::json;

use crate::stage::{is_long, on_stage};

#[tokio::test]
async fn a_hidden_tab_holds_no_long_exchange_and_catches_up_when_seen() {
    on_stage("a_hidden_tab", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("while I look elsewhere").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        let first = stage.open_beside(&stage.line.url()).await;
        stage.ready().await;
        stage.browser.switch_to(&first).await;
        let hidden = "return document.visibilityState";
        assert_eq!(stage.browser.run(hidden).await, "visible");
        // Chromium's own emulation of a tab in the background.
        stage.browser.cdp("Page.setWebLifecycleState", json!({"state": "frozen"})).await;
        stage
            .line
            .wait("no long exchange", |all| all.iter().all(|it| !is_long(it) || it.ended.is_some()))
            .await;
        stage.mock.open("go");
        stage.mock.wait("its end", |calls| calls[0].ended.is_some()).await;
        stage.browser.cdp("Page.setWebLifecycleState", json!({"state": "active"})).await;
        stage.look_as_if(true).await;
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        stage.browser.no_pointers().await;
    })
    .await;
}

#[tokio::test]
async fn an_eighth_tab_loads_while_seven_wait_for_the_same_answer() {
    on_stage("an_eighth_tab", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("seen by many").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        let address = stage.browser.address().await;
        let mut tabs = vec![stage.browser.window().await];
        for _ in 0..7 {
            tabs.push(stage.browser.new_tab().await);
            stage.browser.open(&address).await;
            stage.browser.turn_with(&id, "pending", "the first words").await;
        }
        stage.mock.open("go");
        for tab in &tabs {
            stage.browser.switch_to(tab).await;
            stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        }
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));

        // And whoever is the last of them can stop as well.
        stage.mock.next(Script::gated("once more ", "never", "said"));
        let id = stage.browser.ask("to be stopped").await.request_id;
        stage.browser.turn_with(&id, "pending", "once more").await;
        stage.browser.click("Stop").await;
        stage.browser.turn_with(&id, "cancelled", "once more").await;
        stage.mock.wait("the hang-up", |calls| calls[1].client_closed()).await;
    })
    .await;
}

#[tokio::test]
async fn the_order_of_turns_is_the_servers_whatever_the_clock_says() {
    on_stage("the_order_of_turns", async |stage| {
        let first = stage.browser.ask("the first").await.request_id;
        stage.browser.turn_with(&first, "completed", "The answer to").await;
        let ahead = "const now = Date.now;
            Date.now = () => now() + 5 * 3600e3;";
        stage.browser.run(ahead).await;
        let second = stage.browser.ask("five hours ahead").await.request_id;
        stage.browser.turn_with(&second, "completed", "The answer to").await;
        stage.browser.reload().await;
        stage.ready().await;
        let third = stage.browser.ask("the clock is right again").await.request_id;
        stage.browser.turn_with(&third, "completed", "The answer to").await;
        for _ in 0..2 {
            let turns = stage.browser.turns().await;
            let order: Vec<_> = turns.iter().map(|turn| turn.request_id.as_str()).collect();
            assert_eq!(order, [first.as_str(), second.as_str(), third.as_str()]);
            stage.browser.reload().await;
            stage.browser.turn_with(&third, "completed", "The answer to").await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_tab_that_slept_looks_up_when_it_wakes() {
    on_stage("a_tab_that_slept", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("sleep over it").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        let listen = "window.__said = [];
            new MutationObserver(() => __said.push(document.body.innerText))
                .observe(document.body, {childList: true, subtree: true, characterData: true})";
        stage.browser.run(listen).await;
        stage.browser.cdp("Page.setWebLifecycleState", json!({"state": "frozen"})).await;
        // The network changed meanwhile: what was open is dead.
        stage.cut_all().await;
        stage.mock.open("go");
        stage.mock.wait("its end", |calls| calls[0].ended.is_some()).await;
        stage.browser.cdp("Page.setWebLifecycleState", json!({"state": "active"})).await;
        // Chromium's emulation leaves it awake in the background.
        stage.look_as_if(true).await;
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        let said = stage.browser.run("return __said.join()").await.to_string();
        assert!(said.contains("and the last"), "it was listened to: {said}");
        for alarm in ["onnection lost", "cannot be reached", "could not", "Trying again"] {
            assert!(!said.contains(alarm), "no alarm for an answer that is there: {said}");
        }
        let next = stage.browser.ask("awake").await.request_id;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
        assert!(!stage.streams(&next).is_empty(), "it knows that it is looked at");
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
    })
    .await;
}
