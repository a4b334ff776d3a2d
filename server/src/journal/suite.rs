//! What every backend must do: one suite, run on each of them.
//!
//! A backend's tests call [`every_case`] with a way to make a fresh [`Store`].

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod deleting;
mod edges;
mod listing;
mod searching;
mod side_by_side;
mod taking_over;

use std::sync::Arc;

use holdfast_protocol::{
    Answer, Capture, CaptureReason, ContextItem, ContextKind, ConversationId, Failure, FailureCode,
    Finish, Format, Outcome, Receipt, RequestId, Route, State, Status, Timestamp,
};
use uuid::Uuid;

use super::*;

/// A store under test.
pub(super) trait Store {
    /// The journal, open.
    fn journal(&self) -> Arc<dyn Journal>;
    /// Closes it and opens it again.
    fn reopen(&mut self) -> impl Future<Output = ()>;
    /// Ends it as a crash would and opens it again.
    fn abandon_and_reopen(&mut self) -> impl Future<Output = ()>;
    /// Opens it in another process, though the first has not ended: across a network nobody can be sure
    /// that it has.
    fn take_over(&self) -> Arc<dyn Journal>;
    /// Panics unless what is stored obeys the store's own rules.
    fn assert_sound(&self);
}

/// Runs every case, each on a fresh store.
pub(super) async fn every_case<S: Store>(fresh: impl Fn() -> S) {
    macro_rules! with_a_journal {
        ($($case:path),* $(,)?) => {$({
            let store = fresh();
            $case(&*store.journal()).await;
            store.assert_sound();
        })*};
    }
    macro_rules! with_a_store {
        ($($case:path),* $(,)?) => {$({
            let mut store = fresh();
            $case(&mut store).await;
            store.assert_sound();
        })*};
    }
    with_a_journal!(
        an_ask_is_accepted_once,
        only_the_first_of_a_conversation_starts_at_once,
        asks_begin_in_the_order_of_their_conversation,
        nobody_elses_ask_is_found,
        an_ask_is_repeated_by_one_other,
        a_cancel_may_come_before_its_ask,
        a_cancel_may_bring_its_ask_along,
        partial_text_grows_and_may_be_written_twice,
        a_settled_outcome_comes_back_whole_and_never_changes,
        a_count_beyond_the_stores_numbers_does_not_keep_an_ask_from_settling,
        a_run_may_be_put_back,
        a_run_is_overdue_by_either_deadline_while_it_lasts,
        history_is_what_has_text_and_no_successor,
        a_conversation_comes_in_pages,
        edges::nothing_happens_to_an_ask_that_is_not_there,
        edges::nothing_happens_to_anybody_elses_ask,
        edges::a_known_id_is_left_as_it_is,
        edges::an_ask_does_not_repeat_itself_however_it_arrives,
        edges::what_is_unsettled_comes_in_the_order_of_arrival,
        edges::only_what_is_being_called_is_put_back,
        edges::a_run_that_was_put_back_begins_with_empty_hands,
        listing::conversations_are_listed_by_what_happened_last,
        listing::what_never_arrived_is_no_turn_and_no_conversation,
        listing::pages_of_the_list_hold_still,
        listing::a_title_is_changed_and_stays,
        listing::nobody_elses_conversations_are_listed_or_changed,
        searching::questions_and_answers_are_found_in_any_script,
        searching::all_words_must_be_in_one_turn,
        searching::what_is_under_way_is_found_by_its_question,
        searching::what_was_cancelled_before_it_arrived_is_found_once_it_has,
        searching::many_finds_come_in_pages,
        deleting::a_deleted_conversation_is_hidden_until_it_is_restored,
        deleting::of_a_purged_conversation_only_the_ids_are_left,
        deleting::nobody_elses_conversation_is_deleted,
        deleting::a_system_prompt_is_kept_until_it_is_removed,
        deleting::the_first_ask_brings_a_system_prompt_along,
        side_by_side::one_id_is_accepted_once_by_however_many,
        side_by_side::every_ask_of_a_conversation_gets_a_place_of_its_own,
        side_by_side::an_ask_has_one_successor_whoever_comes_first,
        side_by_side::a_cancel_and_its_ask_may_cross,
        side_by_side::one_end_is_everybodys,
    );
    with_a_store!(
        what_is_written_is_there_after_opening_again,
        taking_over::what_was_told_outlives_a_crash,
        taking_over::whoever_was_taken_over_can_write_no_more,
        taking_over::each_opening_takes_over_from_the_one_before,
        taking_over::a_closed_journal_does_nothing_more,
    );
}

