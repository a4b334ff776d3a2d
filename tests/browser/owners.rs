//! Pointers carry whose they are: another archive is asked and never paid again, another principal's
//! are left alone.

use holdfast_tests::mock::{MockProvider, Script, Step};
use holdfast_tests::proxy::{Fault, Reply, Route, Rule};
use holdfast_tests::server::Start;

use crate::stage::{Stage, on_stage};

/// The session as it came over the line, with an owner made from its principal and its archive.
fn with_owner(stage: &Stage, owner: impl Fn(&str, &str) -> String) -> Reply {
    let mut session = stage.line.exchanges_on(Route::Session)[0].reply().unwrap();
    let (principal, archive) = session["owner"].as_str().unwrap().split_once('.').unwrap();
    session["owner"] = owner(principal, archive).into();
    Reply::new(200, "application/json", session.to_string())
}

#[tokio::test]
async fn an_ask_of_another_archive_is_looked_up_and_never_sent_again() {
    on_stage("another_archive", async |stage| {
        stage.mock.next(Script::new().words("the first words ").then(Step::Hang));
        let id = stage.browser.ask("asked of the old archive").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        // The same principal, but another archive answers: an older backup was restored.
        let mock = MockProvider::start().await.unwrap();
        let other = Start::with_mock(&mock).start().await;
        stage.line.point_at(other.address());
        let session = with_owner(stage, |principal, _| format!("{principal}.anotherarchive"));
        stage.line.rule(Rule::on(Route::Session, Fault::Instead(session)).always());
        stage.browser.reload().await;
        stage.browser.see("paid for").await;
        let turn = stage.browser.turn_of("asked of the old archive").await;
        assert_eq!(turn.request_id, id);
        assert!(
            stage
                .lookups(&id)
                .iter()
                .any(|it| { it.reply().is_some_and(|reply| reply["state"] == "unknown") })
        );
        assert_eq!(stage.submissions(&id).len(), 1, "never sent again by itself");
        assert!(mock.calls().is_empty());
        assert!(stage.browser.pointers().await.contains_key(&id), "kept until a person decides");
    })
    .await;
}

#[tokio::test]
async fn a_pointer_of_another_principal_is_neither_looked_up_nor_sent_nor_shown() {
    on_stage("another_principal", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("a private question").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        let session = with_owner(stage, |_, archive| format!("somebodyelse.{archive}"));
        stage.line.rule(Rule::on(Route::Session, Fault::Instead(session)).always());
        let missing = Reply::problem(404, "conversation_not_found", "There is none.");
        stage.line.rule(Rule::on(Route::Conversation, Fault::Instead(missing)).always());
        stage.browser.reload().await;
        stage.ready().await;
        stage.line.struck(Route::Session).await;
        stage
            .browser
            .wait_for("the question gone", async |page| {
                (!page.text().await.contains("a private question")).then_some(())
            })
            .await;
        // What must not happen is given the time to.
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        let exchanges = stage.line.exchanges();
        let session = exchanges.iter().find(|it| it.fault.is_some() && it.route == Route::Session);
        // Until the session was there, the page took itself for the one it was before.
        let known = session.and_then(|it| Some(it.began + it.ended_after?)).unwrap();
        let late = exchanges.iter().filter(|it| it.began > known);
        let late: Vec<_> = late.filter(|it| it.request_id().as_deref() == Some(&id)).collect();
        assert!(late.is_empty(), "{late:#?}");
        assert!(!stage.browser.text().await.contains("a private question"));
        assert!(stage.browser.pointers().await.contains_key(&id), "kept until they are back");

        // They are back.
        stage.line.clear_rules();
        stage.mock.open("go");
        stage.browser.reload().await;
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        stage.browser.no_pointers().await;
    })
    .await;
}

#[tokio::test]
async fn a_new_data_folder_is_somebody_else() {
    on_stage("a_new_data_folder", async |stage| {
        stage.mock.next(Script::new().words("the first words ").then(Step::Hang));
        let id = stage.browser.ask("asked before the data was lost").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        let mock = MockProvider::start().await.unwrap();
        let other = Start::with_mock(&mock).start().await;
        stage.line.point_at(other.address());
        stage.browser.reload().await;
        stage.browser.see("no such conversation").await;
        stage.browser.click("New chat").await;
        let next = stage.browser.ask("and on").await;
        stage.browser.turn_with(&next.request_id, "completed", "The answer to").await;
        assert_eq!(mock.calls_of(&next.request_id).len(), 1);
        assert!(mock.calls_of(&id).is_empty());
        assert_eq!(stage.submissions(&id).len(), 1, "never sent to the new one");
        assert!(stage.browser.pointers().await.contains_key(&id), "kept until they are back");
    })
    .await;
}
