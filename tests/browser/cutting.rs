//! The line is cut around one exchange: the reply to the ask at each point, and the lookup itself.

use std::time::Duration;

use holdfast_tests::mock::{Script, counted_words};
use holdfast_tests::proxy::{Fate, Fault, Route, Rule};

use crate::stage::{Stage, on_stage};

/// Asks with a fault on the reply, and expects the answer all the same; gives the ask's id.
async fn recovered(stage: &mut Stage, fault: Fault) -> String {
    let question = format!("what was cut by {fault:?}");
    stage.line.rule(Rule::on(Route::Ask, fault.clone()).containing(&question));
    stage.mock.next(Script::counted(12, Duration::from_millis(20)));
    let turn = stage.browser.ask(&question).await;
    let turn = stage.browser.turn_with(&turn.request_id, "completed", &counted_words(12)).await;
    assert!(turn.recovered, "the page says that it was recovered");
    stage.browser.no_pointers().await;
    let struck = stage.submissions(&turn.request_id).swap_remove(0);
    assert_eq!((struck.fault, struck.ended.is_some()), (Some(fault), true));
    assert_eq!(stage.calls(&turn.request_id), 1);
    turn.request_id
}

#[tokio::test]
async fn an_ask_cut_before_it_leaves_is_looked_up_and_sent_again_under_the_same_id() {
    on_stage("an_ask_cut_before_it_leaves", async |stage| {
        let id = recovered(stage, Fault::CutBeforeForward).await;
        let submissions = stage.submissions(&id);
        assert_eq!(submissions.len(), 2);
        assert!(!submissions[0].forwarded && submissions[0].ended == Some(Fate::Cut));
        let first_lookup = &stage.lookups(&id)[0];
        assert_eq!(first_lookup.reply().unwrap()["state"], "unknown");
        assert!(first_lookup.number < submissions[1].number, "never resubmitted on a guess");
    })
    .await;
}

#[tokio::test]
async fn an_ask_cut_before_it_is_accepted_is_looked_up_and_sent_again_under_the_same_id() {
    on_stage("an_ask_cut_before_it_is_accepted", async |stage| {
        let id = recovered(stage, Fault::CutInRequest).await;
        let submissions = stage.submissions(&id);
        assert_eq!(submissions.len(), 2);
        assert_eq!(submissions[0].upstream_status, None);
        assert!(stage.lookups(&id)[0].number < submissions[1].number);
    })
    .await;
}

#[tokio::test]
async fn an_answer_whose_reply_was_cut_after_accept_is_recovered_without_a_second_submission() {
    on_stage("a_reply_cut_after_accept", async |stage| {
        let id = recovered(stage, Fault::CutBeforeReply).await;
        let submissions = stage.submissions(&id);
        assert_eq!(submissions.len(), 1);
        assert_eq!((submissions[0].upstream_status, submissions[0].status), (Some(202), None));
    })
    .await;
}

#[tokio::test]
async fn an_answer_whose_reply_was_cut_in_mid_body_is_recovered_without_a_second_submission() {
    on_stage("a_reply_cut_in_mid_body", async |stage| {
        for bytes in [0, 1, 60] {
            let id = recovered(stage, Fault::CutBody(bytes)).await;
            let submissions = stage.submissions(&id);
            assert_eq!(submissions.len(), 1);
            assert_eq!((submissions[0].status, submissions[0].relayed.len()), (Some(202), bytes));
        }
    })
    .await;
}

#[tokio::test]
async fn an_answer_whose_reply_lost_only_its_end_is_recovered_without_a_second_submission() {
    on_stage("a_reply_cut_before_its_end", async |stage| {
        let id = recovered(stage, Fault::CutBeforeEnd).await;
        let submissions = stage.submissions(&id);
        assert_eq!(submissions.len(), 1);
        assert!(submissions[0].reply().is_some(), "the whole body was relayed");
    })
    .await;
}