pub(super) fn request_id(id: u128) -> RequestId {
    RequestId::new(Uuid::from_u128(id))
}

fn conversation_id(id: u128) -> ConversationId {
    ConversationId::new(Uuid::from_u128(id))
}

fn key(journal: &dyn Journal, id: u128) -> Key {
    Key::new(journal.local_principal(), request_id(id))
}

pub(super) fn conversation(journal: &dyn Journal, id: u128) -> ConversationKey {
    ConversationKey::new(journal.local_principal(), conversation_id(id))
}

fn deadlines(silent: u64, run: u64) -> Deadlines {
    Deadlines { silent: Uptime::from_millis(silent), run: Uptime::from_millis(run) }
}

pub(super) fn start() -> Start {
    Start { provider: "openai".to_owned(), billable: true, deadlines: deadlines(500, 900) }
}

pub(super) fn ask(journal: &dyn Journal, id: u128, conversation: u128) -> NewAsk {
    NewAsk {
        key: key(journal, id),
        conversation_id: conversation_id(conversation),
        question: format!("Question {id}?"),
        terms: Terms { remember: true, ..Terms::default() },
        retry_of: None,
        system_prompt: String::new(),
        fingerprint: Fingerprint::from_bytes([u8::try_from(id % 251).unwrap(); 32]),
        asked_at: Timestamp::from_millis(1_000 + u64::try_from(id).unwrap()),
        start: None,
    }
}

async fn accept(journal: &dyn Journal, ask: NewAsk) -> Record {
    match journal.accept(ask).await.unwrap() {
        Accept::New(record) => record,
        other => panic!("not new: {other:?}"),
    }
}

pub(super) fn settled(record: &Record, status: Status, text: Option<&str>) -> Outcome {
    let mut outcome = record.outcome.clone();
    outcome.status = status;
    outcome.state = None;
    outcome.settled_at = Some(Timestamp::from_millis(9_000));
    outcome.receipt = Some(Receipt { submissions: 1, ..Receipt::default() });
    if matches!(status, Status::Failed | Status::Interrupted) {
        outcome.error = Some(Failure {
            code: FailureCode::Internal,
            message: "It broke.".to_owned(),
            retryable: true,
        });
    }
    outcome.answer = text.map(|text| Answer {
        text: text.to_owned(),
        bytes: text.len() as u64,
        ..Answer::default()
    });
    outcome
}

/// Accepts an ask and settles it at once.
async fn turn(journal: &dyn Journal, ask: NewAsk, status: Status, text: Option<&str>) -> Outcome {
    let record = accept(journal, ask).await;
    journal.settle(record.key(), settled(&record, status, text)).await.unwrap()
}

