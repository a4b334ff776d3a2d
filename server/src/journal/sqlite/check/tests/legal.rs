//! An archive with one of each kind of ask that the journal can hold.

use std::path::Path;

use holdfast_protocol::{
    Answer, Capture, CaptureReason, ContextItem, ContextKind, ConversationId, Failure, FailureCode,
    Finish, Outcome, Receipt, Route, Status, Timestamp,
};

use crate::journal::Identity;
use crate::journal::sqlite::{Drive, Options, SqliteJournal};
use crate::journal::suite::{self, request_id};
use crate::journal::{Accept, CancelledUnheard, Journal, NewAsk, Partial, Record, Start};

/// The completed one.
pub(in crate::journal::sqlite) const COMPLETED: u128 = 1;
/// The failed one, which has been repeated.
pub(in crate::journal::sqlite) const FAILED: u128 = 2;
/// The one that repeats it, and failed as well.
pub(in crate::journal::sqlite) const FAILED_AGAIN: u128 = 8;
/// The completed one that repeats that.
pub(in crate::journal::sqlite) const RETRY: u128 = 3;
/// Cancelled in mid answer.
pub(in crate::journal::sqlite) const CANCELLED: u128 = 4;
/// Cut off by a crash.
pub(in crate::journal::sqlite) const INTERRUPTED: u128 = 5;
/// Being called, with partial text.
pub(in crate::journal::sqlite) const CALLING: u128 = 6;
/// In line after it.
pub(in crate::journal::sqlite) const QUEUED: u128 = 7;
/// Only its cancel was heard of.
pub(in crate::journal::sqlite) const UNHEARD: u128 = 11;
/// Cancelled before it arrived, by a cancel that brought it along.
pub(in crate::journal::sqlite) const BROUGHT: u128 = 12;
/// Cancelled before it arrived; it has arrived since.
pub(in crate::journal::sqlite) const ARRIVED: u128 = 13;
/// Was called, and put back.
pub(in crate::journal::sqlite) const PUT_BACK: u128 = 21;

pub(in crate::journal::sqlite) fn options(folder: &Path) -> Options {
    let identity = Identity { archive: "a1".to_owned(), principal: "p1".to_owned() };
    Options { folder: folder.to_owned(), drive: Drive::Task, identity, vfs: None }
}

/// Makes the archive, and closes it.
pub(in crate::journal::sqlite) async fn archive(folder: &Path) {
    let journal = SqliteJournal::open(&options(folder)).unwrap();
    write(&journal).await;
    journal.close().await;
}

/// Writes one of each kind.
pub(in crate::journal::sqlite) async fn write(journal: &SqliteJournal) {
    let first = |id| NewAsk { start: Some(start(true)), ..suite::ask(journal, id, 1) };
    let completed = accept(journal, first(COMPLETED)).await;
    settle(journal, &completed, Status::Completed, Some("An answer."), None).await;
    let failed = accept(journal, first(FAILED)).await;
    partly(journal, &failed).await;
    settle(journal, &failed, Status::Failed, Some("part"), Some(FailureCode::ProviderFailed)).await;
    let repeats = |of, id| NewAsk { retry_of: Some(request_id(of)), ..first(id) };
    let again = accept(journal, repeats(FAILED, FAILED_AGAIN)).await;
    settle(journal, &again, Status::Failed, None, Some(FailureCode::ProviderUnreachable)).await;
    let retry = accept(journal, repeats(FAILED_AGAIN, RETRY)).await;
    settle(journal, &retry, Status::Completed, Some("Another."), None).await;
    // What settles from here on is noted and not indexed yet.
    while journal.index().await.unwrap() {}
    let cancelled = accept(journal, first(CANCELLED)).await;
    settle(journal, &cancelled, Status::Cancelled, Some("part"), None).await;
    let interrupted = accept(journal, first(INTERRUPTED)).await;
    let code = FailureCode::ServerRestarted;
    settle(journal, &interrupted, Status::Interrupted, None, Some(code)).await;
    let calling = accept(journal, first(CALLING)).await;
    partly(journal, &calling).await;
    accept(journal, suite::ask(journal, QUEUED, 1)).await;

    unheard(journal, UNHEARD, None).await;
    unheard(journal, BROUGHT, Some(suite::ask(journal, BROUGHT, 2))).await;
    unheard(journal, ARRIVED, None).await;
    journal.accept(suite::ask(journal, ARRIVED, 2)).await.unwrap();

    let put_back = NewAsk { start: Some(start(false)), ..suite::ask(journal, PUT_BACK, 3) };
    let put_back = accept(journal, put_back).await;
    partly(journal, &put_back).await;
    journal.requeue(put_back.key()).await.unwrap();
}

