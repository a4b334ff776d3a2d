//! Deleting a conversation, taking that back, and purging it.

use holdfast_protocol::ConversationSummary;

use super::*;
use crate::search::Query;

fn at(millis: u64) -> Moment {
    Moment { wall: Timestamp::from_millis(millis), up: Uptime::from_millis(millis) }
}

/// Whether anything shows that it is there.
async fn is_shown(journal: &dyn Journal, id: u128) -> bool {
    let key = conversation(journal, id);
    let page = journal.conversation(key, None, 9).await.unwrap().is_some();
    let is_it = |list: holdfast_protocol::ConversationList| {
        list.conversations.iter().any(|summary| summary.id == key.id)
    };
    let listing = |matching| Listing { matching, before: None, limit: 9 };
    let own = journal.local_principal();
    let listed = is_it(journal.conversations(own, listing(None)).await.unwrap());
    let query = Some(Query::parse("question"));
    let found = is_it(journal.conversations(own, listing(query)).await.unwrap());
    let changed = journal.change(key, Changes::default()).await.unwrap().is_some();
    assert_eq!([page, listed, found, changed], [page; 4]);
    page
}

/// What the list says of it.
async fn listed(journal: &dyn Journal, id: u128) -> ConversationSummary {
    let id = conversation(journal, id).id;
    let listing = Listing { matching: None, before: None, limit: 9 };
    let list = journal.conversations(journal.local_principal(), listing).await.unwrap();
    list.conversations.into_iter().find(|summary| summary.id == id).unwrap()
}

pub(super) async fn a_deleted_conversation_is_hidden_until_it_is_restored(journal: &dyn Journal) {
    let key = conversation(journal, 1);
    assert!(!journal.delete(key, at(5)).await.unwrap(), "there is none");
    assert_eq!(journal.restore(key).await.unwrap(), Restore::Unknown);
    turn(journal, ask(journal, 1, 1), Status::Completed, Some("A.")).await;
    turn(journal, ask(journal, 2, 2), Status::Completed, Some("B.")).await;
    let whole = journal.conversation(key, None, 9).await.unwrap();
    assert!(journal.delete(key, at(5)).await.unwrap());
    assert!(journal.delete(key, at(7)).await.unwrap(), "to repeat it changes nothing");
    let deletion = Deletion { conversation: key, at: at(5), is_purged: false };
    assert_eq!(journal.deletions().await.unwrap(), [deletion]);
    assert!(!is_shown(journal, 1).await && is_shown(journal, 2).await);
    assert_eq!(journal.accept(ask(journal, 3, 1)).await.unwrap(), Accept::Deleted);
    journal.cancel_unheard(unheard(journal, 33, 33)).await.unwrap();
    let elsewhere = journal.accept(ask(journal, 33, 1)).await.unwrap();
    assert!(matches!(elsewhere, Accept::Known(_)), "it is known, in another conversation");
    assert_eq!(journal.accept(ask(journal, 1, 1)).await.unwrap(), Accept::Deleted);
    let brought = CancelledUnheard { ask: Some(ask(journal, 4, 1)), ..unheard(journal, 4, 1) };
    let record = journal.cancel_unheard(brought).await.unwrap();
    assert!(record.lacks_question(), "nothing of it is kept");

    let restored = journal.restore(key).await.unwrap();
    assert_eq!(restored, Restore::There(listed(journal, 1).await));
    assert_eq!(journal.restore(key).await.unwrap(), restored);
    assert_eq!(journal.deletions().await.unwrap(), []);
    assert!(is_shown(journal, 1).await);
    assert_eq!(journal.conversation(key, None, 9).await.unwrap(), whole);
    assert_eq!(journal.purge(key).await.unwrap(), Purge::NotDeleted);
    assert!(is_shown(journal, 1).await);
}

