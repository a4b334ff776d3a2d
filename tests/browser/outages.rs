//! The whole line fails for a while.

use std::time::Duration;

use holdfast_tests::mock::Script;
use holdfast_tests::proxy::{Fate, Fault, Line, Reply, Route, Rule};
use tokio::time::sleep;

use crate::stage::on_stage;

#[tokio::test]
async fn an_outage_in_mid_answer_takes_nothing_away_and_loses_nothing() {
    on_stage("an_outage_in_mid_answer", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let turn = stage.browser.ask("over a bad line").await;
        let id = turn.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.line.line(Line::Cut);
        let during = stage.browser.turn_of("onnection lost").await;
        assert!(during.text.contains("the first words"), "text never shrinks: {during:?}");
        stage.line.line(Line::Up);
        stage.mock.open("go");
        let whole = "the first words and the last";
        let turn = stage.browser.turn_with(&id, "completed", whole).await;
        assert!(turn.recovered);
        assert!(stage.line.exchanges().iter().any(|it| it.ended == Some(Fate::LineCut)));
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
        stage.browser.no_pointers().await;
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_ends_during_an_outage_is_there_when_the_line_is() {
    on_stage("an_outage_across_the_end", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("over a bad line").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.line.line(Line::Cut);
        stage.mock.open("go");
        stage.mock.wait("its end", |calls| calls[0].ended.is_some()).await;
        // The page says what is the matter, and takes nothing away.
        let during = stage.browser.turn_of("onnection lost").await;
        assert!(during.text.contains("the first words"), "text never shrinks: {during:?}");
        stage.line.line(Line::Up);
        let whole = "the first words and the last";
        let turn = stage.browser.turn_with(&id, "completed", whole).await;
        assert!(turn.recovered);
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn a_line_that_falls_silent_is_noticed_and_the_answer_recovered() {
    on_stage("a_silent_line", async |stage| {
        stage.hurry().await;
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("over a silent line").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.line.line(Line::Silent);
        stage.mock.open("go");
        stage.mock.wait("its end", |calls| calls[0].ended.is_some()).await;
        let during = stage.browser.turn_of("onnection lost").await;
        assert!(during.text.contains("the first words"), "text never shrinks: {during:?}");
        // What hung in the silence is dead when the network has changed.
        stage.cut_all().await;
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn a_question_asked_while_offline_waits_and_goes_out_by_itself() {
    on_stage("asked_while_offline", async |stage| {
        stage.browser.offline(true).await;
        let turn = stage.browser.ask("asked in a tunnel").await;
        let id = turn.request_id;
        stage.browser.turn_when("queued", &id, |turn| turn.status == "queued").await;
        assert!(stage.browser.pointers().await.contains_key(&id));
        assert!(stage.submissions(&id).is_empty());
        stage.browser.offline(false).await;
        stage.browser.turn_with(&id, "completed", "The answer to").await;
        assert_eq!(stage.calls(&id), 1);
    })
    .await;
}

#[tokio::test]
async fn going_online_looks_up_at_once() {
    on_stage("going_online_looks_up_at_once", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("in and out").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.browser.offline(true).await;
        stage.line.line(Line::Cut);
        stage.mock.open("go");
        stage.mock.wait("its end", |calls| calls[0].ended.is_some()).await;
        // By now the pauses between attempts have grown.
        sleep(Duration::from_secs(6)).await;
        stage.line.line(Line::Up);
        stage.browser.offline(false).await;
        stage
            .browser
            .wait_for_within(Duration::from_secs(2), "the answer at once", async |page| {
                let turns = page.turns().await;
                turns.into_iter().find(|turn| turn.status == "completed")
            })
            .await;
    })
    .await;
}

#[tokio::test]
async fn twenty_flaps_of_the_network_change_nothing() {
    on_stage("twenty_flaps", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("flapping").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        for _ in 0..20 {
            stage.browser.offline(true).await;
            stage.browser.offline(false).await;
        }
        stage.mock.open("go");
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
        // At most one look for each time the network came back, not a storm.
        let lookups = stage.lookups(&id).len();
        assert!(lookups < 100, "{lookups} lookups");
    })
    .await;
}

#[tokio::test]
async fn when_attempts_are_spent_the_page_says_so_and_can_still_check_again() {
    on_stage("attempts_are_spent", async |stage| {
        // The session says how many attempts there are.
        let session = stage.line.exchanges_on(Route::Session)[0].reply().unwrap();
        let mut few = session.clone();
        few["recovery"]["submit_attempts"] = 3.into();
        assert_ne!(few, session);
        let few = Reply::new(200, "application/json", few.to_string());
        stage.line.rule(Rule::on(Route::Session, Fault::Instead(few)).always());
        stage.browser.reload().await;
        stage.ready().await;
        stage.line.struck(Route::Session).await;

        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("never mind").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.line.rule(Rule::on(Route::Lookup, Fault::CutBeforeForward).always());
        stage.line.rule(Rule::on(Route::Events, Fault::CutBeforeForward).always());
        stage.cut_streams().await;
        let turn =
            stage.browser.turn_when("unreachable", &id, |turn| turn.status == "unreachable").await;
        assert!(turn.text.contains("the first words"), "text never shrinks: {turn:?}");
        let lookups = stage.lookups(&id);
        assert_eq!(lookups.iter().filter(|it| it.status.is_none()).count(), 3, "{lookups:?}");
        assert!(stage.browser.pointers().await.contains_key(&id), "the pointer is kept");

        // It has not given up for good: to look at the page again is enough.
        stage.line.clear_rules();
        stage.look_as_if(false).await;
        stage.look_as_if(true).await;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.line.rule(Rule::on(Route::Lookup, Fault::CutBeforeForward).always());
        stage.line.rule(Rule::on(Route::Events, Fault::CutBeforeForward).always());
        stage.cut_streams().await;
        stage.browser.turn_when("unreachable", &id, |turn| turn.status == "unreachable").await;
        stage.line.clear_rules();
        stage.mock.open("go");
        stage.browser.click("Check again").await;
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
    })
    .await;
}