fn start(billable: bool) -> Start {
    let provider = if billable { "openai" } else { "notes" };
    Start { provider: provider.to_owned(), billable, ..suite::start() }
}

async fn accept(journal: &SqliteJournal, ask: NewAsk) -> Record {
    match journal.accept(ask).await.unwrap() {
        Accept::New(record) => record,
        other => panic!("not new: {other:?}"),
    }
}

async fn partly(journal: &SqliteJournal, record: &Record) {
    for (text_offset, text) in [(0, "Grüße"), (7, ", "), (9, "Welt")] {
        let partial = Partial {
            text_offset,
            text: text.to_owned(),
            reasoning_offset: text_offset,
            reasoning: text.to_owned(),
            submissions: 2,
            silent: None,
        };
        journal.append(record.key(), partial).await.unwrap();
    }
}

async fn settle(
    journal: &SqliteJournal,
    record: &Record,
    status: Status,
    text: Option<&str>,
    error: Option<FailureCode>,
) {
    let mut outcome = record.outcome.clone();
    outcome.status = status;
    outcome.state = None;
    outcome.settled_at = Some(Timestamp::from_millis(9_000));
    outcome.answer = text.map(|text| Answer {
        text: text.to_owned(),
        reasoning: Some("hm".to_owned()),
        finish: (status == Status::Completed).then_some(Finish::Stop),
        ..Answer::default()
    });
    outcome.error =
        error.map(|code| Failure { code, message: "It broke.".to_owned(), retryable: true });
    outcome.route = Some(Route::Provider);
    outcome.receipt = Some(Receipt {
        provider: Some("openai".to_owned()),
        model: Some("m".to_owned()),
        provider_calls: 1,
        input_tokens: Some(1),
        output_tokens: Some(2),
        usage_estimated: Some(false),
        cost_micros: Some(3),
        currency: Some("USD".to_owned()),
        submissions: 1,
        first_token_ms: Some(5),
        run_ms: Some(6),
    });
    outcome.capture =
        Some(Capture { stored: false, reason: CaptureReason::MemoryOff, note_id: None });
    outcome.context = vec![ContextItem {
        kind: ContextKind::Turn,
        id: "t".to_owned(),
        title: Some("T".to_owned()),
        excerpt: None,
        score: Some(0.25),
    }];
    outcome.context_missing = vec!["x".to_owned()];
    journal.settle(record.key(), outcome).await.unwrap();
}

async fn unheard(journal: &SqliteJournal, id: u128, ask: Option<NewAsk>) {
    let conversation = ConversationId::new(uuid::Uuid::from_u128(2));
    let mut outcome = Outcome::bare(request_id(id), conversation, Status::Cancelled, None);
    outcome.asked_at = Some(Timestamp::from_millis(5));
    outcome.settled_at = Some(Timestamp::from_millis(5));
    outcome.receipt = Some(Receipt::default());
    let principal = journal.local_principal();
    journal.cancel_unheard(CancelledUnheard { ask, outcome, principal }).await.unwrap();
}

/// All of them.
pub(in crate::journal::sqlite) const ALL: &[u128] = &[
    COMPLETED,
    FAILED,
    FAILED_AGAIN,
    RETRY,
    CANCELLED,
    INTERRUPTED,
    CALLING,
    QUEUED,
    UNHEARD,
    BROUGHT,
    ARRIVED,
    PUT_BACK,
];
