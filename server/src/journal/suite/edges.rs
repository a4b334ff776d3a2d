//! What must not happen: to asks that are not there, not one's own, known already, or not under way.

use super::*;

pub(super) async fn nothing_happens_to_an_ask_that_is_not_there(journal: &dyn Journal) {
    let known = accept(journal, ask(journal, 1, 1)).await;
    let missing = key(journal, 9);
    let outcome = settled(&known, Status::Completed, Some("a"));
    assert!(matches!(journal.begin(missing, start()).await, Err(JournalError::Broken(_))));
    assert!(matches!(journal.settle(missing, outcome).await, Err(JournalError::Broken(_))));
    let partial = Partial { text: "half".to_owned(), ..Partial::default() };
    journal.append(missing, partial).await.unwrap();
    journal.requeue(missing).await.unwrap();
    assert_eq!(journal.find(missing).await.unwrap(), None);
    assert_eq!(journal.unsettled().await.unwrap(), [known]);
}

pub(super) async fn nothing_happens_to_anybody_elses_ask(journal: &dyn Journal) {
    let record = accept(journal, NewAsk { start: Some(start()), ..ask(journal, 1, 1) }).await;
    let stranger = PrincipalId(journal.local_principal().0 + 1);
    let foreign = Key::new(stranger, record.outcome.request_id);
    let outcome = settled(&record, Status::Completed, Some("a"));
    assert!(journal.begin(foreign, start()).await.is_err());
    assert!(journal.settle(foreign, outcome).await.is_err());
    let partial = Partial { text: "half".to_owned(), submissions: 9, ..Partial::default() };
    journal.append(foreign, partial).await.unwrap();
    journal.requeue(foreign).await.unwrap();
    assert_eq!(journal.find(record.key()).await.unwrap(), Some(record));
}

pub(super) async fn a_known_id_is_left_as_it_is(journal: &dyn Journal) {
    let waiting = accept(journal, ask(journal, 1, 1)).await;
    let starting = NewAsk { start: Some(start()), ..ask(journal, 1, 1) };
    let again = journal.accept(starting.clone()).await.unwrap();
    assert_eq!(again, Accept::Known(waiting.clone()), "to submit it again starts nothing");
    let outcome = settled(&waiting, Status::Completed, Some("a"));
    journal.settle(waiting.key(), outcome).await.unwrap();
    let stored = journal.find(waiting.key()).await.unwrap().unwrap();
    assert_eq!(journal.accept(starting).await.unwrap(), Accept::Known(stored.clone()));
    let elsewhere = journal.accept(ask(journal, 1, 2)).await.unwrap();
    assert_eq!(elsewhere, Accept::Known(stored), "an id has one conversation");
    assert!(journal.conversation(conversation(journal, 2), None, 9).await.unwrap().is_none());
}

pub(super) async fn an_ask_does_not_repeat_itself_however_it_arrives(journal: &dyn Journal) {
    let itself = |id| NewAsk { retry_of: Some(request_id(id)), ..ask(journal, id, 1) };
    assert_eq!(journal.accept(itself(1)).await.unwrap(), Accept::InvalidRetryOf);
    journal.cancel_unheard(unheard(journal, 2, 1)).await.unwrap();
    let arrived = journal.accept(itself(2)).await.unwrap();
    let brought = CancelledUnheard { ask: Some(itself(3)), ..unheard(journal, 3, 1) };
    let brought = Accept::Known(journal.cancel_unheard(brought).await.unwrap());
    for accept in [arrived, brought] {
        let Accept::Known(record) = accept else { panic!("it was cancelled: {accept:?}") };
        assert!(!record.lacks_question());
        assert_eq!((record.outcome.retry_of, record.outcome.retried_by), (None, None));
    }
}

pub(super) async fn what_is_unsettled_comes_in_the_order_of_arrival(journal: &dyn Journal) {
    // Neither by id nor by conversation.
    for (id, conversation) in [(5, 3), (1, 9), (4, 3), (2, 1), (3, 9)] {
        accept(journal, ask(journal, id, conversation)).await;
    }
    journal.cancel_unheard(unheard(journal, 6, 3)).await.unwrap();
    let fifth = journal.find(key(journal, 4)).await.unwrap().unwrap();
    journal.settle(fifth.key(), settled(&fifth, Status::Cancelled, None)).await.unwrap();
    let unsettled = journal.unsettled().await.unwrap();
    let ids: Vec<_> = unsettled.iter().map(|record| record.outcome.request_id).collect();
    assert_eq!(ids, [5, 1, 2, 3].map(request_id));
    let seqs: Vec<_> = unsettled.iter().map(|record| record.outcome.seq.unwrap()).collect();
    assert_eq!(seqs, [1, 1, 1, 2]);
}

pub(super) async fn only_what_is_being_called_is_put_back(journal: &dyn Journal) {
    let waiting = accept(journal, ask(journal, 1, 1)).await;
    journal.requeue(waiting.key()).await.unwrap();
    assert_eq!(journal.find(waiting.key()).await.unwrap(), Some(waiting.clone()));
    let outcome = settled(&waiting, Status::Completed, Some("a"));
    journal.settle(waiting.key(), outcome).await.unwrap();
    let stored = journal.find(waiting.key()).await.unwrap();
    journal.requeue(waiting.key()).await.unwrap();
    assert_eq!(journal.find(waiting.key()).await.unwrap(), stored);
}

pub(super) async fn a_run_that_was_put_back_begins_with_empty_hands(journal: &dyn Journal) {
    let record = accept(journal, NewAsk { start: Some(start()), ..ask(journal, 1, 1) }).await;
    let key = record.key();
    for (offset, text) in [(0, "the first "), (10, "attempt")] {
        let (text, submissions) = (text.to_owned(), 1);
        let partial = Partial { text_offset: offset, text, submissions, ..Partial::default() };
        journal.append(key, partial).await.unwrap();
    }
    journal.requeue(key).await.unwrap();
    let late = Partial { text: "too late".to_owned(), ..Partial::default() };
    journal.append(key, late).await.unwrap();
    assert_eq!(journal.begin(key, start()).await.unwrap(), Begin::Begun);
    let partial = Partial { text: "another".to_owned(), ..Partial::default() };
    journal.append(key, partial).await.unwrap();
    let found = journal.find(key).await.unwrap().unwrap();
    assert_eq!((found.outcome.text(), found.starts), ("another", 2));
}