async fn an_ask_is_accepted_once(journal: &dyn Journal) {
    let terms = Terms {
        current: true,
        remember: false,
        language: Some("pt-BR".to_owned()),
        model: Some("m".to_owned()),
    };
    let ask = NewAsk { terms: terms.clone(), ..ask(journal, 1, 1) };
    assert_eq!(journal.find(ask.key).await.unwrap(), None);
    let record = accept(journal, ask.clone()).await;
    assert_eq!((record.terms.clone(), record.fingerprint), (terms, Some(ask.fingerprint)));
    assert_eq!((record.submissions, record.starts, record.mark), (1, 0, Mark::Accepted));
    let outcome = &record.outcome;
    assert_eq!(outcome.seq, Some(1));
    assert_eq!(outcome.question.as_deref(), Some("Question 1?"));
    assert_eq!(outcome.asked_at, Some(ask.asked_at));
    assert_eq!((outcome.status, outcome.state), (Status::Pending, Some(State::Accepted)));
    assert_eq!(journal.find(ask.key).await.unwrap().as_ref(), Some(&record));

    let other = NewAsk { question: "Another?".to_owned(), ..ask };
    assert_eq!(journal.accept(other).await.unwrap(), Accept::Known(record));
}

async fn only_the_first_of_a_conversation_starts_at_once(journal: &dyn Journal) {
    let starting =
        |id, conversation| NewAsk { start: Some(start()), ..ask(journal, id, conversation) };
    let first = accept(journal, starting(1, 1)).await;
    assert_eq!((first.mark, first.starts), (Mark::Calling { billable: true }, 1));
    assert_eq!(first.outcome.state, Some(State::Running));
    assert_eq!(first.provider.as_deref(), Some("openai"));
    let second = accept(journal, starting(2, 1)).await;
    assert_eq!((second.mark, second.starts), (Mark::Accepted, 0));
    let elsewhere = accept(journal, starting(3, 2)).await;
    assert_eq!(elsewhere.mark, Mark::Calling { billable: true });
    journal.settle(first.key(), settled(&first, Status::Completed, Some("a"))).await.unwrap();
    let third = accept(journal, starting(4, 1)).await;
    assert_eq!(third.mark, Mark::Accepted, "the second is before it");
}

async fn asks_begin_in_the_order_of_their_conversation(journal: &dyn Journal) {
    let first = accept(journal, ask(journal, 1, 1)).await;
    let second = accept(journal, ask(journal, 2, 1)).await;
    assert_eq!(second.outcome.seq, Some(2));
    assert_eq!(journal.begin(second.key(), start()).await.unwrap(), Begin::NotYet);
    assert_eq!(journal.begin(first.key(), start()).await.unwrap(), Begin::Begun);
    assert_eq!(journal.begin(first.key(), start()).await.unwrap(), Begin::Begun, "once more");
    assert_eq!(journal.find(first.key()).await.unwrap().unwrap().starts, 1, "is no second start");
    let outcome = settled(&first, Status::Completed, Some("a"));
    let outcome = journal.settle(first.key(), outcome).await.unwrap();
    assert_eq!(journal.begin(first.key(), start()).await.unwrap(), Begin::Settled(outcome));
    assert_eq!(journal.begin(second.key(), start()).await.unwrap(), Begin::Begun);
}

async fn nobody_elses_ask_is_found(journal: &dyn Journal) {
    let record = accept(journal, ask(journal, 1, 1)).await;
    let stranger = PrincipalId(journal.local_principal().0 + 1);
    let foreign = Key::new(stranger, record.outcome.request_id);
    assert_eq!(journal.find(foreign).await.unwrap(), None);
    let foreign = ConversationKey::new(stranger, record.outcome.conversation_id);
    assert_eq!(journal.conversation(foreign, None, 9).await.unwrap(), None);
    assert_eq!(journal.history(foreign, 9, 9_999).await.unwrap(), []);
}

