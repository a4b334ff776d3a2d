//! The list of conversations, and what a person changes about one.

use holdfast_protocol::{ConversationList, Title};

use super::*;

pub(super) async fn list(
    journal: &dyn Journal,
    before: Option<&str>,
    limit: u32,
) -> ConversationList {
    let before = before.map(|cursor| cursor.parse().unwrap());
    let listing = Listing { matching: None, before, limit };
    journal.conversations(journal.local_principal(), listing).await.unwrap()
}

fn ids(list: &ConversationList) -> Vec<u128> {
    list.conversations.iter().map(|summary| summary.id.uuid().as_u128()).collect()
}

pub(super) async fn conversations_are_listed_by_what_happened_last(journal: &dyn Journal) {
    assert_eq!(list(journal, None, 9).await, ConversationList::default());
    let first = accept(journal, ask(journal, 1, 1)).await;
    accept(journal, ask(journal, 2, 2)).await;
    accept(journal, ask(journal, 3, 3)).await;
    assert_eq!(ids(&list(journal, None, 9).await), [3, 2, 1]);
    journal.settle(first.key(), settled(&first, Status::Completed, Some("A."))).await.unwrap();
    let now = list(journal, None, 9).await;
    assert_eq!(ids(&now), [1, 3, 2], "its end is the latest");
    let summary = now.conversations.first().unwrap();
    assert_eq!(summary.title, "Question 1?");
    assert_eq!((summary.turns, summary.pending), (1, 0));
    assert_eq!(summary.created_at, Timestamp::from_millis(1_001));
    assert_eq!(summary.updated_at, Timestamp::from_millis(9_000));
    // A clock that was set back moves nothing down.
    let late = NewAsk { asked_at: Timestamp::from_millis(7), ..ask(journal, 4, 1) };
    accept(journal, late).await;
    accept(journal, ask(journal, 5, 1)).await;
    let now = list(journal, None, 9).await;
    assert_eq!(ids(&now), [1, 3, 2]);
    assert_eq!(now.conversations.first().map(|it| (it.turns, it.pending)), Some((3, 2)));
}

pub(super) async fn what_never_arrived_is_no_turn_and_no_conversation(journal: &dyn Journal) {
    journal.cancel_unheard(unheard(journal, 1, 1)).await.unwrap();
    assert_eq!(list(journal, None, 9).await, ConversationList::default());
    accept(journal, ask(journal, 2, 1)).await;
    let now = list(journal, None, 9).await;
    assert_eq!(now.conversations.first().map(|it| (it.turns, it.pending)), Some((1, 1)));
}

pub(super) async fn pages_of_the_list_hold_still(journal: &dyn Journal) {
    for id in 1..=7 {
        // Two at a time at the same moment.
        let asked_at = Timestamp::from_millis(1_000 + u64::try_from(id / 2).unwrap());
        accept(journal, NewAsk { asked_at, ..ask(journal, id, id) }).await;
    }
    let first = list(journal, None, 3).await;
    assert_eq!(ids(&first), [7, 6, 5]);
    // What comes meanwhile, and what moves, is before the place.
    accept(journal, ask(journal, 8, 8)).await;
    accept(journal, NewAsk { asked_at: Timestamp::from_millis(2_000), ..ask(journal, 9, 5) }).await;
    let second = list(journal, first.next.as_deref(), 3).await;
    assert_eq!(ids(&second), [4, 3, 2]);
    let last = list(journal, second.next.as_deref(), 3).await;
    assert_eq!((ids(&last), last.next), (vec![1], None));
    assert_eq!(list(journal, None, 8).await.next, None, "a full page may be the last");
}

pub(super) async fn a_title_is_changed_and_stays(journal: &dyn Journal) {
    let changes =
        |title: &str| Changes { title: Some(Title::parse(title).unwrap()), ..Changes::default() };
    let key = conversation(journal, 1);
    assert_eq!(journal.change(key, changes("None")).await.unwrap(), None);
    accept(journal, ask(journal, 1, 1)).await;
    accept(journal, ask(journal, 2, 2)).await;
    let renamed = journal.change(key, changes("雲 & more")).await.unwrap().unwrap();
    assert_eq!(renamed.title, "雲 & more");
    assert_eq!(renamed.updated_at, Timestamp::from_millis(1_001), "to rename is no activity");
    let now = list(journal, None, 9).await;
    assert_eq!(ids(&now), [2, 1]);
    assert_eq!(now.conversations.last(), Some(&renamed));
    accept(journal, ask(journal, 3, 1)).await;
    let page = journal.conversation(key, None, 9).await.unwrap().unwrap();
    assert_eq!(page.title, "雲 & more", "a later question does not overwrite it");
    let untouched = journal.change(key, Changes::default()).await.unwrap().unwrap();
    assert_eq!(untouched.title, "雲 & more");
}

pub(super) async fn nobody_elses_conversations_are_listed_or_changed(journal: &dyn Journal) {
    accept(journal, ask(journal, 1, 1)).await;
    let theirs = ConversationKey { principal: PrincipalId(2), ..conversation(journal, 1) };
    let changes = Changes { title: Some(Title::parse("Mine").unwrap()), ..Changes::default() };
    assert_eq!(journal.change(theirs, changes).await.unwrap(), None);
    let listing = Listing { matching: None, before: None, limit: 9 };
    let listed = journal.conversations(PrincipalId(2), listing).await.unwrap();
    assert_eq!(listed, ConversationList::default());
    let own = list(journal, None, 9).await;
    assert_eq!(own.conversations.first().map(|it| it.title.as_str()), Some("Question 1?"));
}
