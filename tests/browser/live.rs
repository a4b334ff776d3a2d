//! Text appears as it is generated, from any tab and after any cut.

use std::time::Duration;

use crate::stage::on_stage;
use holdfast_tests::mock::{Script, counted_words};
use holdfast_tests::proxy::{Exchange, Fate, Fault, Route, Rule};

/// Counts from now on how often the text of the last answer is seen to change.
const COUNT_STEPS: &str = "window.__steps = 0; let last = '';
    (function look() {
        const answer = [...document.querySelectorAll('article .answer')].pop();
        const text = answer ? answer.innerText : '';
        if (text !== last) { last = text; window.__steps += 1; }
        requestAnimationFrame(look);
    })();";

#[tokio::test]
async fn an_answer_grows_in_many_steps_over_one_stream() {
    on_stage("an_answer_grows", async |stage| {
        stage.browser.run(COUNT_STEPS).await;
        stage.mock.next(Script::counted(50, Duration::from_millis(60)));
        let id = stage.browser.ask("word by word").await.request_id;
        let last = counted_words(50);
        stage.browser.turn_with(&id, "completed", last.trim()).await;
        let steps = stage.browser.run("return window.__steps").await.as_u64().unwrap_or(0);
        assert!(steps >= 20, "{steps} steps");
        assert_eq!((stage.streams(&id).len(), stage.lookups(&id).len()), (1, 0));
    })
    .await;
}

#[tokio::test]
async fn a_stream_cut_in_mid_text_goes_on_where_it_was() {
    on_stage("a_stream_is_cut", async |stage| {
        let long = counted_words(300);
        stage.line.rule(Rule::on(Route::Events, Fault::CutBody(700)));
        let script = Script::new().delta("the first words ").gate("more").delta(&long);
        stage.mock.next(script.gate("go").words(" and the last").end());
        let id = stage.browser.ask("over a bad line").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.mock.open("more");
        let cut = stage.line.struck(Route::Events).await;
        assert_eq!((cut.ended, cut.relayed.len()), (Some(Fate::Cut), 700));
        assert_eq!(stage.resumes_after(&cut).await, Some("the first words ".len()));
        let held = format!("the first words {long}");
        stage.browser.turn_with(&id, "pending", &held).await;
        stage.mock.open("go");
        let turn = stage.browser.turn_with(&id, "completed", &format!("{held} and the last")).await;
        assert_eq!(turn.text.matches("the first words").count(), 1, "nothing twice: {turn:?}");
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn behind_a_proxy_that_holds_streams_back_text_grows_by_lookups() {
    on_stage("a_buffering_proxy", async |stage| {
        stage.hurry().await;
        stage.line.rule(Rule::on(Route::Events, Fault::HeadThenBlob).always());
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("through a buffer").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        let during = stage.streams(&id).len();
        stage.mock.open("go");
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        assert_eq!(stage.streams(&id).len(), during, "and no stream is tried again");
        let next = stage.browser.ask("and another").await.request_id;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
        assert_eq!(stage.streams(&next).len(), 0, "that is remembered");
        stage.browser.reload().await;
        stage.mock.next(Script::gated("once more ", "again", "from the start"));
        let third = stage.browser.ask("after a reload").await.request_id;
        stage.browser.turn_with(&third, "pending", "once more").await;
        stage.mock.open("again");
        stage.browser.turn_with(&third, "completed", "from the start").await;
        assert_eq!(stage.streams(&third).len(), 0, "over a reload too");
    })
    .await;
}

#[tokio::test]
async fn a_second_tab_sees_the_text_and_stops_it() {
    on_stage("a_second_tab", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "never said"));
        let id = stage.browser.ask("seen from two tabs").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        let first = stage.open_beside(&stage.browser.address().await).await;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.browser.click("Stop").await;
        stage.browser.turn_with(&id, "cancelled", "the first words").await;
        stage.browser.switch_to(&first).await;
        stage.browser.turn_with(&id, "cancelled", "the first words").await;
        stage.mock.wait("the hang-up", |calls| calls[0].client_closed()).await;
        assert_eq!(stage.calls(&id), 1);
    })
    .await;
}

#[tokio::test]
async fn a_tab_hidden_and_seen_twenty_times_has_one_stream() {
    on_stage("hidden_and_seen", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("now you see me").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        for _ in 0..20 {
            stage.look_as_if(false).await;
            stage.look_as_if(true).await;
        }
        let under_way = |all: &[Exchange]| {
            all.iter().filter(|it| it.route == Route::Events && it.ended.is_none()).count()
        };
        stage.line.wait("one stream", |all| under_way(all) == 1).await;
        stage.mock.open("go");
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn a_long_answer_arrives_over_a_line_that_drops_again_and_again() {
    on_stage("a_line_that_drops", async |stage| {
        // Every exchange about it is cut after a part of what it brings.
        stage.line.rule(Rule::on(Route::Events, Fault::CutBody(90_000)).always());
        stage.line.rule(Rule::on(Route::Lookup, Fault::CutBody(40_000)).times(4));
        let paragraph =
            "All work and no play makes a long paragraph in no time. ".repeat(20) + "\n\n";
        let long = paragraph.repeat(700);
        stage.mock.next(Script::new().delta(&long).delta("The very end.").end());
        let id = stage.browser.ask("at length").await.request_id;
        let turn = stage
            .browser
            .wait_for_within(Duration::from_secs(90), "the end of it", async |page| {
                let turns = page.turns().await;
                turns.into_iter().find(|turn| turn.status == "completed")
            })
            .await;
        assert_eq!(turn.request_id, id);
        assert!(turn.text.contains("The very end."));
        assert_eq!(turn.text.matches("All work").count(), 14_000);
        let cut = |it: &&Exchange| it.ended == Some(Fate::Cut);
        let all = [stage.streams(&id), stage.lookups(&id)].concat();
        assert!(all.iter().filter(cut).count() >= 4, "it was cut");
        assert_eq!(stage.calls(&id), 1);
    })
    .await;
}