async fn an_ask_is_repeated_by_one_other(journal: &dyn Journal) {
    let retry = |id, conversation, of| NewAsk {
        retry_of: Some(request_id(of)),
        ..ask(journal, id, conversation)
    };
    let accepted = |ask| journal.accept(ask);
    assert_eq!(accepted(retry(9, 1, 1)).await.unwrap(), Accept::InvalidRetryOf, "unknown");
    assert_eq!(accepted(retry(9, 1, 9)).await.unwrap(), Accept::InvalidRetryOf, "itself");
    let first = accept(journal, ask(journal, 1, 1)).await;
    assert_eq!(accepted(retry(9, 1, 1)).await.unwrap(), Accept::InvalidRetryOf, "unsettled");
    journal.settle(first.key(), settled(&first, Status::Failed, None)).await.unwrap();
    assert_eq!(accepted(retry(9, 2, 1)).await.unwrap(), Accept::InvalidRetryOf, "elsewhere");
    assert_eq!(journal.find(key(journal, 9)).await.unwrap(), None, "a refusal leaves nothing");
    assert!(journal.conversation(conversation(journal, 2), None, 9).await.unwrap().is_none());

    let second = accept(journal, retry(2, 1, 1)).await;
    assert_eq!(second.outcome.retry_of, Some(request_id(1)));
    let first = journal.find(first.key()).await.unwrap().unwrap();
    assert_eq!(first.outcome.retried_by, Some(request_id(2)));
    let third = accepted(retry(3, 1, 1)).await.unwrap();
    assert_eq!(third, Accept::AlreadyRetried(request_id(2)));
    assert_eq!(accepted(retry(2, 1, 1)).await.unwrap(), Accept::Known(second), "the same again");
}

pub(super) fn unheard(journal: &dyn Journal, id: u128, conversation: u128) -> CancelledUnheard {
    let ids = (request_id(id), conversation_id(conversation));
    let mut outcome = Outcome::bare(ids.0, ids.1, Status::Cancelled, None);
    outcome.asked_at = Some(Timestamp::from_millis(5));
    outcome.settled_at = Some(Timestamp::from_millis(5));
    outcome.receipt = Some(Receipt::default());
    CancelledUnheard { ask: None, outcome, principal: journal.local_principal() }
}

async fn a_cancel_may_come_before_its_ask(journal: &dyn Journal) {
    let cancelled = unheard(journal, 1, 1);
    let record = journal.cancel_unheard(cancelled.clone()).await.unwrap();
    assert!(record.lacks_question());
    assert_eq!(record.outcome, cancelled.outcome);
    assert_eq!(journal.cancel_unheard(cancelled).await.unwrap(), record, "once more");
    assert!(journal.conversation(conversation(journal, 1), None, 9).await.unwrap().is_none());

    let elsewhere = journal.accept(ask(journal, 1, 2)).await.unwrap();
    assert_eq!(elsewhere, Accept::Known(record), "it is not of that conversation");
    let arriving = ask(journal, 1, 1);
    let Accept::Known(filled) = journal.accept(arriving.clone()).await.unwrap() else {
        panic!("it was known");
    };
    assert_eq!(filled.fingerprint, Some(arriving.fingerprint));
    assert_eq!(filled.outcome.status, Status::Cancelled);
    assert_eq!(filled.outcome.question.as_deref(), Some("Question 1?"));
    assert_eq!((filled.outcome.seq, filled.mark), (Some(1), Mark::Settled));
    assert_eq!(filled.outcome.receipt, Some(Receipt::default()), "its receipt is frozen");

    let known = accept(journal, ask(journal, 2, 1)).await;
    let late = journal.cancel_unheard(unheard(journal, 2, 1)).await.unwrap();
    assert_eq!(late, known, "a known id is left as it is");
}

async fn a_cancel_may_bring_its_ask_along(journal: &dyn Journal) {
    let brought = NewAsk { retry_of: Some(request_id(7)), ..ask(journal, 1, 1) };
    let cancelled = CancelledUnheard { ask: Some(brought.clone()), ..unheard(journal, 1, 1) };
    let record = journal.cancel_unheard(cancelled).await.unwrap();
    assert_eq!(record.fingerprint, Some(brought.fingerprint));
    assert_eq!((record.outcome.status, record.outcome.seq), (Status::Cancelled, Some(1)));
    assert_eq!(record.outcome.question.as_deref(), Some("Question 1?"));
    assert_eq!(record.outcome.retry_of, None, "there is nothing to repeat");
    let next = accept(journal, NewAsk { start: Some(start()), ..ask(journal, 2, 1) }).await;
    assert_eq!((next.outcome.seq, next.starts), (Some(2), 1));
}