pub(super) async fn of_a_purged_conversation_only_the_ids_are_left(journal: &dyn Journal) {
    let key = conversation(journal, 1);
    turn(journal, ask(journal, 1, 1), Status::Failed, Some("part")).await;
    let retry = NewAsk { retry_of: Some(request_id(1)), ..ask(journal, 2, 1) };
    let running = accept(journal, NewAsk { start: Some(start()), ..retry }).await;
    turn(journal, ask(journal, 3, 2), Status::Completed, Some("B.")).await;
    journal.delete(key, at(5)).await.unwrap();
    assert_eq!(journal.purge(key).await.unwrap(), Purge::UnderWay);
    let outcome = settled(&running, Status::Cancelled, Some("half"));
    journal.settle(running.key(), outcome).await.unwrap();
    assert_eq!(journal.purge(key).await.unwrap(), Purge::Done);
    assert_eq!(journal.purge(key).await.unwrap(), Purge::Done);
    assert!(journal.scrub().await.unwrap());

    assert!(!is_shown(journal, 1).await && is_shown(journal, 2).await);
    for id in [1, 2] {
        let record = journal.find(super::key(journal, id)).await.unwrap().unwrap();
        assert!(record.lacks_question() && record.mark == Mark::Settled);
        let bare = unheard(journal, id, 1).outcome;
        let zero = Some(Timestamp::default());
        assert_eq!(record.outcome, Outcome { asked_at: zero, settled_at: zero, ..bare });
    }
    assert_eq!(journal.restore(key).await.unwrap(), Restore::Purged);
    assert!(journal.delete(key, at(9)).await.unwrap());
    let deletion = Deletion { conversation: key, at: at(5), is_purged: true };
    assert_eq!(journal.deletions().await.unwrap(), [deletion]);
    assert_eq!(journal.accept(ask(journal, 1, 1)).await.unwrap(), Accept::Deleted);
    match journal.accept(ask(journal, 2, 3)).await.unwrap() {
        Accept::Known(record) => assert_eq!(record.outcome.conversation_id, key.id),
        other => panic!("its id was used: {other:?}"),
    }
    turn(journal, ask(journal, 4, 4), Status::Completed, Some("C.")).await;
    assert!(is_shown(journal, 4).await);
}

pub(super) async fn nobody_elses_conversation_is_deleted(journal: &dyn Journal) {
    turn(journal, ask(journal, 1, 1), Status::Completed, Some("A.")).await;
    let theirs = ConversationKey { principal: PrincipalId(2), ..conversation(journal, 1) };
    assert!(!journal.delete(theirs, at(5)).await.unwrap());
    journal.delete(conversation(journal, 1), at(5)).await.unwrap();
    assert_eq!(journal.restore(theirs).await.unwrap(), Restore::Unknown);
    assert_eq!(journal.purge(theirs).await.unwrap(), Purge::NotDeleted);
    let restored = journal.restore(conversation(journal, 1)).await.unwrap();
    assert_eq!(restored, Restore::There(listed(journal, 1).await));
    assert!(is_shown(journal, 1).await);
}

pub(super) async fn a_system_prompt_is_kept_until_it_is_removed(journal: &dyn Journal) {
    let key = conversation(journal, 1);
    assert_eq!(journal.system_prompt(key).await.unwrap(), None);
    accept(journal, ask(journal, 1, 1)).await;
    let give = |prompt: &str| {
        let changes = Changes { system_prompt: Some(prompt.to_owned()), title: None };
        journal.change(key, changes)
    };
    give("Be brief.").await.unwrap();
    assert_eq!(journal.system_prompt(key).await.unwrap().as_deref(), Some("Be brief."));
    journal.change(key, Changes::default()).await.unwrap();
    let page = journal.conversation(key, None, 9).await.unwrap().unwrap();
    assert_eq!(
        (page.system_prompt.as_deref(), page.title.as_str()),
        (Some("Be brief."), "Question 1?")
    );
    let theirs = ConversationKey { principal: PrincipalId(2), ..key };
    assert_eq!(journal.system_prompt(theirs).await.unwrap(), None);
    give("").await.unwrap();
    assert_eq!(journal.system_prompt(key).await.unwrap(), None);
}

pub(super) async fn the_first_ask_brings_a_system_prompt_along(journal: &dyn Journal) {
    let prompt = |id| journal.system_prompt(conversation(journal, id));
    let with =
        |id, of, prompt: &str| NewAsk { system_prompt: prompt.to_owned(), ..ask(journal, id, of) };
    accept(journal, with(1, 1, "Be brief.")).await;
    assert_eq!(prompt(1).await.unwrap().as_deref(), Some("Be brief."));
    accept(journal, with(2, 1, "Be long.")).await;
    journal.accept(with(1, 1, "Be kind.")).await.unwrap();
    assert_eq!(prompt(1).await.unwrap().as_deref(), Some("Be brief."), "it keeps its own");
    accept(journal, with(3, 3, "")).await;
    accept(journal, with(4, 3, "Too late.")).await;
    assert_eq!(prompt(3).await.unwrap(), None);
    let brought = CancelledUnheard { ask: Some(with(5, 5, "Wait.")), ..unheard(journal, 5, 5) };
    journal.cancel_unheard(brought).await.unwrap();
    assert_eq!(prompt(5).await.unwrap().as_deref(), Some("Wait."));
    journal.cancel_unheard(unheard(journal, 6, 6)).await.unwrap();
    journal.accept(with(6, 6, "Late.")).await.unwrap();
    assert_eq!(prompt(6).await.unwrap().as_deref(), Some("Late."));
}
