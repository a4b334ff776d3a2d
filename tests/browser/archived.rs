//! What is on the screen and what the archive has are not always the same: it knows less, it has no
//! room, it was changed from elsewhere. The archive decides, and no text is taken away unsaid.

use holdfast_tests::client::Request;
use holdfast_tests::mock::{Script, Step};
use holdfast_tests::proxy::{Fault, Reply, Route, Rule};
use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use crate::stage::{Stage, on_stage};

/// The conversation of an ask.
fn conversation_of(stage: &Stage, id: &str) -> String {
    let body: Value = serde_json::from_str(&stage.submissions(id)[0].body).unwrap();
    body["conversation_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_a_crash_lost_of_an_answer_stays_on_the_screen_and_is_marked() {
    on_stage("lost_by_a_crash", async |stage| {
        stage.mock.next(Script::new().words("the first words and some more ").then(Step::Hang));
        let id = stage.browser.ask("what a crash leaves").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words and some more").await;
        // As though it had crashed between two writes: the archive has but the beginning.
        let mut outcome = stage.outcome(&id).await;
        outcome["status"] = "interrupted".into();
        outcome["settled_at"] = outcome["asked_at"].clone();
        outcome["answer"] =
            json!({"format": "markdown", "text": "the first ", "offset": 0, "bytes": 10});
        let less = Reply::new(200, "application/json", outcome.to_string());
        stage.line.rule(Rule::on(Route::Lookup, Fault::Instead(less)).always());
        stage.line.rule(Rule::on(Route::Events, Fault::CutBeforeForward).always());
        stage.cut_streams().await;
        let turn =
            stage.browser.turn_with(&id, "interrupted", "the first words and some more").await;
        assert!(turn.text.contains("Not archived"), "{turn:?}");
        let marked = "return document.querySelector('article .unarchived')?.innerText ?? null";
        let marked = stage.browser.run(marked).await;
        assert!(marked.as_str().is_some_and(|it| it.contains("words and some more")), "{marked}");
        stage.browser.no_pointers().await;
    })
    .await;
}

/// The most that a file of the server may hold from now on: none is a disk that is full.
fn room(stage: &Stage, bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    let limit = Rlimit { current: bytes.or(maximum), maximum };
    prlimit(Some(stage.holdfast.pid()), Resource::Fsize, limit).unwrap();
}

#[tokio::test]
async fn an_answer_the_archive_has_no_room_for_is_shown_and_kept_once_there_is_some() {
    on_stage("no_room", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "and the last"));
        let id = stage.browser.ask("into a full archive").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        room(stage, Some(0));
        stage.mock.open("go");
        let turn = stage.browser.turn_with(&id, "pending", "Not archived yet").await;
        assert!(turn.text.contains("the first words and the last"), "{turn:?}");
        assert!(stage.browser.pointers().await.contains_key(&id), "the pointer is kept");
        // What cannot be kept is not accepted either, and is not lost.
        let next = stage.browser.ask("and another").await.request_id;
        let waits = stage.browser.turn_with(&next, "sending", "rying again").await;
        assert!(stage.browser.pointers().await.contains_key(&next), "{waits:?}");
        room(stage, None);
        stage.browser.turn_with(&id, "completed", "the first words and the last").await;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
        stage.browser.no_pointers().await;
        assert_eq!([&id, &next].map(|id| stage.calls(id)), [1, 1]);
    })
    .await;
}

#[tokio::test]
async fn a_conversation_deleted_elsewhere_ends_what_waits_for_it_here() {
    on_stage("deleted_elsewhere", async |stage| {
        stage.mock.next(Script::new().words("the first words ").then(Step::Hang));
        let id = stage.browser.ask("deleted meanwhile").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        let target = format!("/api/v1/conversations/{}", conversation_of(stage, &id));
        let reply = Request::new(stage.holdfast.address(), "DELETE", &target).send().await.unwrap();
        assert_eq!(reply.status(), 204);
        stage.browser.no_pointers().await;
        stage.mock.wait("the hang-up", |calls| calls[0].client_closed()).await;
        let turn = stage.browser.turn_of("deleted meanwhile").await;
        assert!(turn.text.contains("deleted") && turn.status != "pending", "{turn:?}");
        assert!(!stage.browser.can_press("Stop").await);
        let lookups = stage.lookups(&id).len();
        stage.browser.reload().await;
        stage.browser.see("This conversation was deleted.").await;
        assert_eq!(stage.lookups(&id).len(), lookups, "it is not looked for again");
        stage.browser.click("Start a new chat").await;
        let next = stage.browser.ask("and on").await.request_id;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
    })
    .await;
}

