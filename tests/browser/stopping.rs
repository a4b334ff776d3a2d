//! Stop, in every state: it is a command to the server, and it survives whatever the line does.

use holdfast_tests::browser::Role;
use holdfast_tests::mock::{Script, Step};
use holdfast_tests::proxy::{Fault, Line, Route, Rule};

use crate::stage::{Stage, on_stage};

/// Waits until the provider was hung up on for an ask.
async fn hung_up(stage: &Stage, id: &str) {
    stage
        .mock
        .wait("the hang-up", |calls| {
            calls.iter().any(|call| call.key.as_deref() == Some(id) && call.client_closed())
        })
        .await;
}

#[tokio::test]
async fn stop_before_the_first_byte_reaches_the_provider() {
    on_stage("stop_before_the_first_byte", async |stage| {
        stage.mock.next(Script::hang());
        let id = stage.browser.ask("to be stopped").await.request_id;
        stage.called(&id).await;
        stage.browser.click("Stop").await;
        stage.browser.turn_when("cancelled", &id, |turn| turn.status == "cancelled").await;
        hung_up(stage, &id).await;
        stage.browser.no_pointers().await;
        let next = stage.browser.ask("and on").await;
        stage.browser.turn_with(&next.request_id, "completed", "The answer to").await;
    })
    .await;
}

#[tokio::test]
async fn stop_in_mid_answer_keeps_what_was_written() {
    on_stage("stop_in_mid_answer", async |stage| {
        stage.mock.next(Script::new().words("the first words ").then(Step::Hang));
        let id = stage.browser.ask("to be stopped").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.browser.click("Stop").await;
        stage.browser.turn_with(&id, "cancelled", "the first words").await;
        hung_up(stage, &id).await;
        assert!(!stage.browser.can_press("Stop").await);
    })
    .await;
}

#[tokio::test]
async fn what_is_asked_right_after_stop_sees_what_was_written_until_then() {
    on_stage("asked_right_after_stop", async |stage| {
        stage.mock.next(Script::new().words("the first words ").then(Step::Hang));
        let id = stage.browser.ask("to be stopped").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        // Stop is slow on its way, and the question overtakes it.
        stage.line.rule(Rule::on(Route::Cancel, Fault::HoldRequest("go".into())));
        stage.browser.click("Stop").await;
        let next = stage.browser.ask("right after it").await.request_id;
        stage
            .line
            .wait("the next one", |_| {
                stage.submissions(&next).iter().any(|it| it.status == Some(202))
            })
            .await;
        assert_eq!(stage.calls(&next), 0, "it waits for what is being stopped");
        stage.line.open("go");
        stage.browser.turn_with(&id, "cancelled", "the first words").await;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
        hung_up(stage, &id).await;
        let told = stage.mock.calls_of(&next)[0].messages();
        assert!(told.iter().any(|(_, text)| text.contains("the first words")), "{told:?}");
        stage.browser.reload().await;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
        let turns = stage.browser.turns().await;
        let order: Vec<_> = turns.iter().map(|turn| turn.request_id.as_str()).collect();
        assert_eq!(order, [id.as_str(), next.as_str()]);
    })
    .await;
}

#[tokio::test]
async fn stop_while_the_model_thinks_keeps_its_thoughts_and_says_that_it_was_called() {
    on_stage("stop_while_it_thinks", async |stage| {
        stage.mock.next(Script::new().reasoning("Let me see. ").then(Step::Hang));
        let id = stage.browser.ask("think for long").await.request_id;
        stage.browser.turn_with(&id, "pending", "Thinking").await;
        stage.browser.click("Stop").await;
        stage.browser.turn_with(&id, "cancelled", "Stopped.").await;
        hung_up(stage, &id).await;
        for _ in 0..2 {
            let open =
                "document.querySelectorAll('article details').forEach(it => { it.open = true })";
            stage.browser.run(open).await;
            let turn = stage.browser.turn_with(&id, "cancelled", "Let me see.").await;
            assert!(turn.text.contains("Model calls\n1\n"), "it may cost: {}", turn.text);
            stage.browser.reload().await;
            stage.browser.turn_with(&id, "cancelled", "Stopped.").await;
        }
        let next = stage.browser.ask("and on").await;
        stage.browser.turn_with(&next.request_id, "completed", "The answer to").await;
    })
    .await;
}

