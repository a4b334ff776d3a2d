//! The page goes and comes back: reload, back and forward, other tabs.

use holdfast_tests::mock::Script;
use holdfast_tests::proxy::{Fault, Route, Rule};

use crate::stage::on_stage;

#[tokio::test]
async fn a_reload_while_an_answer_is_pending_loses_nothing() {
    on_stage("a_reload_while_pending", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("reloaded").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        for _ in 0..3 {
            stage.browser.reload().await;
            let turn = stage.browser.turn_with(&id, "pending", "the first words").await;
            assert!(turn.text.contains("reloaded"), "the question stands in its place");
        }
        stage.mock.open("go");
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        stage.browser.no_pointers().await;
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));

        // Asking after a reload is like asking without one.
        let next = stage.browser.ask("and the next").await;
        stage.browser.turn_with(&next.request_id, "completed", "The answer to").await;
        assert_eq!(stage.browser.turns().await.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn the_question_is_on_screen_at_once_after_a_reload_even_while_the_server_is_silent() {
    on_stage("the_question_at_once", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("here I am").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        for route in [Route::Session, Route::Lookup, Route::Conversation] {
            stage.line.rule(Rule::on(route, Fault::HoldRequest("go".into())).always());
        }
        stage.browser.reload().await;
        let turn = stage.browser.turn_of("here I am").await;
        assert_eq!(turn.request_id, id);
        // Nobody knows yet, and the page says no more than that; and it can be asked and stopped.
        stage
            .line
            .wait("a lookup", |_| stage.lookups(&id).iter().any(|it| it.ended.is_none()))
            .await;
        let turn = stage.browser.turn_with(&id, "unknown", "Checking whether").await;
        assert!(!turn.text.contains("Ask again"), "{turn:?}");
        assert!(stage.browser.can_press("Send").await && stage.browser.can_press("Stop").await);
        assert!(stage.line.exchanges().iter().any(|it| it.fault.is_some() && it.ended.is_none()));
        stage.line.clear_rules();
        stage.line.open("go");
        stage.mock.open("go");
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
    })
    .await;
}

#[tokio::test]
async fn a_reload_before_the_ask_is_accepted_sends_it_again_under_the_same_id() {
    on_stage("a_reload_before_accept", async |stage| {
        stage.line.rule(Rule::on(Route::Ask, Fault::HoldRequest("never".into())));
        let id = stage.browser.ask("reloaded too early").await.request_id;
        stage.line.wait("the ask held", |all| all.iter().any(|it| it.fault.is_some())).await;
        stage.browser.reload().await;
        stage.browser.turn_with(&id, "completed", "The answer to").await;
        assert_eq!(stage.calls(&id), 1);
        assert!(stage.submissions(&id).len() >= 2);
        stage.browser.no_pointers().await;
    })
    .await;
}

#[tokio::test]
async fn a_tab_that_is_closed_before_accept_offers_its_question_back_in_a_new_one() {
    on_stage("closed_before_accept", async |stage| {
        stage.line.rule(Rule::on(Route::Ask, Fault::CutInRequest).always());
        stage.line.rule(Rule::on(Route::Lookup, Fault::CutBeforeForward).always());
        let id = stage.browser.ask("written in a closed tab").await.request_id;
        stage.line.struck(Route::Ask).await;
        stage.leave_for_a_new_tab().await;
        stage.line.clear_rules();
        stage.browser.open(&stage.line.url()).await;
        stage.browser.see("written in a closed tab").await;
        stage.browser.see("never sent").await;
        // Offered, and not sent unasked.
        let before = stage.submissions(&id).len();
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        assert_eq!(stage.submissions(&id).len(), before);
        assert_eq!(stage.mock.calls().len(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_conversation_opened_in_another_tab_shows_its_answer_there_too() {
    on_stage("another_tab", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("seen from two tabs").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        let first = stage.open_beside(&stage.browser.address().await).await;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        assert!(stage.browser.can_press("Stop").await, "and Stop works there");
        stage.mock.open("go");
        let whole = "the first words and the last";
        stage.browser.turn_with(&id, "completed", whole).await;
        stage.browser.switch_to(&first).await;
        stage.browser.turn_with(&id, "completed", whole).await;
        stage.browser.no_pointers().await;
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn back_and_forward_over_another_page_lose_nothing() {
    on_stage("back_and_forward", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("gone and back").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.browser.open("data:text/html,elsewhere").await;
        stage.mock.open("go");
        stage.mock.wait("its end", |calls| calls[0].ended.is_some()).await;
        stage.browser.back().await;
        let whole = "the first words and the last";
        stage.browser.turn_with(&id, "completed", whole).await;
        stage.browser.no_pointers().await;
        stage.browser.forward().await;
        stage.browser.back().await;
        stage.browser.turn_with(&id, "completed", whole).await;
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn a_draft_that_was_not_sent_is_there_after_a_reload() {
    on_stage("a_draft", async |stage| {
        stage.browser.write("half a thought").await;
        stage.browser.reload().await;
        stage.ready().await;
        assert_eq!(stage.browser.composer().await, "half a thought");
        assert!(stage.mock.calls().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_pointer_older_than_seven_days_is_dropped_aloud_and_only_after_an_answer() {
    on_stage("an_old_pointer", async |stage| {
        // A pointer of this principal, as it would be if its ask had never arrived.
        let session = stage.line.exchanges_on(Route::Session)[0].reply().unwrap();
        let owner = &session["owner"];
        let id = "018f2b6e-7c11-7cc3-9d5a-0123456789ab";
        let conversation = "018f2b6e-7c11-7cc3-9d5a-0123456789ac";
        let plant = format!(
            "const asked = new Date(Date.now() - 8 * 86400e3).toISOString();
             const ask = {{request_id: '{id}', conversation_id: '{conversation}', question: 'long ago'}};
             sessionStorage.setItem('holdfast.pending', JSON.stringify([{{
                 request_id: '{id}', conversation_id: '{conversation}', question: 'long ago',
                 asked_at: asked, owner: {owner}, ask}}]));"
        );
        stage.browser.run(&plant).await;
        stage.line.rule(Rule::on(Route::Lookup, Fault::CutBeforeForward).always());
        stage.browser.reload().await;
        stage.line.wait("two failures", |all| {
            all.iter().filter(|it| it.route == Route::Lookup && it.fault.is_some()).count() >= 2
        }).await;
        assert!(stage.browser.pointers().await.contains_key(id), "nobody has answered yet");
        stage.line.clear_rules();
        stage.browser.no_pointers().await;
        stage.browser.see("seven days").await;
        let offered = stage.browser.composer().await == "long ago"
            || stage.browser.text().await.contains("long ago");
        assert!(offered, "the question is offered back");
        assert!(stage.line.exchanges_on(Route::Ask).is_empty());
    })
    .await;
}
