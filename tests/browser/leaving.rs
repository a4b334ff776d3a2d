//! The person goes to another conversation, or away altogether, while something is under way, and comes
//! back: what is under way is the server's, and every turn stays where it belongs.

use holdfast_tests::mock::{Call, Script, Step};
use holdfast_tests::proxy::{Fate, Fault, Reply, Route, Rule};

use crate::stage::{Stage, on_stage};

/// Goes to a conversation by its title in the list.
async fn open_listed(stage: &Stage, title: &str) {
    let open = format!(
        "const link = [...document.querySelectorAll('.shelf-link')]
            .find(it => it.innerText.includes({title:?}));
        link?.click(); return !!link"
    );
    let what = format!("“{title}” in the list");
    stage.browser.wait_for(&what, async |page| (page.run(&open).await == true).then_some(())).await;
}

/// Waits until a conversation of the list is marked as being worked on, or is not.
async fn marked(stage: &Stage, title: &str, working: bool) {
    let read = format!(
        "const link = [...document.querySelectorAll('.shelf-link')]
            .find(it => it.innerText.includes({title:?}));
        return link ? !!link.querySelector('[data-mark=working]') : null"
    );
    let what = format!("“{title}” marked as working: {working}");
    stage
        .browser
        .wait_for(&what, async |page| (page.run(&read).await == working).then_some(()))
        .await;
}

/// Asks in a chat of its own, and gives the ask's id.
async fn ask_apart(stage: &Stage, question: &str) -> String {
    stage.browser.click("New chat").await;
    stage.browser.ask(question).await.request_id
}

