//! An answer under way is taken up again where it was: the stream that comes too late, ends too early,
//! or is not to be had; and whatever else is being loaded meanwhile.

use std::time::Duration;

use holdfast_tests::mock::{Script, counted_words};
use holdfast_tests::proxy::{Exchange, Fate, Fault, Reply, Route, Rule};

use crate::stage::on_stage;

const WHOLE: &str = "the first words and the last";

fn gated() -> Script {
    Script::gated("the first words ", "go", "and the last")
}

#[tokio::test]
async fn an_answer_that_ends_before_its_stream_is_attached_is_shown_whole() {
    on_stage("ends_before_its_stream", async |stage| {
        stage.line.rule(Rule::on(Route::Events, Fault::HoldRequest("late".into())));
        stage.mock.next(Script::answer(WHOLE));
        let id = stage.browser.ask("answered at once").await.request_id;
        stage.mock.wait("its end", |calls| calls.iter().any(|it| it.ended.is_some())).await;
        stage.line.wait("the stream held", |all| all.iter().any(|it| it.fault.is_some())).await;
        stage.browser.turn_with(&id, "pending", "answered at once").await;
        stage.line.open("late");
        stage.browser.turn_with(&id, "completed", WHOLE).await;
        stage.browser.no_pointers().await;
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_jumps_means_that_the_machine_slept_and_the_answer_is_looked_up_at_once() {
    on_stage("a_clock_that_jumps", async |stage| {
        stage.line.rule(Rule::on(Route::Events, Fault::HoldRequest("never".into())).always());
        stage.mock.next(gated());
        let id = stage.browser.ask("sleep over it").await.request_id;
        stage.line.wait("the stream held", |all| all.iter().any(|it| it.fault.is_some())).await;
        stage.mock.open("go");
        stage.mock.wait("its end", |calls| calls.iter().any(|it| it.ended.is_some())).await;
        let jump = "const now = Date.now; Date.now = () => now() + 3600e3";
        stage.browser.run(jump).await;
        // Nothing but the clock tells: a silent stream would be given up after ten seconds.
        stage
            .browser
            .wait_for_within(Duration::from_secs(5), "the answer", async |page| {
                page.turns().await.into_iter().find(|turn| turn.status == "completed")
            })
            .await;
        assert!(!stage.lookups(&id).is_empty());

        // And it is as ready as before it slept.
        stage.line.clear_rules();
        let next = stage.browser.ask("and on").await.request_id;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_ends_cleanly_in_mid_answer_is_no_end_and_is_taken_up_where_it_was() {
    on_stage("a_clean_end_in_mid_answer", async |stage| {
        let long = counted_words(300);
        stage.line.rule(Rule::on(Route::Events, Fault::EndBody(700)));
        let script = Script::new().delta("the first words ").gate("more").delta(&long);
        stage.mock.next(script.gate("go").words(" and the last").end());
        let id = stage.browser.ask("cut short politely").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.mock.open("more");
        let cut = stage.line.struck(Route::Events).await;
        assert_eq!((cut.ended, cut.relayed.len()), (Some(Fate::Relayed), 700), "a clean end");
        assert_eq!(stage.resumes_after(&cut).await, Some("the first words ".len()));
        let held = format!("the first words {long}");
        let turn = stage.browser.turn_with(&id, "pending", &held).await;
        assert!(stage.browser.can_press("Stop").await, "it is still being answered: {turn:?}");
        stage.mock.open("go");
        let turn = stage.browser.turn_with(&id, "completed", &format!("{held} and the last")).await;
        assert_eq!(turn.text.matches("the first words").count(), 1, "nothing twice: {turn:?}");
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn where_streams_are_refused_the_answer_comes_by_lookups() {
    on_stage("streams_are_refused", async |stage| {
        stage.hurry().await;
        for (number, reply) in [
            Reply::html(502),
            Reply::new(204, "text/plain", ""),
            Reply::problem(409, "stream_not_active", "It is not active."),
            Reply::problem(400, "invalid_offset", "It can no longer be streamed."),
        ]
        .into_iter()
        .enumerate()
        {
            stage.line.rule(Rule::on(Route::Events, Fault::Instead(reply.clone())).always());
            let gate = format!("go{number}");
            stage.mock.next(Script::gated("the first words ", &gate, "and the last"));
            let id = stage.browser.ask(&format!("question {number}")).await.request_id;
            let turn = stage.browser.turn_with(&id, "pending", "the first words").await;
            assert!(!turn.text.contains("nginx") && !turn.text.contains("streamed"), "{turn:?}");
            stage.mock.open(&gate);
            stage.browser.turn_with(&id, "completed", WHOLE).await;
            assert!(!stage.streams(&id).is_empty() && !stage.lookups(&id).is_empty(), "{reply:?}");
            assert!(stage.streams(&id).len() < 10, "no hot loop: {reply:?}");
            assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
            stage.line.clear_rules();
        }
    })
    .await;
}

#[tokio::test]
async fn a_long_answer_that_is_half_there_is_shown_whole_after_a_reload() {
    on_stage("half_there", async |stage| {
        let paragraph =
            "All work and no play makes a long paragraph in no time. ".repeat(20) + "\n\n";
        let half = paragraph.repeat(250);
        assert!(half.len() > 4 * 64 * 1024, "more than a few pages of a replay");
        let script = Script::new().delta(&half).delta("The middle. ").gate("go");
        stage.mock.next(script.delta("The very end.").end());
        let id = stage.browser.ask("at length").await.request_id;
        stage.browser.turn_with(&id, "pending", "The middle.").await;
        stage.browser.reload().await;
        let turn = stage.browser.turn_with(&id, "pending", "The middle.").await;
        assert_eq!(turn.text.matches("All work").count(), 5_000, "all of it, once");
        stage.mock.open("go");
        let turn = stage.browser.turn_with(&id, "completed", "The very end.").await;
        assert_eq!(turn.text.matches("All work").count(), 5_000);
    })
    .await;
}

#[tokio::test]
async fn a_question_asked_while_the_page_still_loads_goes_out_and_no_answer_mixes_with_another() {
    on_stage("asked_while_it_loads", async |stage| {
        stage.mock.next(gated());
        let first = stage.browser.ask("the first one").await.request_id;
        stage.browser.turn_with(&first, "pending", "the first words").await;
        stage.line.rule(Rule::on(Route::Session, Fault::HoldRequest("session".into())).always());
        stage.line.rule(Rule::on(Route::Conversation, Fault::HoldReply("rest".into())).always());
        stage.browser.reload().await;
        // Nothing has said anything yet, and the composer takes a question all the same.
        stage.mock.next(Script::answer("something else altogether"));
        let second = stage.browser.ask("the second one").await.request_id;
        stage.browser.turn_with(&second, "queued", "the second one").await;
        assert!(stage.browser.pointers().await.contains_key(&second));
        stage.line.open("session");
        stage.line.wait("the second one", |_| !stage.submissions(&second).is_empty()).await;
        stage.mock.open("go");
        stage.browser.turn_with(&first, "completed", WHOLE).await;
        stage.browser.turn_with(&second, "completed", "something else altogether").await;
        stage.line.open("rest");
        let loaded = |it: &Exchange| {
            it.route == Route::Conversation && it.target.contains("/conversations/")
        };
        stage
            .line
            .wait("the conversation", |all| {
                all.iter().any(|it| loaded(it) && it.fault.is_some() && it.ended.is_some())
            })
            .await;
        for _ in 0..2 {
            let turns = stage.browser.turns().await;
            let ids: Vec<_> = turns.iter().map(|turn| turn.request_id.as_str()).collect();
            assert_eq!(ids, [first.as_str(), second.as_str()]);
            assert!(!turns[0].text.contains("altogether") && !turns[1].text.contains("words"));
            assert_eq!(turns[0].text.matches("the first words").count(), 1, "{turns:?}");
            stage.line.clear_rules();
            stage.browser.reload().await;
            stage.browser.turn_with(&second, "completed", "something else altogether").await;
        }
        assert_eq!([&first, &second].map(|id| stage.submissions(id).len()), [1, 1]);
    })
    .await;
}
