//! Something else answers in Holdfast's place: gateways, portals, other servers. And Holdfast's own
//! refusals, which are the only ones.

use holdfast_tests::mock::Script;
use holdfast_tests::proxy::{Fault, Reply, Route, Rule};

use crate::stage::{Stage, on_stage};

/// Asks with another reply in place of Holdfast's, which was asked or not, and expects the answer all
/// the same.
async fn survives(stage: &mut Stage, reply: Reply, forwarded: bool) {
    let fault = if forwarded { Fault::Replace(reply) } else { Fault::Instead(reply) };
    let question = format!("question {}", stage.mock.calls().len());
    stage.line.rule(Rule::on(Route::Ask, fault.clone()).containing(&question));
    stage.mock.next(Script::answer("a true answer"));
    stage.browser.write(&question).await;
    stage.browser.click("Send").await;
    let id = stage.browser.turn_of(&question).await.request_id;
    let turn = stage.browser.turn_with(&id, "completed", "a true answer").await;
    assert!(!turn.text.contains("nginx"), "a gateway's page is no answer: {}", turn.text);
    let submissions = stage.submissions(&id);
    assert_eq!(submissions[0].fault.as_ref(), Some(&fault));
    assert_eq!(submissions.len(), if forwarded { 1 } else { 2 }, "{fault:?}");
    assert_eq!(stage.calls(&id), 1, "{fault:?}");
}

#[tokio::test]
async fn a_gateways_error_page_is_an_unknown_outcome_whether_the_ask_arrived_or_not() {
    on_stage("a_gateways_error_page", async |stage| {
        for status in [502, 503, 504, 500, 520, 524] {
            survives(stage, Reply::html(status), true).await;
        }
        survives(stage, Reply::html(502), false).await;
        survives(stage, Reply::html(504), false).await;
    })
    .await;
}

#[tokio::test]
async fn another_servers_json_is_an_unknown_outcome() {
    on_stage("another_servers_json", async |stage| {
        for status in [502, 503, 504] {
            let foreign = Reply::problem(status, "upstream_broken", "Not Holdfast's code.");
            survives(stage, foreign, true).await;
            let bare = Reply::new(status, "application/json", r#"{"error": "upstream"}"#);
            survives(stage, bare, true).await;
        }
        // Four hundred and something, but in nobody's words known here.
        survives(stage, Reply::problem(403, "waf_blocked", "No."), true).await;
        survives(stage, Reply::html(404), true).await;
    })
    .await;
}

#[tokio::test]
async fn a_200_that_carries_no_outcome_of_this_ask_is_an_unknown_outcome() {
    on_stage("a_200_without_an_outcome", async |stage| {
        survives(stage, Reply::html(200), true).await;
        survives(stage, Reply::new(200, "application/json", "{}"), true).await;
        survives(stage, Reply::new(200, "application/json", "{\"request_id\": \"0"), true).await;
        let foreign = r#"{"request_id": "018f2b6e-7c11-7cc3-9d5a-0123456789ab",
            "conversation_id": "018f2b6e-7c11-7cc3-9d5a-0123456789ac", "status": "completed",
            "question": "another's", "answer": {"format": "markdown", "text": "another's answer"}}"#;
        survives(stage, Reply::new(200, "application/json", foreign), true).await;
        let turns = stage.browser.turns().await;
        assert!(turns.iter().all(|turn| !turn.text.contains("another's")));
        let elsewhere = Reply::new(302, "text/html", "").header("Location", "/login");
        survives(stage, elsewhere, true).await;
    })
    .await;
}

