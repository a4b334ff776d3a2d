//! Both backends say the same to the same calls, whatever is called: the one in memory is read as what
//! the journal means, so it must not mean anything else.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::fmt::Debug;

use holdfast_protocol::{Status, Title};
use proptest::prelude::*;

use super::in_memory::Store;
use super::sqlite::{Drive, Options, SqliteJournal};
use super::suite::{self, request_id};
use super::*;
use crate::search::Query;

/// Few ids and fewer conversations, so that calls meet.
const IDS: u128 = 6;
const CONVERSATIONS: u128 = 2;

#[derive(Clone, Debug)]
enum Call {
    Accept(Asking),
    Cancel { asking: Asking, brings: bool },
    Begin { id: u128, billable: bool },
    Append { id: u128, offset: u64, text: String, reasoning: String, silent: Option<u64> },
    Settle { id: u128, status: Status, text: Option<String> },
    Requeue { id: u128 },
    Rename { conversation: u128, title: String },
    Delete { conversation: u128 },
    Restore { conversation: u128 },
    Purge { conversation: u128 },
    Index,
    Reopen,
}

#[derive(Clone, Debug)]
struct Asking {
    id: u128,
    conversation: u128,
    starts: bool,
    retry_of: Option<u128>,
}

fn asking() -> impl Strategy<Value = Asking> {
    (1..=IDS, 1..=CONVERSATIONS, any::<bool>(), prop::option::weighted(0.4, 1..=IDS)).prop_map(
        |(id, conversation, starts, retry_of)| Asking { id, conversation, starts, retry_of },
    )
}

fn call() -> impl Strategy<Value = Call> {
    let ended = prop_oneof![
        Just(Status::Completed),
        Just(Status::Failed),
        Just(Status::Cancelled),
        Just(Status::Interrupted),
    ];
    let text = || prop_oneof![Just(String::new()), Just("é".to_owned()), Just("ab".to_owned())];
    prop_oneof![
        4 => asking().prop_map(Call::Accept),
        1 => (asking(), any::<bool>()).prop_map(|(asking, brings)| Call::Cancel { asking, brings }),
        3 => (1..=IDS, any::<bool>()).prop_map(|(id, billable)| Call::Begin { id, billable }),
        3 => (1..=IDS, 0..6_u64, text(), text(), prop::option::of(0..2_000_u64)).prop_map(
            |(id, offset, text, reasoning, silent)| Call::Append {
                id, offset, text, reasoning, silent,
            }
        ),
        3 => (1..=IDS, ended, prop::option::of(text()))
            .prop_map(|(id, status, text)| Call::Settle { id, status, text }),
        1 => (1..=IDS).prop_map(|id| Call::Requeue { id }),
        1 => (1..=CONVERSATIONS, "[a-c]{1,3}")
            .prop_map(|(conversation, title)| Call::Rename { conversation, title }),
        1 => (1..=CONVERSATIONS).prop_map(|conversation| Call::Delete { conversation }),
        1 => (1..=CONVERSATIONS).prop_map(|conversation| Call::Restore { conversation }),
        1 => (1..=CONVERSATIONS).prop_map(|conversation| Call::Purge { conversation }),
        1 => Just(Call::Index),
        1 => Just(Call::Reopen),
    ]
}

fn new_ask(journal: &dyn Journal, asking: &Asking) -> NewAsk {
    NewAsk {
        start: asking.starts.then(suite::start),
        retry_of: asking.retry_of.map(request_id),
        system_prompt: format!("prompt {}", asking.id % 3),
        ..suite::ask(journal, asking.id, asking.conversation)
    }
}

/// What is said, with an error by its kind: its words are a backend's own.
fn said(result: Result<impl Debug>) -> String {
    match result {
        Ok(said) => format!("{said:?}"),
        Err(JournalError::Stale) => "stale".to_owned(),
        Err(JournalError::Broken(_)) => "broken".to_owned(),
        Err(JournalError::Unavailable(_)) => "unavailable".to_owned(),
    }
}

