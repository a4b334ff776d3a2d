//! A real nginx in between, with its defaults: replies held back in buffers, and five seconds for an
//! upstream to say something.

use std::time::Duration;

use holdfast_tests::mock::Script;
use tokio::time::sleep;

use crate::stage::{Setting, Stage, on_stage_with};

/// Longer than nginx waits.
const SILENCE: Duration = Duration::from_secs(6);

async fn works(stage: &mut Stage) {
    let script = Script::new().gate("first").words("the first words ");
    stage.mock.next(script.gate("rest").delta("and the last").end());
    let id = stage.browser.ask("through nginx").await.request_id;
    stage.called(&id).await;
    sleep(SILENCE).await;
    stage.mock.open("first");
    stage.browser.turn_with(&id, "pending", "the first words").await;
    sleep(SILENCE).await;
    stage.mock.open("rest");
    let turn = stage.browser.turn_with(&id, "completed", "the first words and the last").await;
    assert!(!turn.recovered, "there was nothing to recover from");
    assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
    stage.browser.reload().await;
    stage.browser.turn_with(&id, "completed", "the first words and the last").await;
    let stopped = {
        stage.mock.next(Script::gated("once more ", "never", "said"));
        stage.browser.ask("to be stopped").await.request_id
    };
    stage.browser.turn_with(&stopped, "pending", "once more").await;
    stage.browser.click("Stop").await;
    stage.browser.turn_with(&stopped, "cancelled", "once more").await;
    stage.mock.wait("the hang-up", |calls| calls[1].client_closed()).await;
}

#[tokio::test]
async fn answers_appear_and_stop_at_the_root_of_an_nginx() {
    let setting = Setting { behind_nginx: Some(""), ..Setting::default() };
    on_stage_with("nginx_at_the_root", setting, works).await;
}

#[tokio::test]
async fn answers_appear_and_stop_under_a_sub_path_of_an_nginx() {
    let setting = Setting { behind_nginx: Some("chat/"), ..Setting::default() };
    on_stage_with("nginx_under_a_sub_path", setting, works).await;
}