async fn partial_text_grows_and_may_be_written_twice(journal: &dyn Journal) {
    let record = accept(journal, NewAsk { start: Some(start()), ..ask(journal, 1, 1) }).await;
    let key = record.key();
    let part = |offset, text: &str, submissions| Partial {
        text_offset: offset,
        text: text.to_owned(),
        submissions,
        ..Partial::default()
    };
    journal.append(key, part(0, "Grüße", 1)).await.unwrap();
    // The first attempt may have been written without anybody knowing.
    journal.append(key, part(0, "Grüße", 1)).await.unwrap();
    journal.append(key, part(7, ", ", 2)).await.unwrap();
    journal.append(key, part(7, ", Welt", 2)).await.unwrap();
    let thought = Partial { reasoning: "hm".to_owned(), submissions: 1, ..Partial::default() };
    journal.append(key, thought).await.unwrap();
    let found = journal.find(key).await.unwrap().unwrap();
    let answer = found.outcome.answer.clone().unwrap();
    assert_eq!((answer.text.as_str(), answer.bytes), ("Grüße, Welt", 13));
    assert_eq!(answer.reasoning.as_deref(), Some("hm"));
    assert_eq!(found.submissions, 2, "the count never falls");
    assert_eq!(journal.unsettled().await.unwrap(), std::slice::from_ref(&found));

    let outcome = settled(&found, Status::Interrupted, Some("Grüße, Welt"));
    journal.settle(key, outcome.clone()).await.unwrap();
    journal.append(key, part(13, "!", 3)).await.unwrap();
    let found = journal.find(key).await.unwrap().unwrap();
    assert_eq!(found.outcome, outcome, "text that comes too late changes nothing");
}

async fn a_settled_outcome_comes_back_whole_and_never_changes(journal: &dyn Journal) {
    let record = accept(journal, NewAsk { start: Some(start()), ..ask(journal, 1, 1) }).await;
    let mut outcome = settled(&record, Status::Failed, None);
    outcome.answer = Some(Answer {
        format: Format::Markdown,
        text: "tail\u{0}less 🦀".to_owned(),
        offset: 0,
        bytes: 14,
        reasoning: Some(String::new()),
        finish: Some(Finish::Filtered),
    });
    outcome.error = Some(Failure {
        code: FailureCode::ProviderThrottled,
        message: "Slow down.".to_owned(),
        retryable: true,
    });
    outcome.route = Some(Route::MemoryExact);
    outcome.receipt = Some(Receipt {
        provider: Some("openai".to_owned()),
        model: Some("m".to_owned()),
        provider_calls: 1,
        input_tokens: Some(1),
        output_tokens: Some(2),
        usage_estimated: Some(true),
        cost_micros: Some(3),
        currency: Some("USD".to_owned()),
        submissions: 4,
        first_token_ms: Some(5),
        run_ms: Some(6),
    });
    let capture =
        Capture { stored: false, reason: CaptureReason::MemoryOff, note_id: Some("n".to_owned()) };
    outcome.capture = Some(capture);
    outcome.context = vec![ContextItem {
        kind: ContextKind::Turn,
        id: "t".to_owned(),
        title: Some("\"T\"".to_owned()),
        excerpt: None,
        score: Some(0.25),
    }];
    outcome.context_missing = vec!["x".to_owned()];
    assert_eq!(journal.settle(record.key(), outcome.clone()).await.unwrap(), outcome);
    let found = journal.find(record.key()).await.unwrap().unwrap();
    assert_eq!((&found.outcome, found.mark), (&outcome, Mark::Settled));
    assert_eq!(journal.unsettled().await.unwrap(), []);

    let other = settled(&record, Status::Completed, Some("another"));
    assert_eq!(journal.settle(record.key(), other).await.unwrap(), outcome);
    assert_eq!(journal.find(record.key()).await.unwrap().unwrap(), found);
}

