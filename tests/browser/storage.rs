//! Browsers that keep nothing, and pages that are not secure contexts.

use holdfast_tests::mock::Script;
use holdfast_tests::proxy::{Fault, Route, Rule};

use crate::stage::{Setting, Stage, is_long, on_stage, on_stage_with};

/// Asks and reloads in mid answer; the answer must come.
async fn survives_a_reload(stage: &mut Stage) {
    stage.mock.next(Script::gated("the first words ", "go", "and the last"));
    let id = stage.browser.ask("kept nowhere").await.request_id;
    stage.browser.turn_with(&id, "pending", "the first words").await;
    stage.browser.reload().await;
    stage.browser.turn_with(&id, "pending", "the first words").await;
    stage.mock.open("go");
    stage.browser.turn_with(&id, "completed", "the first words and the last").await;
    assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
}

#[tokio::test]
async fn blocked_storage_is_said_and_asking_works() {
    for (name, block) in [
        (
            "access",
            "for (const name of ['sessionStorage', 'localStorage'])
                 Object.defineProperty(window, name, {get() { throw new DOMException('no', 'SecurityError') }})",
        ),
        (
            "read",
            "Storage.prototype.getItem = () => { throw new DOMException('no', 'SecurityError') };
             Storage.prototype.setItem = () => { throw new DOMException('no', 'SecurityError') }",
        ),
        (
            "write",
            "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }",
        ),
        ("null", "for (const name of ['sessionStorage', 'localStorage'])
                 Object.defineProperty(window, name, {value: null})"),
    ] {
        on_stage(&format!("blocked_storage_on_{name}"), async |stage| {
            stage.browser.before_every_document(block).await;
            stage.browser.reload().await;
            stage.ready().await;
            stage.line.rule(Rule::on(Route::Ask, Fault::CutBeforeReply));
            stage.mock.next(Script::answer("an answer all the same"));
            let turn = stage.browser.ask("without storage").await;
            stage
                .browser
                .turn_with(&turn.request_id, "completed", "an answer all the same")
                .await;
            stage.line.struck(Route::Ask).await;
            stage.browser.see("This browser blocks storage").await;
            // The history entry carries the pointer over a plain reload.
            survives_a_reload(stage).await;
        })
        .await;
    }
}

#[tokio::test]
async fn an_unaccepted_ask_without_storage_is_carried_over_a_reload_by_the_history_entry() {
    on_stage("carried_by_the_history_entry", async |stage| {
        let block = "for (const name of ['sessionStorage', 'localStorage'])
            Object.defineProperty(window, name, {get() { throw new DOMException('no', 'SecurityError') }})";
        stage.browser.before_every_document(block).await;
        stage.browser.reload().await;
        stage.ready().await;
        stage.line.rule(Rule::on(Route::Ask, Fault::HoldRequest("never".into())));
        let id = stage.browser.ask("only in history").await.request_id;
        stage.line.wait("the ask held", |all| all.iter().any(|it| it.fault.is_some())).await;
        stage.browser.reload().await;
        stage.browser.turn_with(&id, "completed", "The answer to").await;
        assert_eq!(stage.calls(&id), 1);
    })
    .await;
}

#[tokio::test]
async fn full_storage_is_said_and_asking_works() {
    on_stage("full_storage", async |stage| {
        let fill = "for (const area of [sessionStorage, localStorage])
            for (let size = 1 << 22; size >= 1; size >>= 1)
                try { for (let n = 0; ; n++) area.setItem('fill' + size + '.' + n, 'x'.repeat(size)) }
                catch {}";
        stage.browser.run(fill).await;
        let turn = stage.browser.ask("into full storage").await;
        stage.browser.turn_with(&turn.request_id, "completed", "The answer to").await;
        stage.browser.see("storage").await;
        survives_a_reload(stage).await;
    })
    .await;
}

#[tokio::test]
async fn a_page_that_is_no_secure_context_asks_and_recovers_as_well() {
    let setting = Setting {
        chromium: vec!["--host-resolver-rules=MAP holdfast.test 127.0.0.1".to_owned()],
        host: Some("holdfast.test"),
        ..Setting::default()
    };
    on_stage_with("no_secure_context", setting, async |stage| {
        let has = "return [isSecureContext, 'randomUUID' in crypto, 'locks' in navigator]";
        let has = stage.browser.run(has).await;
        assert_eq!(has, serde_json::json!([false, false, false]));
        stage.line.rule(Rule::on(Route::Ask, Fault::CutBeforeReply));
        let turn = stage.browser.ask("over plain http").await;
        stage.browser.turn_with(&turn.request_id, "completed", "The answer to").await;
        stage.line.struck(Route::Ask).await;
        survives_a_reload(stage).await;
        // Without locks no tab can be chosen to hold a connection, so none does.
        let long: Vec<_> = stage.line.exchanges().into_iter().filter(is_long).collect();
        assert!(long.is_empty(), "{long:#?}");
    })
    .await;
}
