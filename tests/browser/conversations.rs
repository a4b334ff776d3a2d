//! A turn belongs to its conversation: several pending, one in view.

use holdfast_tests::mock::Script;
use holdfast_tests::proxy::{Exchange, Fault, Route, Rule};

use crate::stage::{is_long, on_stage};

#[tokio::test]
async fn two_pending_asks_in_two_conversations_are_both_recovered_after_a_reload() {
    on_stage("two_pending", async |stage| {
        stage.mock.on("first", Script::gated("one ", "go", "answer"));
        stage.mock.on("second", Script::gated("two ", "go", "answers"));
        let first = stage.browser.ask("the first one").await.request_id;
        stage.browser.turn_with(&first, "pending", "one").await;
        let first_address = stage.browser.address().await;
        stage.browser.click("New chat").await;
        stage
            .browser
            .wait_for("an empty conversation", async |page| {
                page.turns().await.is_empty().then_some(())
            })
            .await;
        let second = stage.browser.ask("the second one").await.request_id;
        stage.browser.turn_with(&second, "pending", "two").await;
        assert_ne!(stage.browser.address().await, first_address);
        assert_eq!(stage.browser.pointers().await.len(), 2);

        stage.browser.reload().await;
        stage.browser.turn_with(&second, "pending", "two").await;
        assert_eq!(stage.browser.turns().await.len(), 1, "nothing of the other one here");
        stage.mock.open("go");
        stage.browser.turn_with(&second, "completed", "two answers").await;
        stage.browser.no_pointers().await;
        stage.browser.open(&first_address).await;
        let turn = stage.browser.turn_with(&first, "completed", "one answer").await;
        assert!(!turn.text.contains("two"));
        for id in [&first, &second] {
            assert_eq!((stage.submissions(id).len(), stage.calls(id)), (1, 1));
        }
        assert_at_most_one_long_exchange(&stage.line.exchanges());
    })
    .await;
}

/// § 11: one stream or long poll per tab at a time. The test above has one tab.
fn assert_at_most_one_long_exchange(exchanges: &[Exchange]) {
    let long: Vec<_> = exchanges.iter().filter(|it| is_long(it)).collect();
    assert!(!long.is_empty(), "the page does wait for answers");
    for (index, one) in long.iter().enumerate() {
        for other in &long[index + 1..] {
            let end = one.ended_after.map(|after| one.began + after);
            // An abort reaches the line a moment after the page has begun the next exchange.
            let overlap =
                end.map_or(u128::MAX, |end| end.saturating_duration_since(other.began).as_millis());
            assert!(overlap < 300, "{one:?} and {other:?} overlap by {overlap} ms");
        }
    }
}

#[tokio::test]
async fn a_conversation_that_is_left_and_opened_again_is_still_being_answered() {
    on_stage("left_and_opened_again", async |stage| {
        stage.mock.on("slow", Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("a slow one").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        stage.browser.click("New chat").await;
        let other = stage.browser.ask("meanwhile").await.request_id;
        stage.browser.turn_with(&other, "completed", "The answer to").await;
        assert!(!stage.browser.can_press("Stop").await, "nothing runs in this conversation");
        stage.browser.back().await;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        assert!(stage.browser.can_press("Stop").await);
        stage.mock.open("go");
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        assert!(stage.browser.turns().await.iter().all(|turn| turn.request_id == id));
        stage.browser.no_pointers().await;
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_comes_while_another_conversation_is_in_view_stays_out_of_it() {
    on_stage("stays_out_of_another", async |stage| {
        stage.mock.on("elsewhere", Script::answer("the answer from elsewhere"));
        stage.line.rule(Rule::on(Route::Ask, Fault::HoldReply("go".into())));
        let id = stage.browser.ask("asked elsewhere").await.request_id;
        stage.called(&id).await;
        let address = stage.browser.address().await;
        stage.browser.click("New chat").await;
        let other = stage.browser.ask("asked here").await.request_id;
        stage.line.open("go");
        stage.browser.turn_with(&other, "completed", "The answer to").await;
        stage.browser.no_pointers().await;
        let turns = stage.browser.turns().await;
        assert_eq!(turns.len(), 1);
        assert!(!turns[0].text.contains("elsewhere"));
        stage.browser.open(&address).await;
        stage.browser.turn_with(&id, "completed", "the answer from elsewhere").await;
        assert_eq!(stage.browser.turns().await.len(), 1);
    })
    .await;
}
