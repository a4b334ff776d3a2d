//! Conversations are found, renamed, deleted and taken back, and taken along; a question asked again
//! is one turn.

use std::time::Duration;

use holdfast_tests::browser::Role;
use holdfast_tests::client::Request;
use holdfast_tests::mock::Script;
use holdfast_tests::proxy::{Exchange, Fault, Route, Rule};
use serde_json::json;

use crate::stage::{Stage, on_stage};

/// The titles of the list, from top to bottom.
async fn titles(stage: &Stage) -> Vec<String> {
    let titles = "return [...document.querySelectorAll('.shelf-title')].map(it => it.innerText)";
    let titles = stage.browser.run(titles).await;
    titles
        .as_array()
        .map(|titles| titles.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect())
        .unwrap_or_default()
}

/// Waits until the list holds these.
pub(crate) async fn listed(stage: &Stage, expected: &[&str]) {
    let what = format!("the list {expected:?}");
    stage.browser.wait_for(&what, async |_| (titles(stage).await == expected).then_some(())).await;
}

/// Asks in a chat of its own, and waits for the answer.
pub(crate) async fn asked(stage: &Stage, question: &str) -> String {
    stage.browser.click("New chat").await;
    let id = stage.browser.ask(question).await.request_id;
    stage.browser.turn_with(&id, "completed", "The answer to").await;
    id
}

/// Chooses from the menu of a conversation.
async fn choose(stage: &Stage, title: &str, choice: &str) {
    let open = format!(
        "const row = [...document.querySelectorAll('.shelf-row')]
            .find(it => it.innerText.includes({title:?}));
        row.querySelector('details').open = true; return 1"
    );
    stage.browser.run(&open).await;
    stage.browser.click(choice).await;
}

async fn search(stage: &Stage, words: &str) {
    let field = stage.browser.control(Role::Searchbox, "Search").await;
    field.clear().await.unwrap();
    field.send_keys(words).await.unwrap();
}

#[tokio::test]
async fn conversations_are_listed_and_found_in_any_script() {
    on_stage("conversations_are_found", async |stage| {
        asked(stage, "the quick brown fox").await;
        asked(stage, "今天天气怎么样").await;
        listed(stage, &["今天天气怎么样", "the quick brown fox"]).await;
        search(stage, "天气").await;
        listed(stage, &["今天天气怎么样"]).await;
        search(stage, "brown answer").await;
        listed(stage, &["the quick brown fox"]).await;
        search(stage, "气天").await;
        stage.browser.see("Nothing found.").await;
        search(stage, "quick").await;
        listed(stage, &["the quick brown fox"]).await;
        stage.browser.run("document.querySelector('.shelf-link').click()").await;
        stage.browser.turn_of("the quick brown fox").await;
    })
    .await;
}

#[tokio::test]
async fn a_title_can_be_changed_and_stays() {
    on_stage("a_title_is_changed", async |stage| {
        asked(stage, "what is it called").await;
        listed(stage, &["what is it called"]).await;
        choose(stage, "what is it called", "Rename").await;
        let field = stage.browser.control(Role::Textbox, "Title").await;
        // Select all, write over it, and Enter: to clear it would be to leave it.
        field.send_keys("\u{e009}a\u{e000}Another name\u{e007}").await.unwrap();
        listed(stage, &["Another name"]).await;
        stage.browser.reload().await;
        listed(stage, &["Another name"]).await;
    })
    .await;
}

#[tokio::test]
async fn a_conversation_has_instructions_of_its_own() {
    on_stage("instructions", async |stage| {
        asked(stage, "before").await;
        listed(stage, &["before"]).await;
        choose(stage, "before", "Instructions").await;
        let field = stage.browser.control(Role::Textbox, "Instructions").await;
        field.send_keys("Answer like a pirate.").await.unwrap();
        stage.browser.click("Save").await;
        stage
            .line
            .wait("they are kept", |all| {
                all.iter().any(|it| it.method == "PATCH" && it.status == Some(200))
            })
            .await;
        let id = stage.browser.ask("and after").await.request_id;
        stage.browser.turn_with(&id, "completed", "The answer to").await;
        let told = stage.mock.calls().last().unwrap().body["messages"][0]["content"].to_string();
        assert!(told.contains("Answer like a pirate."), "{told}");
        choose(stage, "before", "Instructions").await;
        let field = stage.browser.control(Role::Textbox, "Instructions").await;
        assert_eq!(field.prop("value").await.unwrap().as_deref(), Some("Answer like a pirate."));
        stage.browser.click("Cancel").await;
    })
    .await;
}