#[tokio::test]
async fn a_reply_that_ends_cleanly_too_early_is_no_outcome() {
    on_stage("a_truncated_reply", async |stage| {
        let id = recovered(stage, Fault::Truncate(40)).await;
        assert_eq!(stage.submissions(&id).len(), 1);
        assert!(stage.submissions(&id)[0].reply().is_none(), "truncated JSON");
    })
    .await;
}

#[tokio::test]
async fn an_ask_whose_reply_never_comes_is_recovered_in_bounded_time() {
    on_stage("a_reply_that_never_comes", async |stage| {
        stage.hurry().await;
        let fault = Fault::SilenceAfterForward(Duration::from_mins(1));
        let id = recovered(stage, fault).await;
        assert_eq!(stage.submissions(&id).len(), 1);
    })
    .await;
}

#[tokio::test]
async fn lookups_that_fail_again_and_again_are_repeated_until_one_succeeds() {
    on_stage("lookups_that_fail", async |stage| {
        stage.hurry().await;
        let html = holdfast_tests::proxy::Reply::html(502);
        for fault in [
            Fault::CutBeforeForward,
            Fault::CutBeforeReply,
            Fault::CutBody(30),
            Fault::CutBeforeEnd,
            Fault::Truncate(30),
            Fault::Instead(html),
        ] {
            stage.line.rule(Rule::on(Route::Lookup, fault));
        }
        let id = recovered(stage, Fault::CutBeforeReply).await;
        let struck = stage.lookups(&id);
        let struck = struck.iter().filter(|lookup| lookup.fault.is_some());
        assert_eq!(struck.count(), 6);
        assert_eq!(stage.submissions(&id).len(), 1);
    })
    .await;
}

#[tokio::test]
async fn an_ask_that_is_cut_twice_is_still_paid_for_once() {
    on_stage("an_ask_that_is_cut_twice", async |stage| {
        stage.line.rule(Rule::on(Route::Ask, Fault::CutInRequest));
        stage.line.rule(Rule::on(Route::Ask, Fault::CutBeforeReply));
        stage.mock.next(Script::counted(3, Duration::ZERO));
        let turn = stage.browser.ask("cut twice").await;
        stage.browser.turn_with(&turn.request_id, "completed", &counted_words(3)).await;
        let submissions = stage.submissions(&turn.request_id);
        assert!(submissions.iter().filter(|ask| ask.fault.is_some()).count() == 2);
        assert_eq!(stage.calls(&turn.request_id), 1);
    })
    .await;
}

#[tokio::test]
async fn an_ask_that_arrives_twice_is_answered_once() {
    on_stage("an_ask_that_arrives_twice", async |stage| {
        stage.line.rule(Rule::on(Route::Ask, Fault::Duplicate));
        stage.mock.next(Script::counted(3, Duration::ZERO));
        let turn = stage.browser.ask("doubled on the way").await;
        stage.browser.turn_with(&turn.request_id, "completed", &counted_words(3)).await;
        stage.line.struck(Route::Ask).await;
        assert_eq!(stage.calls(&turn.request_id), 1);
    })
    .await;
}

#[tokio::test]
async fn replies_in_single_bytes_and_in_one_blob_change_nothing() {
    on_stage("replies_in_single_bytes", async |stage| {
        let text = "Grüße 😀 und mehr";
        stage.line.rule(Rule::on(Route::Ask, Fault::Drip(Duration::ZERO)));
        stage.line.rule(Rule::on(Route::Events, Fault::Drip(Duration::ZERO)));
        stage.line.rule(Rule::on(Route::Events, Fault::Blob));
        for (question, text) in [("in pieces", text), ("in a blob", "Größe 😀 und weniger")] {
            stage.mock.next(Script::dripped(text, 1, Duration::ZERO));
            let turn = stage.browser.ask(question).await;
            stage.browser.turn_with(&turn.request_id, "completed", text).await;
        }
        stage.line.struck(Route::Ask).await;
        let struck = stage.line.exchanges_on(Route::Events);
        assert_eq!(struck.iter().filter(|it| it.fault.is_some()).count(), 2);
    })
    .await;
}