#[tokio::test]
async fn a_tab_left_for_long_erases_nothing_and_shows_what_was_said_elsewhere() {
    on_stage("a_tab_left_for_long", async |stage| {
        let first = stage.browser.ask("said here").await.request_id;
        stage.browser.turn_with(&first, "completed", "The answer to").await;
        let here = stage.open_beside(&stage.browser.address().await).await;
        let second = stage.browser.ask("said elsewhere").await.request_id;
        stage.browser.turn_with(&second, "completed", "The answer to").await;
        let third = stage.browser.ask("said there as well").await.request_id;
        stage.browser.turn_with(&third, "completed", "The answer to").await;

        // This tab knows of one turn, and is slow to learn of more.
        stage.line.rule(Rule::on(Route::Conversation, Fault::HoldReply("late".into())).always());
        stage.browser.switch_to(&here).await;
        let fourth = stage.browser.ask("said after a while").await.request_id;
        stage.browser.turn_with(&fourth, "completed", "The answer to").await;
        let context = stage.mock.calls_of(&fourth)[0].messages();
        for said in ["said here", "said elsewhere", "said there as well"] {
            assert!(context.iter().any(|(_, text)| text == said), "{said}: {context:?}");
        }
        assert_eq!(stage.browser.turns().await.len(), 2);
        stage.line.clear_rules();
        stage.line.open("late");
        stage.browser.turn_with(&third, "completed", "The answer to").await;
        let in_order = [&first, &second, &third, &fourth].map(String::as_str);
        for _ in 0..2 {
            let turns = stage.browser.turns().await;
            let order: Vec<_> = turns.iter().map(|turn| turn.request_id.as_str()).collect();
            assert_eq!(order, in_order);
            stage.browser.reload().await;
            stage.browser.turn_with(&first, "completed", "The answer to").await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_question_asked_again_in_two_tabs_is_asked_again_once_and_both_show_it() {
    on_stage("asked_again_in_two_tabs", async |stage| {
        stage.mock.next(Script::answer("the first answer"));
        let first = stage.browser.ask("twice").await.request_id;
        stage.browser.turn_with(&first, "completed", "the first answer").await;
        let one = stage.open_beside(&stage.browser.address().await).await;
        stage.browser.turn_with(&first, "completed", "the first answer").await;
        let other = stage.browser.window().await;
        stage.mock.next(Script::gated("the second ", "go", "answer"));
        stage.browser.click("Ask again").await;
        let again = stage.browser.turn_of("the second").await.request_id;
        // The tab that was left does not know of it yet.
        stage.line.rule(Rule::on(Route::Conversation, Fault::HoldReply("late".into())).always());
        stage.browser.switch_to(&one).await;
        stage.browser.turn_with(&first, "completed", "the first answer").await;
        stage.browser.click("Ask again").await;
        stage.browser.turn_with(&again, "pending", "the second").await;
        stage.line.clear_rules();
        stage.line.open("late");
        stage.mock.open("go");
        for tab in [&one, &other] {
            stage.browser.switch_to(tab).await;
            stage.browser.turn_with(&again, "completed", "the second answer").await;
            stage.browser.see("2/2").await;
            assert_eq!(stage.browser.turns().await.len(), 1);
            stage.browser.no_pointers().await;
        }
        let asks = stage.line.exchanges_on(Route::Ask);
        let again_asked = asks.iter().filter(|it| it.body.contains("retry_of"));
        assert_eq!((again_asked.count(), stage.mock.calls().len()), (2, 2));
    })
    .await;
}
