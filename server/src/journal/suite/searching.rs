//! Finding conversations by what was asked and answered in them.

use holdfast_protocol::ConversationList;

use super::*;
use crate::search::Query;

async fn search(journal: &dyn Journal, query: &str) -> ConversationList {
    let matching = Some(Query::parse(query));
    let listing = Listing { matching, before: None, limit: 9 };
    let list =
        async || journal.conversations(journal.local_principal(), listing.clone()).await.unwrap();
    // To index what has settled changes how it is found, and not what.
    let before = list().await;
    while journal.index().await.unwrap() {}
    let after = list().await;
    assert_eq!(before, after, "{query}");
    after
}

async fn found(journal: &dyn Journal, query: &str) -> Vec<u128> {
    let list = search(journal, query).await;
    list.conversations.iter().map(|summary| summary.id.uuid().as_u128()).collect()
}

async fn told(journal: &dyn Journal, id: u128, conversation: u128, question: &str, answer: &str) {
    let ask = NewAsk { question: question.to_owned(), ..ask(journal, id, conversation) };
    turn(journal, ask, Status::Completed, Some(answer)).await;
}

pub(super) async fn questions_and_answers_are_found_in_any_script(journal: &dyn Journal) {
    told(journal, 1, 1, "明日の天気予報は？", "晴れ, internationalisation").await;
    told(journal, 2, 2, "Überträgt das WLAN?", "天、気 only apart").await;
    told(journal, 3, 3, "อากาศวันนี้", "날씨가 좋다 Привет").await;
    for (query, conversations) in [
        ("天気", &[1][..]),
        ("天気 internationalisation", &[1]),
        ("天気 internationalization", &[]),
        ("天", &[2, 1]),
        ("気予報", &[1]),
        ("uebertragt", &[]),
        ("ubertragt", &[2]),
        ("wla", &[2]),
        ("wla das", &[]),
        ("das wla", &[2]),
        ("วันนี้", &[3]),
        ("날씨", &[3]),
        ("ПРИВЕТ", &[3]),
        ("天気 das", &[]),
        ("?", &[]),
        ("\" OR NEAR( * question:", &[]),
    ] {
        assert_eq!(found(journal, query).await, conversations, "{query}");
    }
    let list = search(journal, "das").await;
    let excerpt = list.conversations.first().and_then(|summary| summary.excerpt.as_deref());
    assert_eq!(excerpt, Some("Überträgt das WLAN?"));
}

pub(super) async fn all_words_must_be_in_one_turn(journal: &dyn Journal) {
    told(journal, 1, 1, "red", "green").await;
    told(journal, 2, 1, "blue", "yellow").await;
    assert_eq!(found(journal, "red green").await, [1]);
    assert_eq!(found(journal, "red blue").await, [0; 0]);
    told(journal, 3, 1, "red again", ".").await;
    let list = search(journal, "red").await;
    let excerpts: Vec<_> = list.conversations.iter().map(|it| it.excerpt.as_deref()).collect();
    assert_eq!(excerpts, [Some("red again")], "of the latest turn");
}

pub(super) async fn what_is_under_way_is_found_by_its_question(journal: &dyn Journal) {
    let asked = NewAsk { question: "flying saucers".to_owned(), ..ask(journal, 1, 1) };
    let record = accept(journal, NewAsk { start: Some(start()), ..asked }).await;
    assert_eq!(found(journal, "saucer").await, [1]);
    let partial = Partial { text: "ufo".to_owned(), ..Partial::default() };
    journal.append(record.key(), partial).await.unwrap();
    let outcome = settled(&record, Status::Interrupted, Some("ufo so far"));
    journal.settle(record.key(), outcome).await.unwrap();
    assert_eq!(found(journal, "saucers ufo").await, [1], "what an interrupted one said counts");
    assert_eq!(search(journal, "ufo").await.conversations.len(), 1);
}

pub(super) async fn what_was_cancelled_before_it_arrived_is_found_once_it_has(
    journal: &dyn Journal,
) {
    journal.cancel_unheard(unheard(journal, 1, 1)).await.unwrap();
    journal.accept(ask(journal, 1, 1)).await.unwrap();
    assert_eq!(found(journal, "question 1").await, [1]);
    let brought = CancelledUnheard { ask: Some(ask(journal, 2, 2)), ..unheard(journal, 2, 2) };
    journal.cancel_unheard(brought).await.unwrap();
    assert_eq!(found(journal, "question 2").await, [2]);
}

pub(super) async fn many_finds_come_in_pages(journal: &dyn Journal) {
    for id in 1..=40 {
        told(journal, id, id, "everywhere", ".").await;
    }
    let mut before = None;
    let mut seen = Vec::new();
    loop {
        let matching = Some(Query::parse("everywhere"));
        let listing = Listing { matching, before, limit: 3 };
        let page = journal.conversations(journal.local_principal(), listing).await.unwrap();
        seen.extend(page.conversations.iter().map(|summary| summary.id.uuid().as_u128()));
        let Some(next) = page.next else { break };
        before = Some(next.parse().unwrap());
    }
    // All settled at the same moment: by their ids.
    assert_eq!(seen, (1..=40).rev().collect::<Vec<_>>());
}
