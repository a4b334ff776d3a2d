//! The server dies and comes back.

use holdfast_tests::mock::{Script, Step};

use crate::stage::{Stage, on_stage};

/// The turns on the screen are these, from top to bottom.
async fn in_order(stage: &Stage, ids: &[&str]) {
    let turns = stage.browser.turns().await;
    let shown: Vec<_> = turns.iter().map(|turn| turn.request_id.as_str()).collect();
    assert_eq!(shown, ids);
}

#[tokio::test]
async fn an_answer_cut_off_by_a_crash_is_shown_as_interrupted_with_its_text() {
    on_stage("interrupted_by_a_crash", async |stage| {
        stage.mock.next(Script::new().words("the first words ").then(Step::Hang));
        let id = stage.browser.ask("what a crash leaves").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.holdfast.kill().await;
        let during = stage.browser.turn_of("onnection lost").await;
        assert!(during.text.contains("the first words"), "{during:?}");
        // What one start has cleared up, the next leaves as it is.
        stage.holdfast.restart().await;
        stage.holdfast.kill().await;
        stage.holdfast.restart().await;
        let turn = stage.browser.turn_with(&id, "interrupted", "the first words").await;
        assert!(turn.text.contains("billed"), "says why it is not repeated: {}", turn.text);
        stage.browser.no_pointers().await;
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
        let next = stage.browser.ask("and on").await.request_id;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
        stage.browser.reload().await;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
        stage.browser.turn_with(&id, "interrupted", "what a crash leaves").await;
        in_order(stage, &[&id, &next]).await;
    })
    .await;
}

#[tokio::test]
async fn an_ask_that_was_queued_runs_after_a_crash() {
    on_stage("queued_over_a_crash", async |stage| {
        stage.mock.on("will hang", Script::hang());
        let first = stage.browser.ask("this will hang").await.request_id;
        stage.called(&first).await;
        let second = stage.browser.ask("this one waits").await.request_id;
        stage
            .line
            .wait("both accepted", |_| {
                stage.submissions(&second).iter().any(|it| it.status == Some(202))
            })
            .await;
        stage.holdfast.kill().await;
        stage.holdfast.restart().await;
        stage.browser.turn_when("interrupted", &first, |it| it.status == "interrupted").await;
        stage.browser.turn_with(&second, "completed", "The answer to").await;
        assert_eq!((stage.calls(&first), stage.calls(&second)), (1, 1));
        assert_eq!(stage.submissions(&second).len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_crash_between_two_questions_is_not_noticed() {
    on_stage("a_crash_between_two_questions", async |stage| {
        let first = stage.browser.ask("before").await.request_id;
        stage.browser.turn_with(&first, "completed", "The answer to").await;
        stage.holdfast.kill().await;
        stage.holdfast.restart().await;
        let second = stage.browser.ask("after").await.request_id;
        stage.browser.turn_with(&second, "completed", "The answer to").await;
        in_order(stage, &[&first, &second]).await;
        assert!(
            stage.mock.calls_of(&second)[0].messages().iter().any(|(_, text)| text == "before")
        );
        // The archive has both, in one conversation.
        stage.browser.reload().await;
        stage.browser.turn_with(&second, "completed", "The answer to").await;
        in_order(stage, &[&first, &second]).await;
    })
    .await;
}