#[tokio::test]
async fn a_new_chat_can_be_given_instructions_before_its_first_question() {
    on_stage("instructions_before", async |stage| {
        stage.browser.click("Instructions").await;
        let field = stage.browser.control(Role::Textbox, "Instructions").await;
        field.send_keys("Answer like a pirate.").await.unwrap();
        stage.browser.click("Save").await;
        stage.browser.see("Instructions: given").await;
        stage.browser.reload().await;
        stage.ready().await;
        stage.browser.click("Instructions: given").await;
        let field = stage.browser.control(Role::Textbox, "Instructions").await;
        assert_eq!(field.prop("value").await.unwrap().as_deref(), Some("Answer like a pirate."));
        stage.browser.click("Cancel").await;
        // They go out with the question, however often that takes.
        stage.line.rule(Rule::on(Route::Ask, Fault::CutBeforeForward));
        for question in ["first", "second"] {
            let id = stage.browser.ask(question).await.request_id;
            stage.browser.turn_with(&id, "completed", "The answer to").await;
            let told = stage.mock.calls_of(&id)[0].body["messages"][0]["content"].to_string();
            assert!(told.contains("Answer like a pirate."), "{told}");
        }
        // The next chat is another one.
        let id = asked(stage, "elsewhere").await;
        let told = stage.mock.calls_of(&id)[0].body["messages"][0]["content"].to_string();
        assert!(!told.contains("pirate"), "{told}");
    })
    .await;
}

#[tokio::test]
async fn what_is_deleted_can_be_taken_back_for_a_minute() {
    on_stage("deleted_and_taken_back", async |stage| {
        asked(stage, "to be kept").await;
        asked(stage, "deleted as well").await;
        let id = asked(stage, "to be deleted").await;
        listed(stage, &["to be deleted", "deleted as well", "to be kept"]).await;
        choose(stage, "to be deleted", "Delete").await;
        listed(stage, &["deleted as well", "to be kept"]).await;
        stage.browser.see("Ask, and the answer stays yours.").await;
        choose(stage, "deleted as well", "Delete").await;
        listed(stage, &["to be kept"]).await;
        // Each of them can be taken back.
        stage.browser.click("Undo").await;
        listed(stage, &["to be deleted", "to be kept"]).await;
        stage.browser.turn_with(&id, "completed", "The answer to").await;
        stage.browser.click("Undo").await;
        listed(stage, &["to be deleted", "deleted as well", "to be kept"]).await;
    })
    .await;
}

#[tokio::test]
async fn deleting_a_conversation_stops_what_is_under_way_in_it() {
    on_stage("deleted_under_way", async |stage| {
        stage.mock.next(Script::gated("the first words ", "go", "never said"));
        let id = stage.browser.ask("to be deleted").await.request_id;
        stage.browser.turn_with(&id, "pending", "the first words").await;
        listed(stage, &["to be deleted"]).await;
        choose(stage, "to be deleted", "Delete").await;
        stage.mock.wait("the hang-up", |calls| calls[0].client_closed()).await;
        listed(stage, &[]).await;
        stage.browser.no_pointers().await;
        // It is gone: nothing tells of it as finished elsewhere.
        asked(stage, "the next").await;
        let told = stage.browser.run("return document.querySelector('main').innerText").await;
        assert!(!told.as_str().unwrap().contains("to be deleted"), "{told}");
        // And taken back it is what the archive has of it.
        stage.browser.click("Undo").await;
        let turn = stage.browser.turn_with(&id, "cancelled", "the first words").await;
        assert!(turn.text.contains("Ask again (may cost again)"), "{}", turn.text);
    })
    .await;
}

