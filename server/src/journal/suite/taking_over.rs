//! One process after another, and beside another that does not know it yet.

use super::*;

/// Every write there is, each on an ask that would allow it.
async fn every_write(journal: &dyn Journal, calling: &Record, waiting: &Record) -> Vec<Result<()>> {
    let outcome = settled(calling, Status::Completed, Some("whole"));
    let partial = Partial { text: "more".to_owned(), submissions: 1, ..Partial::default() };
    vec![
        journal.append(calling.key(), partial).await,
        journal.accept(ask(journal, 101, 1)).await.map(drop),
        journal.begin(waiting.key(), start()).await.map(drop),
        journal.cancel_unheard(unheard(journal, 102, 1)).await.map(drop),
        journal.requeue(calling.key()).await,
        journal.settle(calling.key(), outcome).await.map(drop),
    ]
}

/// One that is being called, and one that waits in another conversation.
async fn two_asks(journal: &dyn Journal) -> (Record, Record) {
    let calling = accept(journal, NewAsk { start: Some(start()), ..ask(journal, 1, 1) }).await;
    let partial = Partial { text: "half".to_owned(), submissions: 1, ..Partial::default() };
    journal.append(calling.key(), partial).await.unwrap();
    let waiting = accept(journal, ask(journal, 2, 2)).await;
    (calling, waiting)
}

pub(super) async fn what_was_told_outlives_a_crash(store: &mut impl Store) {
    let journal = store.journal();
    let (calling, waiting) = two_asks(&*journal).await;
    let outcome = turn(&*journal, ask(&*journal, 3, 3), Status::Completed, Some("whole")).await;
    let cancelled = journal.cancel_unheard(unheard(&*journal, 4, 4)).await.unwrap();
    drop(journal);
    store.abandon_and_reopen().await;

    let journal = store.journal();
    let unsettled = journal.unsettled().await.unwrap();
    let [left, right] = unsettled.as_slice() else { panic!("{unsettled:?}") };
    assert_eq!((left.mark, left.outcome.text()), (calling.mark, "half"));
    assert_eq!(right, &waiting, "it is still accepted");
    assert_eq!(journal.find(key(&*journal, 3)).await.unwrap().unwrap().outcome, outcome);
    assert_eq!(journal.find(key(&*journal, 4)).await.unwrap(), Some(cancelled));
    let next = accept(&*journal, ask(&*journal, 5, 3)).await;
    assert_eq!(next.outcome.seq, Some(2), "places are not given twice");
}

pub(super) async fn whoever_was_taken_over_can_write_no_more(store: &mut impl Store) {
    let first = store.journal();
    let (calling, waiting) = two_asks(&*first).await;
    let second = store.take_over();
    assert_eq!(second.local_owner(), first.local_owner());
    let before = second.unsettled().await.unwrap();
    assert_eq!(before.len(), 2, "the second sees what the first has written");

    for write in every_write(&*first, &calling, &waiting).await {
        assert_eq!(write, Err(JournalError::Stale));
    }
    assert_eq!(second.unsettled().await.unwrap(), before, "nothing of it was done");
    for id in [101, 102] {
        assert_eq!(second.find(key(&*second, id)).await.unwrap(), None);
    }
    // It stays so, also once the second has written.
    for write in every_write(&*second, &calling, &waiting).await {
        assert_eq!(write, Ok(()));
    }
    assert_eq!(first.accept(ask(&*first, 103, 1)).await, Err(JournalError::Stale));
    // What the first looks up is what the second has written.
    let ended = first.find(calling.key()).await.unwrap().unwrap();
    assert_eq!((ended.mark, ended.outcome.text()), (Mark::Settled, "whole"));
    second.close().await;
}

pub(super) async fn each_opening_takes_over_from_the_one_before(store: &mut impl Store) {
    let first = store.take_over();
    let second = store.take_over();
    let third = store.take_over();
    for (journal, id) in [(&store.journal(), 1), (&first, 2), (&second, 3)] {
        let late = journal.accept(ask(&**journal, id, id)).await;
        assert_eq!(late, Err(JournalError::Stale), "{id}");
    }
    accept(&*third, ask(&*third, 4, 4)).await;
    assert_eq!(third.unsettled().await.unwrap().len(), 1);
    for journal in [first, second, third] {
        journal.close().await;
    }
}

pub(super) async fn a_closed_journal_does_nothing_more(store: &mut impl Store) {
    let journal = store.journal();
    let (calling, waiting) = two_asks(&*journal).await;
    journal.close().await;
    journal.close().await;
    for write in every_write(&*journal, &calling, &waiting).await {
        assert!(matches!(write, Err(JournalError::Unavailable(_))), "{write:?}");
    }
    let read = journal.find(calling.key()).await;
    assert!(matches!(read, Err(JournalError::Unavailable(_))), "{read:?}");
    drop(journal);
    store.reopen().await;
    let journal = store.journal();
    assert_eq!(journal.unsettled().await.unwrap().len(), 2);
    for write in every_write(&*journal, &calling, &waiting).await {
        assert_eq!(write, Ok(()));
    }
}