async fn a_count_beyond_the_stores_numbers_does_not_keep_an_ask_from_settling(
    journal: &dyn Journal,
) {
    let record = accept(journal, ask(journal, 1, 1)).await;
    let mut outcome = settled(&record, Status::Completed, Some("a"));
    let receipt = Receipt { input_tokens: Some(u64::MAX), submissions: 1, ..Receipt::default() };
    outcome.receipt = Some(receipt);
    let stored = journal.settle(record.key(), outcome).await.unwrap();
    assert!(stored.receipt.unwrap().input_tokens.unwrap() > u64::from(u32::MAX));
}

async fn a_run_may_be_put_back(journal: &dyn Journal) {
    let start = Start { provider: "notes".to_owned(), billable: false, ..start() };
    let record = accept(journal, NewAsk { start: Some(start.clone()), ..ask(journal, 1, 1) }).await;
    assert_eq!(record.mark, Mark::Calling { billable: false });
    let partial = Partial { text: "half".to_owned(), ..Partial::default() };
    journal.append(record.key(), partial).await.unwrap();
    journal.requeue(record.key()).await.unwrap();
    let found = journal.find(record.key()).await.unwrap().unwrap();
    assert_eq!((found.mark, found.starts, found.outcome.answer), (Mark::Accepted, 1, None));
    assert_eq!(journal.begin(record.key(), start).await.unwrap(), Begin::Begun);
    assert_eq!(journal.find(record.key()).await.unwrap().unwrap().starts, 2);
}

async fn a_run_is_overdue_by_either_deadline_while_it_lasts(journal: &dyn Journal) {
    let overdue = async |now| {
        let overdue = journal.overdue(Uptime::from_millis(now)).await.unwrap();
        overdue.iter().map(|record| record.outcome.request_id).collect::<Vec<_>>()
    };
    let calling = |id, silent, run| NewAsk {
        start: Some(Start { deadlines: deadlines(silent, run), ..start() }),
        ..ask(journal, id, id)
    };
    let first = accept(journal, calling(1, 500, 900)).await;
    assert_eq!(first.deadlines, Some(deadlines(500, 900)));
    accept(journal, calling(2, 5_000, 700)).await;
    let waiting = accept(journal, ask(journal, 3, 1)).await;
    assert_eq!(waiting.deadlines, None, "only a run has deadlines");
    assert_eq!(overdue(499).await, []);
    assert_eq!(overdue(500).await, [request_id(1)]);
    assert_eq!(overdue(700).await, [request_id(1), request_id(2)]);

    let alive = |at| Partial { silent: Some(Uptime::from_millis(at)), ..Partial::default() };
    journal.append(first.key(), alive(800)).await.unwrap();
    journal.append(first.key(), alive(600)).await.unwrap();
    assert_eq!(overdue(799).await, [request_id(2)], "a deadline only moves on");
    journal.append(first.key(), alive(2_000)).await.unwrap();
    assert_eq!(overdue(899).await, [request_id(2)]);
    assert_eq!(overdue(900).await, [request_id(1), request_id(2)], "but not that of the run");
    assert_eq!(journal.find(first.key()).await.unwrap().unwrap().outcome.answer, None);

    journal.settle(first.key(), settled(&first, Status::Failed, None)).await.unwrap();
    assert_eq!(journal.find(first.key()).await.unwrap().unwrap().deadlines, None);
    assert_eq!(overdue(9_999).await, [request_id(2)], "what has settled is not overdue");
    journal.requeue(key(journal, 2)).await.unwrap();
    assert_eq!(overdue(9_999).await, [], "nor what waits");
}