#[tokio::test]
async fn a_question_left_before_it_is_accepted_is_there_on_return_and_is_sent_once() {
    on_stage("left_before_accept", async |stage| {
        stage.line.rule(Rule::on(Route::Ask, Fault::HoldRequest("go".into())));
        let id = stage.browser.ask("left on its way").await.request_id;
        stage.line.wait("the ask held", |all| all.iter().any(|it| it.fault.is_some())).await;
        stage.browser.click("New chat").await;
        stage.browser.see("Ask, and the answer stays yours.").await;
        assert!(stage.browser.turns().await.is_empty() && !stage.browser.can_press("Stop").await);
        stage.browser.back().await;
        stage.browser.turn_with(&id, "sending", "left on its way").await;
        for _ in 0..10 {
            stage.look_as_if(false).await;
            stage.look_as_if(true).await;
        }
        stage.browser.turn_with(&id, "sending", "left on its way").await;
        stage.line.open("go");
        stage.browser.turn_with(&id, "completed", "The answer to").await;
        stage.browser.no_pointers().await;
        assert_eq!((stage.submissions(&id).len(), stage.calls(&id)), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn stop_in_one_conversation_leaves_the_answer_in_another_alone() {
    on_stage("stop_in_one_of_two", async |stage| {
        stage.mock.on("kept", Script::gated("what is kept ", "go", "to its end"));
        stage.mock.on("stopped", Script::new().words("what is stopped ").then(Step::Hang));
        let kept = stage.browser.ask("to be kept").await.request_id;
        stage.browser.turn_with(&kept, "pending", "what is kept").await;
        let stopped = ask_apart(stage, "to be stopped").await;
        stage.browser.turn_with(&stopped, "pending", "what is stopped").await;
        marked(stage, "to be kept", true).await;
        marked(stage, "to be stopped", true).await;
        stage.browser.click("Stop").await;
        stage.browser.turn_with(&stopped, "cancelled", "what is stopped").await;
        stage.mock.wait("one hang-up", |calls| calls.iter().any(Call::client_closed)).await;
        marked(stage, "to be stopped", false).await;
        assert!(!stage.browser.can_press("Stop").await, "nothing is left to stop here");
        assert!(stage.mock.calls_of(&kept)[0].ended.is_none(), "the other one goes on");
        stage.browser.back().await;
        stage.browser.turn_with(&kept, "pending", "what is kept").await;
        assert!(stage.browser.can_press("Stop").await);

        // It ends while nobody looks at it: no mark of it stays.
        open_listed(stage, "to be stopped").await;
        stage.browser.turn_with(&stopped, "cancelled", "what is stopped").await;
        stage.mock.open("go");
        marked(stage, "to be kept", false).await;
        stage.browser.no_pointers().await;
        assert_eq!(stage.browser.turns().await.len(), 1);
        open_listed(stage, "to be kept").await;
        stage.browser.turn_with(&kept, "completed", "what is kept to its end").await;
    })
    .await;
}

#[tokio::test]
async fn what_a_closed_browser_left_under_way_is_found_in_its_order_and_can_be_stopped() {
    on_stage("a_closed_browser", async |stage| {
        stage.mock.on("hangs", Script::new().words("the first words ").then(Step::Hang));
        let running = stage.browser.ask("this one hangs").await.request_id;
        stage.browser.turn_with(&running, "pending", "the first words").await;
        let next = stage.browser.ask("this one waits").await.request_id;
        stage.browser.turn_with(&next, "pending", "One question is before it").await;
        let last = stage.browser.ask("this one waits too").await.request_id;
        stage.browser.turn_with(&last, "pending", "2 questions are before it").await;
        stage.leave_for_a_new_tab().await;
        stage.browser.open(&stage.line.url()).await;
        marked(stage, "this one hangs", true).await;
        open_listed(stage, "this one hangs").await;
        stage.browser.turn_with(&running, "pending", "the first words").await;
        stage.browser.turn_with(&next, "pending", "One question is before it").await;
        stage.browser.turn_with(&last, "pending", "2 questions are before it").await;

        // The newest first; then the one that runs, and what waited behind it has its turn.
        stage.browser.click("Stop").await;
        stage.browser.turn_with(&last, "cancelled", "Stopped.").await;
        stage.browser.click("Stop this question").await;
        stage.browser.turn_with(&running, "cancelled", "the first words").await;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
        let calls = [&running, &next, &last].map(|id| stage.calls(id));
        assert_eq!(calls, [1, 1, 0]);
        assert!(stage.mock.calls_of(&running)[0].client_closed());
        marked(stage, "this one hangs", false).await;
    })
    .await;
}

#[tokio::test]
async fn a_conversation_that_loads_late_stays_out_of_the_one_in_view() {
    on_stage("loads_late", async |stage| {
        let slow = stage.browser.ask("loaded late").await.request_id;
        stage.browser.turn_with(&slow, "completed", "The answer to").await;
        let address = stage.browser.address().await;
        let (_, conversation) = address.rsplit_once('/').unwrap();
        let quick = ask_apart(stage, "loaded at once").await;
        stage.browser.turn_with(&quick, "completed", "The answer to").await;
        stage.browser.click("New chat").await;
        // A page that remembers nothing of either.
        stage.browser.reload().await;
        stage.line.rule(
            Rule::on(Route::Conversation, Fault::HoldReply("go".into())).containing(conversation),
        );
        open_listed(stage, "loaded late").await;
        stage.browser.see("Loading the conversation").await;
        open_listed(stage, "loaded at once").await;
        stage.browser.turn_with(&quick, "completed", "The answer to").await;
        assert!(!stage.browser.text().await.contains("Loading the conversation"));
        stage.line.open("go");
        stage.line.struck(Route::Conversation).await;
        // What came after it has passed through the page as well.
        let next = stage.browser.ask("and on").await.request_id;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
        let turns = stage.browser.turns().await;
        let ids: Vec<_> = turns.iter().map(|turn| turn.request_id.as_str()).collect();
        assert_eq!(ids, [quick.as_str(), next.as_str()]);
        let title = stage.browser.run("return document.title").await;
        assert_eq!(title, "loaded at once · Holdfast", "nor does it give its name to this one");
        open_listed(stage, "loaded late").await;
        stage.browser.turn_with(&slow, "completed", "The answer to").await;
    })
    .await;
}

#[tokio::test]
async fn a_conversation_that_cannot_be_loaded_says_so_and_can_be_tried_again() {
    on_stage("cannot_be_loaded", async |stage| {
        stage.hurry().await;
        let id = stage.browser.ask("safe in the archive").await.request_id;
        stage.browser.turn_with(&id, "completed", "The answer to").await;
        for (fault, times) in
            [(Fault::Instead(Reply::html(502)), 2), (Fault::CutBody(20), usize::MAX)]
        {
            let rule = Rule::on(Route::Conversation, fault).containing("/conversations/");
            stage.line.rule(rule.times(times));
        }
        stage.browser.reload().await;
        stage.browser.see("The conversation could not be loaded.").await;
        let loads = stage.line.exchanges_on(Route::Conversation);
        assert!(loads.iter().filter(|it| it.fault.is_some()).count() > 3, "it was tried again");
        stage.line.clear_rules();
        stage.browser.click("Try again").await;
        stage.browser.turn_with(&id, "completed", "The answer to").await;
        assert!(!stage.browser.text().await.contains("could not be loaded"));

        // A line that says nothing has an end as well.
        stage.line.rule(
            Rule::on(Route::Conversation, Fault::HoldRequest("never".into()))
                .containing("/conversations/"),
        );
        stage.browser.reload().await;
        stage.browser.turn_with(&id, "completed", "The answer to").await;
        assert_eq!(
            stage
                .line
                .exchanges()
                .iter()
                .filter(|it| {
                    it.route == Route::Conversation && it.ended == Some(Fate::ClientLeft)
                })
                .count(),
            1
        );
    })
    .await;
}