#[tokio::test]
async fn stop_before_the_ask_is_accepted_keeps_it_from_ever_running() {
    on_stage("stop_before_accept", async |stage| {
        stage.line.rule(Rule::on(Route::Ask, Fault::LateRequest("go".into())));
        let id = stage.browser.ask("stopped on its way").await.request_id;
        stage.line.wait("the ask held", |all| all.iter().any(|it| it.fault.is_some())).await;
        stage.browser.click("Stop").await;
        stage.browser.turn_when("cancelled", &id, |turn| turn.status == "cancelled").await;
        stage.browser.no_pointers().await;
        let cancels = stage.line.exchanges_on(Route::Cancel);
        assert_eq!(cancels.last().and_then(|it| it.upstream_status), Some(200));

        // And now, after its cancel, it arrives: nobody waits for it any more.
        stage.line.open("go");
        stage
            .line
            .wait("the late ask", |all| {
                all.iter().any(|it| it.fault.is_some() && it.upstream_status == Some(200))
            })
            .await;
        let outcome = stage.outcome(&id).await;
        assert_eq!(outcome["status"], "cancelled");
        assert_eq!(outcome["question"], "stopped on its way");
        assert_eq!(stage.calls(&id), 0);
    })
    .await;
}

#[tokio::test]
async fn stop_on_a_dead_line_is_kept_over_a_reload_and_carried_out_when_the_line_is_back() {
    on_stage("stop_on_a_dead_line", async |stage| {
        stage.mock.next(Script::new().words("the first words ").then(Step::Hang));
        let id = stage.browser.ask("to be stopped").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.line.line(Line::Cut);
        stage.browser.click("Stop").await;
        stage
            .browser
            .wait_for("the pointer says so", async |page| {
                let pointers = page.pointers().await;
                (pointers.get(&id)?["cancel"] == true).then_some(())
            })
            .await;
        // The document itself must come; everything the page then asks for does not.
        stage.line.line(Line::Up);
        for route in [Route::Cancel, Route::Lookup, Route::Session, Route::Conversation] {
            stage.line.rule(Rule::on(route, Fault::CutBeforeForward).times(2));
        }
        stage.browser.reload().await;
        stage.browser.turn_when("cancelled", &id, |turn| turn.status == "cancelled").await;
        hung_up(stage, &id).await;
        stage.browser.no_pointers().await;
        assert_eq!(stage.submissions(&id).len(), 1, "what was stopped is never sent again");
        let cancels = stage.line.exchanges_on(Route::Cancel);
        assert!(cancels.iter().any(|it| it.upstream_status == Some(200)));
    })
    .await;
}

#[tokio::test]
async fn stop_of_an_ask_that_never_arrived_is_recorded_and_not_sent_again() {
    on_stage("stop_of_an_ask_that_never_arrived", async |stage| {
        stage.line.rule(Rule::on(Route::Ask, Fault::CutBeforeForward).always());
        stage.line.rule(Rule::on(Route::Lookup, Fault::CutBeforeForward).always());
        let id = stage.browser.ask("stopped before it arrived").await.request_id;
        stage.line.struck(Route::Lookup).await;
        stage.browser.click("Stop").await;
        stage.browser.turn_when("cancelled", &id, |turn| turn.status == "cancelled").await;
        stage.browser.no_pointers().await;
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 0));
    })
    .await;
}

#[tokio::test]
async fn stop_after_a_reload_works_as_before() {
    on_stage("stop_after_a_reload", async |stage| {
        stage.mock.next(Script::new().words("the first words ").then(Step::Hang));
        let id = stage.browser.ask("to be stopped").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.browser.reload().await;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.browser.click("Stop").await;
        stage.browser.turn_with(&id, "cancelled", "the first words").await;
        hung_up(stage, &id).await;
    })
    .await;
}

#[tokio::test]
async fn stop_while_offline_gives_the_question_back_and_it_never_leaves() {
    on_stage("stop_while_offline", async |stage| {
        stage.browser.offline(true).await;
        let id = stage.browser.ask("on second thoughts").await.request_id;
        stage.browser.turn_when("queued", &id, |turn| turn.status == "queued").await;
        stage.browser.click("Stop").await;
        stage.browser.no_pointers().await;
        let field = stage.browser.control(Role::Textbox, "Question").await;
        let back = field.prop("value").await.unwrap();
        assert_eq!(back.as_deref(), Some("on second thoughts"), "it can be asked differently");
        assert!(stage.browser.turns().await.is_empty());
        stage.browser.offline(false).await;
        field.clear().await.unwrap();
        let next = stage.browser.ask("another").await.request_id;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
        assert_eq!((stage.submissions(&id).len(), stage.mock.calls().len()), (0, 1));
    })
    .await;
}