async fn history_is_what_has_text_and_no_successor(journal: &dyn Journal) {
    let c = |id| ask(journal, id, 1);
    turn(journal, c(1), Status::Completed, Some("A")).await;
    turn(journal, c(2), Status::Cancelled, None).await;
    turn(journal, c(3), Status::Cancelled, Some("C")).await;
    turn(journal, c(4), Status::Failed, Some("D")).await;
    let retry = NewAsk { retry_of: Some(request_id(4)), ..c(5) };
    turn(journal, retry, Status::Completed, Some("E")).await;
    turn(journal, ask(journal, 6, 2), Status::Completed, Some("elsewhere")).await;
    accept(journal, c(7)).await;
    turn(journal, c(8), Status::Completed, Some("later")).await;
    let here = conversation(journal, 1);
    let answers = |turns: Vec<Turn>| turns.into_iter().map(|t| t.answer).collect::<Vec<_>>();
    assert_eq!(answers(journal.history(here, 6, 9_999).await.unwrap()), ["E", "C", "A"]);
    assert_eq!(answers(journal.history(here, 6, 13).await.unwrap()), ["E", "C"], "enough");
    assert_eq!(answers(journal.history(here, 6, 12).await.unwrap()), ["E"]);
    let turns = journal.history(here, 4, 9_999).await.unwrap();
    let first = turns.first().unwrap();
    assert_eq!((first.status, first.request_id), (Status::Cancelled, request_id(3)));
    assert_eq!(first.question, "Question 3?");
}

async fn a_conversation_comes_in_pages(journal: &dyn Journal) {
    let here = conversation(journal, 1);
    assert_eq!(journal.conversation(here, None, 9).await.unwrap(), None);
    for id in 1..=5 {
        turn(journal, ask(journal, id, 1), Status::Completed, Some("a")).await;
    }
    accept(journal, ask(journal, 6, 1)).await;
    journal.cancel_unheard(unheard(journal, 7, 1)).await.unwrap();
    let page = async |before, limit| {
        let page = journal.conversation(here, before, limit).await.unwrap().unwrap();
        let seqs: Vec<_> = page.turns.iter().map(|turn| turn.seq.unwrap()).collect();
        (seqs, page.next)
    };
    assert_eq!(page(None, 9).await, (vec![1, 2, 3, 4, 5, 6], None));
    assert_eq!(page(None, 6).await, (vec![1, 2, 3, 4, 5, 6], None));
    assert_eq!(page(None, 4).await, (vec![3, 4, 5, 6], Some(3)));
    assert_eq!(page(Some(3), 4).await, (vec![1, 2], None));
    assert_eq!(page(Some(1), 4).await, (vec![], None));
    let whole = journal.conversation(here, None, 9).await.unwrap().unwrap();
    assert_eq!((whole.id, whole.title.as_str()), (conversation_id(1), "Question 1?"));
}

async fn what_is_written_is_there_after_opening_again(store: &mut impl Store) {
    let journal = store.journal();
    let owner = journal.local_owner();
    let accepted = accept(&*journal, NewAsk { start: Some(start()), ..ask(&*journal, 1, 1) }).await;
    let partial = Partial { text: "half".to_owned(), submissions: 1, ..Partial::default() };
    journal.append(accepted.key(), partial).await.unwrap();
    let outcome = turn(&*journal, ask(&*journal, 2, 2), Status::Completed, Some("whole")).await;
    drop(journal);
    store.reopen().await;
    let journal = store.journal();
    assert_eq!(journal.local_owner(), owner);
    let found = journal.find(accepted.key()).await.unwrap().unwrap();
    assert_eq!((found.outcome.text(), found.mark), ("half", Mark::Calling { billable: true }));
    assert_eq!(journal.find(key(&*journal, 2)).await.unwrap().unwrap().outcome, outcome);
}