#[tokio::test]
async fn what_was_exported_can_be_brought_in_again() {
    on_stage("exported_and_imported", async |stage| {
        asked(stage, "to be taken along").await;
        listed(stage, &["to be taken along"]).await;
        let exported = "const link = [...document.querySelectorAll('.shelf-choices a')]
                .find(it => it.href.includes('format=json'));
            window.__exported = null;
            fetch(link.href).then(it => it.text()).then(it => { window.__exported = it }); return 1";
        stage.browser.run(exported).await;
        stage
            .browser
            .wait_for("the export", async |page| page.run("return window.__exported").await.as_str().map(drop))
            .await;
        // A person would choose the file; the page is given it in the same way.
        let bring_in = "const data = new DataTransfer();
            data.items.add(new File([window.__exported], 'export.json'));
            const input = document.querySelector('.shelf input[type=file]');
            input.files = data.files; input.dispatchEvent(new Event('change', { bubbles: true }))";
        stage.browser.run(bring_in).await;
        stage.browser.see("0 imported, 1 here already.").await;
        let nonsense = bring_in.replace("window.__exported", "'{}'");
        stage.browser.run(&nonsense).await;
        stage
            .line
            .wait("the refusal", |all| {
                let refused = |it: &Exchange| it.target.ends_with("/import") && it.status == Some(400);
                all.iter().any(refused)
            })
            .await;
        listed(stage, &["to be taken along"]).await;
    })
    .await;
}

#[tokio::test]
async fn hundreds_of_conversations_are_the_servers_and_the_browser_keeps_next_to_nothing() {
    on_stage("hundreds", async |stage| {
        let brought: Vec<_> = (0..160)
            .map(|number| {
                json!({
                    "id": format!("conversation-{number}"), "title": format!("Number {number}"),
                    "create_time": 1_700_000_000 + number, "current_node": "answer",
                    "mapping": {
                        "question": {"id": format!("q{number}"), "parent": null, "message": {
                            "author": {"role": "user"}, "create_time": 1_700_000_000 + number,
                            "content": {"content_type": "text", "parts": ["Who asks?"]}}},
                        "answer": {"id": format!("a{number}"), "parent": "question", "message": {
                            "author": {"role": "assistant"}, "create_time": 1_700_000_001 + number,
                            "content": {"content_type": "text", "parts": ["x".repeat(2_000)]}}},
                    },
                })
            })
            .collect();
        let brought = json!(brought).to_string();
        let imported = Request::new(stage.holdfast.address(), "POST", "/api/v1/import")
            .header("Content-Type", "application/json")
            .body(brought)
            .send()
            .await
            .unwrap();
        assert_eq!(imported.json()["created"], 160, "{}", imported.text());
        stage.browser.reload().await;
        for shown in [50, 100, 150] {
            stage
                .browser
                .wait_for("a page of the list", async |_| {
                    (titles(stage).await.len() == shown).then_some(())
                })
                .await;
            stage.browser.click("More").await;
        }
        assert_eq!(titles(stage).await[0], "Number 159", "newest first");
        let kept = "return [sessionStorage, localStorage]
            .map(area => JSON.stringify({...area}).length).reduce((a, b) => a + b)";
        let kept = stage.browser.run(kept).await.as_u64().unwrap();
        assert!(kept < 20_000, "{kept} characters");
        let next = stage.browser.ask("and on").await.request_id;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
    })
    .await;
}