#[tokio::test]
async fn a_server_that_asks_to_wait_gets_the_same_ask_again_after_that_time() {
    on_stage("a_server_that_asks_to_wait", async |stage| {
        for reply in [
            Reply::problem(503, "starting", "Starting."),
            Reply::problem(503, "shutting_down", "Shutting down."),
            Reply::problem(503, "archive_unavailable", "The archive cannot be reached."),
            Reply::problem(429, "rate_limited", "Too many."),
            Reply::html(429),
            Reply::html(503),
        ] {
            survives(stage, reply.header("Retry-After", "1"), false).await;
            let asks = stage.line.exchanges_on(Route::Ask);
            let [.., first, second] = asks.as_slice() else { panic!("two submissions") };
            let between = second.began - first.began;
            assert!(between.as_millis() >= 1000, "not before its time: {between:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_refusal_gives_the_question_back_and_drops_the_pointer() {
    on_stage("a_refusal", async |stage| {
        let refusal = Reply::problem(400, "invalid_field", "The model is none of this server's.");
        stage.line.rule(Rule::on(Route::Ask, Fault::Instead(refusal)));
        let turn = stage.browser.ask("to be refused").await;
        let id = turn.request_id;
        let sentence = "The model is none of this server's.";
        stage.browser.turn_with(&id, "refused", sentence).await;
        stage.browser.no_pointers().await;
        assert_eq!(stage.browser.composer().await, "to be refused");
        assert!(stage.browser.turns().await.iter().all(|turn| turn.status != "pending"));
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 0));

        // Sent once more, it is another ask.
        stage.browser.click("Send").await;
        let again = stage
            .browser
            .wait_for("the answer", async |page| {
                page.turns().await.into_iter().find(|turn| turn.status == "completed")
            })
            .await;
        assert_ne!(again.request_id, id);
        assert_eq!(stage.calls(&again.request_id), 1);
    })
    .await;
}

#[tokio::test]
async fn a_refusal_while_something_else_is_being_written_keeps_both() {
    on_stage("a_refusal_keeps_both", async |stage| {
        let budget = Reply::problem(429, "budget_exhausted", "The budget is spent.");
        stage.line.rule(Rule::on(Route::Ask, Fault::HoldRequest("go".into())));
        let turn = stage.browser.ask("to be refused").await;
        stage.browser.write("the next one").await;
        // What comes instead is decided when the first is let go: cut, looked up, and then refused.
        stage.line.rule(Rule::on(Route::Ask, Fault::Instead(budget)));
        stage.line.rule(Rule::on(Route::Lookup, Fault::DelayRequest(std::time::Duration::ZERO)));
        stage.cut_all().await;
        stage.browser.turn_with(&turn.request_id, "refused", "The budget is spent.").await;
        assert_eq!(stage.browser.composer().await, "the next one");
        assert!(stage.browser.text().await.contains("to be refused"));
        stage.browser.no_pointers().await;
        assert_eq!(stage.calls(&turn.request_id), 0);
    })
    .await;
}

#[tokio::test]
async fn a_question_that_needs_a_sign_in_is_kept_and_goes_out_under_the_same_id_after_it() {
    on_stage("needs_a_sign_in", async |stage| {
        let nobody = Reply::problem(401, "sign_in_required", "Nobody is signed in.");
        for route in [Route::Ask, Route::Lookup, Route::Session] {
            stage.line.rule(Rule::on(route, Fault::Instead(nobody.clone())).always());
        }
        let turn = stage.browser.ask("asked signed out").await;
        let id = turn.request_id;
        stage.browser.see("Nobody is signed in. Your questions are kept until you are.").await;
        let turn = stage.browser.turn_of("Sign in to go on").await;
        assert_eq!(turn.request_id, id);
        assert!(stage.browser.pointers().await.contains_key(&id));
        stage.browser.reload().await;
        stage.browser.turn_of("asked signed out").await;
        assert!(stage.browser.pointers().await.contains_key(&id), "over a reload too");
        assert_eq!(stage.submissions(&id).len(), 1, "and it is not sent in vain");
        stage.line.clear_rules();
        // They come back from wherever one signs in.
        stage.look_as_if(false).await;
        stage.look_as_if(true).await;
        stage.browser.turn_with(&id, "completed", "The answer to").await;
        stage.browser.no_pointers().await;
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (2, 1));
        assert!(!stage.browser.text().await.contains("Nobody is signed in"));
    })
    .await;
}
