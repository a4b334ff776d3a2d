//! Many callers at once: the store decides who was first, and tells everybody the same.

use futures_util::future::join_all;

use super::*;

/// So many at once.
const CALLERS: u128 = 64;

pub(super) async fn one_id_is_accepted_once_by_however_many(journal: &dyn Journal) {
    let starting = || NewAsk { start: Some(start()), ..ask(journal, 1, 1) };
    let accepts = join_all((0..CALLERS).map(|_| journal.accept(starting()))).await;
    let mut new = 0;
    for accept in accepts {
        let record = match accept.unwrap() {
            Accept::New(record) => {
                new += 1;
                record
            }
            Accept::Known(record) => record,
            other => panic!("neither new nor known: {other:?}"),
        };
        assert_eq!((record.outcome.seq, record.starts), (Some(1), 1));
    }
    assert_eq!(new, 1);
    assert_eq!(journal.unsettled().await.unwrap().len(), 1);
}

pub(super) async fn every_ask_of_a_conversation_gets_a_place_of_its_own(journal: &dyn Journal) {
    let starting = |id| NewAsk { start: Some(start()), ..ask(journal, id, 1) };
    let accepts = join_all((1..=CALLERS).map(|id| journal.accept(starting(id)))).await;
    let mut records: Vec<_> = accepts
        .into_iter()
        .map(|accept| match accept.unwrap() {
            Accept::New(record) => record,
            other => panic!("not new: {other:?}"),
        })
        .collect();
    records.sort_by_key(|record| record.outcome.seq);
    let seqs: Vec<_> = records.iter().map(|record| record.outcome.seq.unwrap()).collect();
    assert_eq!(seqs, (1..=64).collect::<Vec<_>>());
    let started: Vec<_> = records.iter().map(|record| record.starts).collect();
    assert_eq!(started.iter().sum::<u32>(), 1, "one of a conversation runs");
    assert_eq!(started.first(), Some(&1), "the first");

    // And one at a time it stays, whoever asks to begin.
    let begins = join_all(records.iter().map(|record| journal.begin(record.key(), start()))).await;
    let begun = begins.iter().filter(|begin| matches!(begin, Ok(Begin::Begun))).count();
    assert_eq!(begun, 1);
}

pub(super) async fn an_ask_has_one_successor_whoever_comes_first(journal: &dyn Journal) {
    turn(journal, ask(journal, 1_000, 1), Status::Failed, None).await;
    let retry = |id| NewAsk { retry_of: Some(request_id(1_000)), ..ask(journal, id, 1) };
    let accepts = join_all((1..=CALLERS).map(|id| journal.accept(retry(id)))).await;
    let accepts: Vec<_> = accepts.into_iter().map(Result::unwrap).collect();
    let new: Vec<_> = accepts
        .iter()
        .filter_map(|accept| match accept {
            Accept::New(record) => Some(record.outcome.request_id),
            _ => None,
        })
        .collect();
    let [first] = *new else { panic!("{} successors", new.len()) };
    let refused = accepts.iter().filter(|accept| **accept == Accept::AlreadyRetried(first));
    assert_eq!(refused.count() as u128, CALLERS - 1);
    let repeated = journal.find(key(journal, 1_000)).await.unwrap().unwrap();
    assert_eq!(repeated.outcome.retried_by, Some(first));
}

pub(super) async fn a_cancel_and_its_ask_may_cross(journal: &dyn Journal) {
    for id in 1..=8 {
        let cancel = journal.cancel_unheard(unheard(journal, id, 1));
        let accept = journal.accept(ask(journal, id, 1));
        // Whichever is polled first: both orders must do.
        let (cancelled, accepted) = if id % 2 == 0 {
            tokio::join!(cancel, accept)
        } else {
            let (accepted, cancelled) = tokio::join!(accept, cancel);
            (cancelled, accepted)
        };
        let (cancelled, found) =
            (cancelled.unwrap(), journal.find(key(journal, id)).await.unwrap().unwrap());
        match accepted.unwrap() {
            Accept::New(record) => {
                // The cancel may have seen it before it was confirmed.
                assert_eq!((&cancelled.outcome, &found), (&record.outcome, &record));
            }
            Accept::Known(record) => {
                assert_eq!(cancelled.outcome.status, Status::Cancelled);
                assert_eq!(found, record);
            }
            other => panic!("{other:?}"),
        }
        assert!(!found.lacks_question(), "it has arrived either way");
        if found.mark != Mark::Settled {
            let outcome = settled(&found, Status::Cancelled, None);
            journal.settle(found.key(), outcome).await.unwrap();
        }
    }
}

pub(super) async fn one_end_is_everybodys(journal: &dyn Journal) {
    let record = accept(journal, NewAsk { start: Some(start()), ..ask(journal, 1, 1) }).await;
    let ends = join_all((0..CALLERS).map(|n| {
        let status = if n % 2 == 0 { Status::Completed } else { Status::Interrupted };
        let outcome = settled(&record, status, Some(&format!("answer {n}")));
        journal.settle(record.key(), outcome)
    }))
    .await;
    let stored = journal.find(record.key()).await.unwrap().unwrap().outcome;
    for end in ends {
        assert_eq!(end.unwrap(), stored);
    }
}