#[tokio::test]
async fn a_question_asked_again_is_one_turn_with_two_answers() {
    on_stage("asked_again", async |stage| {
        stage.mock.next(Script::answer("the first answer"));
        let first = stage.browser.ask("twice").await.request_id;
        stage.browser.turn_with(&first, "completed", "the first answer").await;
        stage.mock.next(Script::answer("the second answer"));
        stage.browser.click("Ask again").await;
        let turn = stage.browser.turn_of("the second answer").await;
        assert_ne!(turn.request_id, first);
        assert_eq!(stage.browser.turns().await.len(), 1);
        stage.browser.see("2/2").await;
        stage.browser.click("Previous answer").await;
        stage.browser.turn_with(&first, "completed", "the first answer").await;
        stage.browser.see("1/2").await;
        // The keyboard is where it was: at the answers to this question.
        let focused = "return document.activeElement.closest('.chain') !== null";
        stage
            .browser
            .wait_for("the focus", async |page| (page.run(focused).await == true).then_some(()))
            .await;
        stage.browser.reload().await;
        stage.browser.turn_with(&turn.request_id, "completed", "the second answer").await;
        assert_eq!((stage.calls(&first), stage.calls(&turn.request_id)), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn what_the_model_thought_is_folded_and_the_receipt_says_what_it_took() {
    on_stage("folded", async |stage| {
        stage.mock.next(Script::new().reasoning("Let me see. ").delta("Here it is.").end());
        let id = stage.browser.ask("think").await.request_id;
        let turn = stage.browser.turn_with(&id, "completed", "Here it is.").await;
        assert!(!turn.text.contains("Let me see."), "folded: {}", turn.text);
        let open = "document.querySelectorAll('article details').forEach(it => { it.open = true })";
        stage.browser.run(open).await;
        let turn = stage.browser.turn_with(&id, "completed", "Let me see.").await;
        for says in ["11 in, 22 out", "once", id.as_str()] {
            assert!(turn.text.contains(says), "{says}: {}", turn.text);
        }
        // From the archive as well.
        stage.browser.reload().await;
        stage.browser.turn_with(&id, "completed", "Reasoning").await;
    })
    .await;
}

#[tokio::test]
async fn an_answer_cut_off_at_the_length_limit_can_be_continued() {
    on_stage("cut_off", async |stage| {
        stage.mock.next(Script::new().delta("half of").finish("length").done());
        let id = stage.browser.ask("at length").await.request_id;
        stage.browser.turn_with(&id, "completed", "length limit").await;
        // In two tabs, and twice in one of them: it is one ask all the same.
        let address = stage.browser.address().await;
        let first = stage.open_beside(&address).await;
        stage.browser.control(Role::Button, "Continue").await;
        let second = stage.browser.window().await;
        stage.browser.switch_to(&first).await;
        let twice = "const button = [...document.querySelectorAll('article button')]
            .find(it => it.innerText === 'Continue'); button?.click(); button?.click(); return 1";
        stage.browser.run(twice).await;
        let next = stage.browser.turn_of("Continue exactly where you stopped.").await.request_id;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
        assert!(stage.browser.find(Role::Button, "Continue").await.is_none(), "it is gone on from");
        // Unless this one has heard of it by then.
        stage.browser.switch_to(&second).await;
        stage.browser.run(twice).await;
        stage.browser.turn_with(&next, "completed", "The answer to").await;
        assert_eq!(stage.mock.calls().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn on_a_phone_the_conversations_are_a_drawer() {
    on_stage("a_drawer", async |stage| {
        stage.browser.screen(390, 844, false).await;
        asked(stage, "on the way").await;
        assert!(stage.browser.find(Role::Searchbox, "Search").await.is_none(), "it is closed");
        stage.browser.click("Conversations").await;
        stage.browser.control(Role::Searchbox, "Search").await;
        listed(stage, &["on the way"]).await;
        // What it covers cannot be reached, and what is open in it is closed first.
        let covered = "return document.querySelector('footer').inert";
        assert_eq!(stage.browser.run(covered).await, true);
        let menu = "const menu = document.querySelector('.shelf-menu');
            menu.open = true; menu.querySelector('summary').focus(); return 1";
        stage.browser.run(menu).await;
        stage.browser.press("\u{e00c}").await;
        let open = "return document.querySelector('.shelf-menu').open";
        assert_eq!(stage.browser.run(open).await, false);
        stage.browser.control(Role::Searchbox, "Search").await;
        stage.browser.press("\u{e00c}").await;
        stage
            .browser
            .wait_for_within(Duration::from_secs(5), "it closed", async |page| {
                page.find(Role::Searchbox, "Search").await.is_none().then_some(())
            })
            .await;
        assert_eq!(stage.browser.run(covered).await, false);
        let sideways = "return document.documentElement.scrollWidth > innerWidth";
        assert_eq!(stage.browser.run(sideways).await, false);
    })
    .await;
}