/// Makes a call, and says what came of it.
async fn make(journal: &dyn Journal, call: &Call) -> String {
    let key = |id| Key::new(journal.local_principal(), request_id(id));
    match call.clone() {
        Call::Accept(asking) => said(journal.accept(new_ask(journal, &asking)).await),
        Call::Cancel { asking, brings } => {
            let ask = brings.then(|| NewAsk { start: None, ..new_ask(journal, &asking) });
            let cancelled = suite::unheard(journal, asking.id, asking.conversation);
            said(journal.cancel_unheard(CancelledUnheard { ask, ..cancelled }).await)
        }
        Call::Begin { id, billable } => {
            said(journal.begin(key(id), Start { billable, ..suite::start() }).await)
        }
        Call::Append { id, offset, text, reasoning, silent } => {
            let partial = Partial {
                text_offset: offset,
                text,
                reasoning_offset: offset / 2,
                reasoning,
                submissions: u32::try_from(offset).unwrap(),
                silent: silent.map(Uptime::from_millis),
            };
            said(journal.append(key(id), partial).await)
        }
        Call::Settle { id, status, text } => {
            let outcome = match journal.find(key(id)).await.unwrap() {
                Some(record) => suite::settled(&record, status, text.as_deref()),
                None => suite::unheard(journal, id, 1).outcome,
            };
            said(journal.settle(key(id), outcome).await)
        }
        Call::Requeue { id } => said(journal.requeue(key(id)).await),
        Call::Rename { conversation, title } => {
            let changes =
                Changes { title: Some(Title::parse(&title).unwrap()), ..Changes::default() };
            said(journal.change(suite::conversation(journal, conversation), changes).await)
        }
        Call::Delete { conversation } => {
            let key = suite::conversation(journal, conversation);
            said(journal.delete(key, Moment::default()).await)
        }
        Call::Restore { conversation } => {
            said(journal.restore(suite::conversation(journal, conversation)).await)
        }
        Call::Purge { conversation } => {
            said(journal.purge(suite::conversation(journal, conversation)).await)
        }
        Call::Index => {
            while journal.index().await.unwrap() {}
            String::new()
        }
        Call::Reopen => String::new(),
    }
}

/// Everything that can be looked up.
async fn looked_up(journal: &dyn Journal) -> Vec<String> {
    let mut all = vec![said(journal.unsettled().await)];
    for id in 1..=IDS {
        let key = Key::new(journal.local_principal(), request_id(id));
        all.push(said(journal.find(key).await));
    }
    for now in [0, 499, 500, 899, 900] {
        let mut overdue = journal.overdue(Uptime::from_millis(now)).await.unwrap();
        overdue.sort_by_key(|record| record.outcome.request_id);
        all.push(format!("{overdue:?}"));
    }
    all.push(said(journal.deletions().await));
    for query in ["question", "1", "é", "ab", "question ab", "a"] {
        let matching = Some(Query::parse(query));
        let listing = Listing { matching, before: None, limit: 9 };
        all.push(said(journal.conversations(journal.local_principal(), listing).await));
    }
    let mut before = None;
    loop {
        let listing = Listing { matching: None, before, limit: 1 };
        let page = journal.conversations(journal.local_principal(), listing).await.unwrap();
        before = page.next.as_ref().map(|next| next.parse().unwrap());
        all.push(format!("{page:?}"));
        if before.is_none() {
            break;
        }
    }
    for conversation in 1..=CONVERSATIONS {
        let key = suite::conversation(journal, conversation);
        for seq in [0, 2, 4, u64::from(u32::MAX)] {
            for bytes in [0, 13, 9_999] {
                all.push(said(journal.history(key, seq, bytes).await));
            }
            all.push(said(journal.conversation(key, Some(seq), 2).await));
        }
        all.push(said(journal.conversation(key, None, 9).await));
    }
    all
}

async fn agree(calls: Vec<Call>) -> std::result::Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let identity = Identity { archive: "a1".to_owned(), principal: "p1".to_owned() };
    let options = Options {
        folder: folder.path().to_owned(),
        drive: Drive::Task,
        identity: identity.clone(),
        vfs: None,
    };
    let mut on_disk = SqliteJournal::open(&options).unwrap();
    let mut in_memory = Store::new(&identity).unwrap().open();
    for call in calls {
        if matches!(call, Call::Reopen) {
            on_disk.close().await;
            on_disk = SqliteJournal::open(&options).unwrap();
            in_memory = in_memory.store().open();
        }
        let (theirs, ours) = (make(&in_memory, &call).await, make(&on_disk, &call).await);
        prop_assert_eq!(theirs, ours, "to {:?}", &call);
        prop_assert_eq!(
            looked_up(&in_memory).await,
            looked_up(&on_disk).await,
            "after {:?}",
            &call
        );
    }
    on_disk.close().await;
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_backends_say_the_same(calls in prop::collection::vec(call(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(agree(calls))?;
    }
}
