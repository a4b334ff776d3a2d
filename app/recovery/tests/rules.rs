//! Each rule of recovery, told as a story.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod page;

use std::time::Duration;

use holdfast_protocol::reply::{Exchange, Verdict};
use holdfast_protocol::{AskBody, Code, RecoveryPolicy, State, Status, Timestamp};
use holdfast_recovery::{
    Action, Announcement, Event, Notice, Nudge, Pointer, Returned, SessionReply, Trouble, Turn,
};
use page::{
    NOTHING, OWNER, Page, TIMED_OUT, body, conversation, delta, end, outcome, pointer, refused,
    request, says, unheard,
};

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

#[test]
fn an_ask_is_kept_sent_followed_shown_and_let_go() {
    let mut page = Page::open();
    page.ask(1);
    assert_eq!((page.status(1), page.flight(1).kind), ("sending", Exchange::Ask));
    assert_eq!(page.flight(1).wait, 0, "a submission is no long exchange");
    assert!(page.is_stored(1) && page.mirror.contains_key(&request(1)));
    page.reply(1, says(outcome(1, Status::Pending, "")));
    assert!(page.mirror.is_empty(), "accepted: no business of other tabs any more");
    assert_eq!((page.status(1), page.flight(1).kind), ("pending", Exchange::Events));
    page.stream(1, delta(0, "Be"));
    assert_eq!((page.status(1), page.turn(1).shown.text()), ("pending", "Be"));
    page.stream(1, delta(2, "cause."));
    page.stream(1, end(1, Status::Completed, 8));
    assert_eq!((page.status(1), page.turn(1).shown.text()), ("completed", "Because."));
    assert!(!page.turn(1).recovered && !page.is_stored(1) && !page.is_flying(1));
    assert_eq!(page.announced, [Announcement::Sent, Announcement::Completed]);
}

#[test]
fn the_same_id_submitted_twice_is_one_ask() {
    let mut page = Page::open();
    page.ask(1);
    page.ask(1);
    assert_eq!(page.sent.len(), 1);
}

#[test]
fn a_line_cut_before_the_ask_arrived_means_look_up_then_the_same_again() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, NOTHING);
    assert_eq!((page.status(1), page.flight(1).kind), ("unknown", Exchange::Lookup));
    page.reply(1, unheard(1));
    assert!(!page.is_flying(1), "not before the session has said whose archive this is");
    page.sign_in(OWNER);
    assert_eq!(page.flight(1).kind, Exchange::Resubmission);
    page.reply(1, says(outcome(1, Status::Completed, "Yes.")));
    assert!(page.turn(1).recovered && !page.is_stored(1));
    assert!(page.announced.contains(&Announcement::ConnectionLost));
}

#[test]
fn a_line_cut_after_the_ask_arrived_costs_a_lookup_and_nothing_else() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, TIMED_OUT);
    page.reply(1, says(outcome(1, Status::Completed, "Yes.")));
    assert_eq!(page.sent.len(), 2);
    assert!(page.turn(1).recovered);
    assert_eq!(page.announced.last(), Some(&Announcement::Recovered));
}

#[test]
fn forty_five_lookups_without_a_reply_and_then_a_person_or_an_event() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, NOTHING);
    let mut slept = 0;
    while page.status(1) != "unreachable" {
        slept += page.sleep_until_flying(1);
        page.reply(1, NOTHING);
    }
    assert_eq!(page.count(1, Exchange::Lookup), 45);
    assert!((60_000..360_000).contains(&slept), "{slept} ms");
    assert!(page.is_stored(1) && page.turn(1).actions.contains(&Action::CheckAgain));
    for nudge in [Nudge::Online, Nudge::Visible, Nudge::PageShow, Nudge::Woke] {
        page.nudge(nudge);
        assert_eq!(page.flight(1).kind, Exchange::Lookup, "{nudge:?}");
        page.reply(1, NOTHING);
        assert_eq!(page.status(1), "unreachable");
    }
    page.event(Event::CheckedAgain(request(1)));
    page.reply(1, says(outcome(1, Status::Completed, "Yes.")));
    assert_eq!(page.status(1), "completed");
}

#[test]
fn fifteen_lookups_after_a_start() {
    let mut page = Page::with(vec![pointer(1, 1_000, OWNER)]);
    assert_eq!(page.status(1), "unknown");
    while page.status(1) != "unreachable" {
        page.sleep_until_flying(1);
        page.reply(1, NOTHING);
    }
    assert_eq!(page.count(1, Exchange::Lookup), 15);
    assert!(page.is_stored(1));
}

#[test]
fn how_often_to_try_is_the_servers_word() {
    let mut page = Page::closed();
    page.remembered = Some(OWNER.parse().unwrap());
    page.stored.readable = vec![pointer(1, 1_000, OWNER)];
    page.start();
    let policy = RecoveryPolicy { startup_attempts: 3, ..RecoveryPolicy::default() };
    page.session(SessionReply::SignedIn { owner: OWNER.parse().unwrap(), policy });
    while page.status(1) != "unreachable" {
        page.sleep_until_flying(1);
        page.reply(1, NOTHING);
    }
    assert_eq!(page.count(1, Exchange::Lookup), 3);
}

#[test]
fn any_outcome_resets_the_count() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, says(outcome(1, Status::Pending, "")));
    for _ in 0..44 {
        page.sleep_until_flying(1);
        page.reply(1, NOTHING);
    }
    assert_eq!(page.status(1), "pending", "an accepted ask stays pending while attempts are left");
    page.sleep_until_flying(1);
    page.reply(1, says(outcome(1, Status::Pending, "")));
    for _ in 0..44 {
        page.sleep_until_flying(1);
        page.reply(1, NOTHING);
    }
    assert_ne!(page.status(1), "unreachable");
}

#[test]
fn after_five_resubmissions_the_question_is_offered_back() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, NOTHING);
    while page.turn(1).trouble != Some(Trouble::MayNotHaveArrived) {
        page.settle_sessions();
        if page.turn(1).trouble == Some(Trouble::MayNotHaveArrived) {
            break;
        }
        page.sleep_until_flying(1);
        let verdict = if page.flight(1).kind == Exchange::Lookup { unheard(1) } else { NOTHING };
        page.reply(1, verdict);
    }
    assert_eq!(page.count(1, Exchange::Resubmission), 5);
    assert_eq!(page.status(1), "unknown");
    assert!(page.is_stored(1) && page.turn(1).actions.contains(&Action::TakeBack));
}

#[test]
fn a_question_taken_back_is_cancelled_first_so_that_it_never_runs_behind_ones_back() {
    let mut page = Page::with(vec![pointer(1, 2 * HOUR, OWNER)]);
    page.reply(1, unheard(1));
    page.settle_sessions();
    assert_eq!(page.turn(1).trouble, Some(Trouble::MayNotHaveArrived));
    assert_eq!(page.count(1, Exchange::Resubmission), 0, "older than an hour");
    page.event(Event::TakenBack(request(1)));
    assert_eq!(page.flight(1).kind, Exchange::Cancel);
    assert!(page.returned.is_empty(), "not before the cancel is acknowledged");
    page.reply(1, says(outcome(1, Status::Cancelled, "")));
    assert_eq!(page.returned, [(request(1), Returned::TakenBack)]);
    assert!(!page.is_stored(1) && page.turns.is_empty());
}

#[test]
fn a_question_taken_back_too_late_brings_its_answer_instead() {
    let mut page = Page::with(vec![pointer(1, 2 * HOUR, OWNER)]);
    page.reply(1, unheard(1));
    page.settle_sessions();
    page.event(Event::TakenBack(request(1)));
    page.reply(1, says(outcome(1, Status::Completed, "Yes.")));
    assert_eq!((page.status(1), page.returned.len()), ("completed", 0));
}

#[test]
fn seven_days_end_a_pointer_only_once_holdfast_has_answered() {
    let mut page = Page::with(vec![pointer(1, 8 * DAY, OWNER)]);
    while page.status(1) != "unreachable" {
        page.sleep_until_flying(1);
        page.reply(1, NOTHING);
    }
    assert!(page.is_stored(1));
    page.nudge(Nudge::Online);
    page.reply(1, unheard(1));
    page.settle_sessions();
    assert_eq!(page.returned, [(request(1), Returned::Expired)]);
    assert!(!page.is_stored(1));
}

#[test]
fn another_archive_is_asked_but_never_given_the_ask_again() {
    let mut page = Page::with(vec![pointer(1, 1_000, "anna.archive0")]);
    page.reply(1, unheard(1));
    page.settle_sessions();
    assert_eq!(page.turn(1).trouble, Some(Trouble::MayHaveBeenPaid));
    assert_eq!(page.count(1, Exchange::Resubmission), 0);
    page.event(Event::TakenBack(request(1)));
    assert_eq!(page.returned, [(request(1), Returned::TakenBack)]);
}

#[test]
fn an_archive_restored_while_the_page_is_open_is_not_given_the_ask_again() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, NOTHING);
    page.reply(1, unheard(1));
    page.sign_in("anna.archive2");
    assert_eq!(page.turn(1).trouble, Some(Trouble::MayHaveBeenPaid));
    assert_eq!(page.count(1, Exchange::Resubmission), 0);
}

#[test]
fn an_ask_that_was_accepted_and_is_forgotten_is_not_sent_again() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, says(outcome(1, Status::Pending, "")));
    page.reply(1, unheard(1));
    page.settle_sessions();
    assert_eq!(page.turn(1).trouble, Some(Trouble::MayHaveBeenPaid));
    assert_eq!(page.count(1, Exchange::Resubmission), 0);
}

#[test]
fn another_principals_pointer_is_only_kept() {
    let mut page =
        Page::with(vec![pointer(1, 1_000, "bert.archive1"), pointer(2, 8 * DAY, "bert.a")]);
    assert!(page.turns.is_empty() && page.sent.is_empty());
    assert!(page.is_stored(1) && !page.is_stored(2), "seven days at the most");
    page.ask(3);
    assert!(page.is_stored(1) && page.is_stored(3));
    page.start();
    page.sign_in("bert.archive1");
    assert_eq!(page.flight(1).kind, Exchange::Lookup);
    assert!(!page.turns.contains_key(&request(3)) && page.is_stored(3));
}

#[test]
fn what_cannot_be_read_is_kept() {
    let mut page = Page::closed();
    page.stored = holdfast_recovery::Pointers::parse(r#"[{"from":"the future"}, 7]"#);
    page.start();
    page.sign_in(OWNER);
    page.ask(1);
    assert_eq!(page.stored.unreadable.len(), 2);
}

#[test]
fn nothing_is_shown_or_asked_before_it_is_known_whose_page_this_is() {
    let mut page = Page::closed();
    page.stored.readable = vec![pointer(1, 1_000, OWNER)];
    page.start();
    assert!(page.turns.is_empty() && page.sent.is_empty());
    page.remembered = Some(OWNER.parse().unwrap());
    page.start();
    assert_eq!((page.status(1), page.flight(1).kind), ("unknown", Exchange::Lookup));
    page.sign_in("bert.archive1");
    assert!(page.turns.is_empty() && page.flights.is_empty() && page.is_stored(1));
}

#[test]
fn told_to_wait_the_same_id_goes_out_after_the_time_and_not_before() {
    let mut page = Page::open();
    page.ask(1);
    let wait = |seconds| Verdict::Wait {
        after: Duration::from_secs(seconds),
        code: Some(Code::RateLimited),
        detail: "Slow down.".into(),
    };
    page.reply(1, wait(7));
    assert_eq!(page.turn(1).trouble, Some(Trouble::Waiting("Slow down.".into())));
    for nudge in [Nudge::Online, Nudge::Visible, Nudge::Woke] {
        page.nudge(nudge);
        assert!(!page.is_flying(1), "{nudge:?} does not shorten the wait");
    }
    let slept = page.sleep_until_flying(1);
    assert!((7_000..=7_700).contains(&slept), "{slept}");
    assert_eq!(page.flight(1).kind, Exchange::Resubmission);
    page.reply(1, wait(61));
    assert_eq!(page.turn(1).trouble, Some(Trouble::LongWait(Duration::from_secs(61))));
    assert!(page.timers.is_empty() || page.sleep().is_none() || !page.is_flying(1));
    assert!(page.turn(1).actions.contains(&Action::SendNow));
    page.event(Event::CheckedAgain(request(1)));
    assert_eq!(page.flight(1).kind, Exchange::Resubmission);
}

#[test]
fn a_pause_that_was_overtaken_does_not_cut_the_next_one_short() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, NOTHING);
    page.reply(1, NOTHING);
    assert!(!page.is_flying(1), "it pauses after a failure");
    page.nudge(Nudge::Online);
    let after = Duration::from_mins(1);
    page.reply(1, Verdict::Wait { after, code: Some(Code::Starting), detail: String::new() });
    let slept = page.sleep_until_flying(1);
    assert!(slept >= 60_000, "{slept}");
}

#[test]
fn a_pending_ask_told_to_wait_is_not_looked_up_sooner() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, says(outcome(1, Status::Pending, "")));
    let after = Duration::from_secs(5);
    page.reply(1, Verdict::Wait { after, code: Some(Code::Starting), detail: String::new() });
    for nudge in [Nudge::Online, Nudge::Visible, Nudge::PageShow, Nudge::Woke] {
        page.nudge(nudge);
        assert!(!page.is_flying(1), "{nudge:?} does not shorten the wait");
    }
    assert!(page.sleep_until_flying(1) >= 5_000);
}

#[test]
fn a_refusal_gives_the_question_back() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, refused());
    assert_eq!((page.status(1), page.is_stored(1)), ("refused", false));
    let why = Returned::Refused { code: Code::InvalidField, detail: "No.".into() };
    assert_eq!(page.returned, [(request(1), why)]);
    assert!(page.mirror.is_empty());
}

#[test]
fn a_deleted_ask_lets_its_pointer_go() {
    let mut page = Page::with(vec![pointer(1, 1_000, OWNER)]);
    page.reply(1, Verdict::Gone { detail: "Deleted.".into() });
    assert!(!page.is_stored(1) && page.turn(1).status.is_at_rest());
}

#[test]
fn signed_out_the_pointer_waits_for_a_sign_in() {
    let mut page = Page::with(vec![pointer(1, 1_000, OWNER)]);
    page.reply(1, Verdict::SignIn { detail: "Sign in.".into() });
    assert_eq!(page.turn(1).trouble, Some(Trouble::SignIn));
    assert!(page.is_stored(1) && page.notices.contains(&Notice::SignInRequired));
    page.nudge(Nudge::Visible);
    page.session(SessionReply::SignedOut);
    page.nudge(Nudge::Visible);
    page.sign_in(OWNER);
    assert_eq!(page.flight(1).kind, Exchange::Lookup);
}

#[test]
fn already_asked_again_follows_the_ask_that_did() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, Verdict::Retried(request(2)));
    assert!(!page.turns.contains_key(&request(1)) && !page.is_stored(1));
    page.reply(2, says(outcome(2, Status::Completed, "Yes.")));
    assert_eq!(page.status(2), "completed");
}

#[test]
fn the_same_is_asked_again_by_an_ask_that_names_the_first() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, says(outcome(1, Status::Interrupted, "Be")));
    assert_eq!(page.turn(1).actions, [Action::AskAgain]);
    let again = page.turn(1).again(request(2));
    let wanted = AskBody { retry_of: Some(request(1)), question: "Question 1?".into(), ..body(2) };
    assert_eq!(again, wanted);
    page.event(Event::Submitted(again.clone()));
    assert_eq!(page.flight(2).ask.as_deref(), Some(&again));
    assert_eq!(
        (page.turn(2).retry_of, page.turn(1).status.as_str()),
        (Some(request(1)), "interrupted")
    );
    page.reply(2, NOTHING);
    page.reply(2, unheard(2));
    page.settle_sessions();
    assert_eq!(page.flight(2).ask.as_deref(), Some(&again), "the very same body");
    let mut second = outcome(2, Status::Completed, "Because.");
    second.retry_of = Some(request(1));
    page.reply(2, says(second));
    assert_eq!(page.turn(2).retry_of, Some(request(1)));
    let mut first = outcome(1, Status::Interrupted, "Be");
    first.retried_by = Some(request(2));
    page.event(Event::Seen(Box::new(first)));
    assert!(page.turn(1).actions.is_empty(), "only the last of a chain is asked again");
}

#[test]
fn whatever_has_settled_can_be_asked_again_and_nothing_else() {
    for (status, can) in [
        (Status::Pending, false),
        (Status::Completed, true),
        (Status::Failed, true),
        (Status::Cancelled, true),
        (Status::Interrupted, true),
    ] {
        let mut page = Page::open();
        page.event(Event::Seen(Box::new(outcome(1, status, ""))));
        let turn = Turn::of_outcome(outcome(1, status, ""));
        for turn in [page.turn(1), &turn] {
            assert_eq!(turn.actions.contains(&Action::AskAgain), can, "{status:?}");
        }
    }
}

#[test]
fn asked_again_in_two_tabs_it_is_one_ask_and_both_show_it() {
    let mut page = Page::open();
    page.event(Event::Submitted(AskBody { retry_of: Some(request(1)), ..body(2) }));
    page.reply(2, Verdict::Retried(request(3)));
    assert!(!page.turns.contains_key(&request(2)) && page.returned.is_empty());
    assert!(!page.is_stored(2) && page.mirror.is_empty());
    assert_eq!(page.turn(3).question, "Question 2?", "what it asks is known before it is found");
    page.reply(3, says(outcome(3, Status::Pending, "Be")));
    assert_eq!((page.status(3), page.flight(3).kind), ("pending", Exchange::Events));
    assert!(page.turn(3).actions.contains(&Action::Stop));
}

#[test]
fn already_asked_again_by_an_ask_that_is_on_the_screen_changes_nothing_of_it() {
    for status in [Status::Pending, Status::Completed] {
        let mut page = Page::open();
        page.event(Event::Seen(Box::new(outcome(3, status, "Because."))));
        let shown = page.turn(3).clone();
        page.event(Event::Submitted(AskBody { retry_of: Some(request(1)), ..body(2) }));
        page.reply(2, Verdict::Retried(request(3)));
        assert!(!page.turns.contains_key(&request(2)));
        assert_eq!(*page.turn(3), shown);
    }
}

#[test]
fn offline_a_question_waits_and_goes_out_by_itself() {
    let mut page = Page::open();
    page.event(Event::WentOffline);
    page.ask(1);
    assert_eq!((page.status(1), page.is_flying(1), page.is_stored(1)), ("queued", false, true));
    page.nudge(Nudge::Online);
    assert_eq!(page.flight(1).kind, Exchange::Ask);
}

#[test]
fn a_question_that_never_left_can_be_withdrawn_without_a_word_to_the_server() {
    let mut page = Page::open();
    page.event(Event::WentOffline);
    page.ask(1);
    page.event(Event::Stopped(request(1)));
    assert_eq!(page.returned, [(request(1), Returned::Withdrawn)]);
    assert!(page.sent.is_empty() && !page.is_stored(1) && page.mirror.is_empty());
}

#[test]
fn asked_before_the_session_is_known_it_waits_for_it() {
    let mut page = Page::closed();
    page.start();
    page.ask(1);
    assert_eq!((page.status(1), page.is_flying(1)), ("queued", false));
    page.sign_in(OWNER);
    assert_eq!(page.flight(1).kind, Exchange::Ask);
    assert_eq!(page.stored.readable[0].owner, Some(OWNER.parse().unwrap()));
}

#[test]
fn without_any_session_the_person_is_told_and_can_try() {
    let mut page = Page::closed();
    page.start();
    page.ask(1);
    let mut tries = 0;
    while !page.notices.contains(&Notice::ServerUnreachable) {
        while page.sessions.is_empty() {
            page.sleep().unwrap();
        }
        page.session(SessionReply::Nothing);
        tries += 1;
    }
    assert_eq!(tries, 15);
    assert_eq!(page.turn(1).trouble, Some(Trouble::Unreachable));
    page.event(Event::CheckedAgain(request(1)));
    page.sign_in(OWNER);
    assert_eq!(page.flight(1).kind, Exchange::Ask);
    assert!(page.notices.contains(&Notice::ServerReached));
}

#[test]
fn stop_reaches_an_ask_in_every_state_and_is_repeated_until_acknowledged() {
    for accepted in [false, true] {
        let mut page = Page::open();
        page.ask(1);
        if accepted {
            page.reply(1, says(outcome(1, Status::Pending, "Be")));
        }
        page.event(Event::Stopped(request(1)));
        let cancel = page.flight(1).cancel.clone().unwrap();
        assert_eq!(cancel.ask.is_some(), !accepted, "the question goes along if it may be new");
        assert!(page.stored.readable[0].cancel);
        for _ in 0..10 {
            page.reply(1, NOTHING);
            page.sleep_until_flying(1);
            assert_eq!(page.flight(1).kind, Exchange::Cancel);
        }
        let text = if accepted { "Be" } else { "" };
        page.reply(1, says(outcome(1, Status::Cancelled, text)));
        assert_eq!((page.status(1), page.turn(1).shown.text()), ("cancelled", text));
        assert!(!page.is_stored(1));
    }
}

#[test]
fn stop_survives_a_reload_and_nothing_is_submitted() {
    let mut page = Page::open();
    page.ask(1);
    page.event(Event::Stopped(request(1)));
    page.start();
    assert!(page.turn(1).stopping);
    assert_eq!(page.flight(1).kind, Exchange::Lookup, "no question leaves before the session");
    page.sign_in(OWNER);
    assert_eq!(page.flight(1).kind, Exchange::Cancel);
    page.reply(1, says(outcome(1, Status::Cancelled, "")));
    assert_eq!(page.count(1, Exchange::Resubmission) + page.count(1, Exchange::Ask), 1);
}

#[test]
fn stop_first_ends_the_tabs_long_exchange() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, says(outcome(1, Status::Pending, "")));
    page.ask(2);
    let long = page.flight(1).clone();
    assert!(long.is_long());
    page.event(Event::Stopped(request(2)));
    assert!(page.flights.iter().all(|flight| flight.exchange != long.exchange));
    let kinds: Vec<_> = page.flights.iter().map(|flight| flight.kind).collect();
    assert_eq!(kinds, [Exchange::Cancel, Exchange::Events], "and takes it up again behind it");
}

#[test]
fn text_never_shrinks_and_what_the_archive_lacks_is_marked() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, says(outcome(1, Status::Pending, "Because it")));
    page.reply(1, NOTHING);
    assert_eq!(page.turn(1).shown.text(), "Because it", "errors stand beside text");
    page.sleep_until_flying(1);
    page.reply(1, says(outcome(1, Status::Interrupted, "Because")));
    let shown = &page.turn(1).shown;
    assert_eq!((shown.text(), shown.unarchived_from()), ("Because it", Some(7)));
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, says(outcome(1, Status::Pending, "Because it")));
    page.reply(1, says(outcome(1, Status::Completed, "No.")));
    assert_eq!(page.turn(1).shown.text(), "No.", "a completed answer is the answer");
}

#[test]
fn hidden_or_elsewhere_there_is_no_long_exchange() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, says(outcome(1, Status::Pending, "")));
    page.event(Event::Hidden);
    assert!(!page.is_flying(1));
    page.sleep_until_flying(1);
    assert!(!page.flight(1).is_long());
    page.reply(1, says(outcome(1, Status::Pending, "")));
    page.nudge(Nudge::Visible);
    assert!(!page.flight(1).is_long(), "back in view it is looked up at once");
    page.reply(1, says(outcome(1, Status::Pending, "")));
    assert!(page.flight(1).is_long());
    page.event(Event::Viewing(Some(conversation(2))));
    assert!(!page.is_flying(1));
    page.event(Event::Viewing(Some(conversation(1))));
    assert!(page.flight(1).is_long());
}

#[test]
fn a_long_exchange_cut_short_does_not_become_a_storm() {
    for mut page in [Page::open(), Page::open_behind_a_buffer()] {
        page.ask(1);
        page.reply(1, says(outcome(1, Status::Pending, "")));
        for text in ["", "a", "ab", "abc", "abcd"] {
            assert!(page.flight(1).is_long());
            page.now += 20;
            page.reply(1, says(outcome(1, Status::Pending, text)));
            assert!(!page.is_flying(1));
            assert!(page.sleep_until_flying(1) >= 1_000);
        }
        assert_eq!(page.turn(1).shown.text(), "abcd", "it grows all the same");
    }
}

#[test]
fn a_time_out_halves_the_next_wait() {
    let mut page = Page::open_behind_a_buffer();
    page.ask(1);
    let mut queued = outcome(1, Status::Pending, "");
    queued.state = Some(State::Accepted);
    queued.queue = Some(3);
    page.reply(1, says(queued.clone()));
    for wait in [20, 10, 5, 2, 2] {
        assert_eq!(page.flight(1).wait, wait);
        page.reply(1, TIMED_OUT);
        page.sleep_until_flying(1);
        page.reply(1, says(queued.clone()));
    }
}

#[test]
fn becoming_visible_never_sends_an_ask_again() {
    let mut page = Page::open();
    page.ask(1);
    for _ in 0..20 {
        page.event(Event::Hidden);
        page.nudge(Nudge::Visible);
    }
    assert_eq!(page.sent.len(), 1);
    page.reply(1, says(outcome(1, Status::Pending, "")));
    for _ in 0..20 {
        page.event(Event::Hidden);
        page.nudge(Nudge::Visible);
    }
    assert_eq!(page.count(1, Exchange::Ask) + page.count(1, Exchange::Resubmission), 1);
    assert_eq!(page.flights.len(), 1);
    assert_eq!(page.count(1, Exchange::Lookup), 1, "one look, however often");
    page.reply(1, says(outcome(1, Status::Pending, "")));
    assert_eq!((page.flights.len(), page.flight(1).kind), (1, Exchange::Events));
    assert!(!page.announced.contains(&Announcement::ConnectionLost));
}

#[test]
fn back_on_line_a_dead_exchange_is_not_waited_for() {
    let mut page = Page::open();
    page.ask(1);
    page.nudge(Nudge::Online);
    assert_eq!(page.flight(1).kind, Exchange::Lookup);
    page.reply(1, says(outcome(1, Status::Completed, "Yes.")));
    assert!(page.turn(1).recovered);
}

#[test]
fn another_tabs_unsent_question_is_offered_and_never_sent() {
    let mut page = Page::closed();
    page.mirror.insert(request(1), pointer(1, 10_000, OWNER));
    page.mirror.insert(request(2), pointer(2, 10_000, "bert.archive1"));
    page.start();
    page.sign_in(OWNER);
    assert!(page.turns.is_empty(), "it may be under way over there");
    page.reply(1, unheard(1));
    page.settle_sessions();
    assert_eq!(page.turn(1).trouble, Some(Trouble::NeverSent));
    assert!(!page.is_stored(1), "the pointer is the other tab's");
    page.event(Event::TakenBack(request(1)));
    page.reply(1, says(outcome(1, Status::Cancelled, "")));
    assert_eq!(page.returned, [(request(1), Returned::TakenBack)]);
    assert!(page.sent.iter().all(|s| s.request_id == request(1) && s.ask.is_none()));
    assert_eq!(page.mirror.keys().collect::<Vec<_>>(), [&request(2)]);
}

#[test]
fn a_clock_that_was_set_back_does_not_keep_a_question_from_being_offered() {
    // Made an hour and a half from now, as far as this clock can tell.
    let ahead = |n| Pointer {
        asked_at: Timestamp::from_millis(Page::closed().now + 90 * 60 * 1000),
        ..pointer(n, 0, OWNER)
    };
    let mut page = Page::closed();
    page.mirror.insert(request(1), ahead(1));
    page.start();
    page.sign_in(OWNER);
    page.reply(1, unheard(1));
    page.settle_sessions();
    assert_eq!(page.turn(1).trouble, Some(Trouble::NeverSent));

    let mut page = Page::with(vec![ahead(2)]);
    page.reply(2, unheard(2));
    page.settle_sessions();
    assert_eq!(page.turn(2).trouble, Some(Trouble::MayNotHaveArrived), "it may be old");
}

#[test]
fn another_tabs_question_that_did_arrive_is_followed() {
    let mut page = Page::closed();
    page.mirror.insert(request(1), pointer(1, 10_000, OWNER));
    page.start();
    page.sign_in(OWNER);
    page.reply(1, says(outcome(1, Status::Completed, "Yes.")));
    assert_eq!(page.status(1), "completed");
    assert!(page.mirror.is_empty());
}

#[test]
fn an_outcome_seen_in_a_conversation_is_followed_without_a_pointer() {
    let mut page = Page::open();
    page.event(Event::Seen(Box::new(outcome(1, Status::Pending, "Be"))));
    assert!(page.flight(1).is_long() && !page.is_stored(1));
    page.event(Event::Stopped(request(1)));
    page.reply(1, says(outcome(1, Status::Cancelled, "Be")));
    assert_eq!(page.status(1), "cancelled");
    page.event(Event::Seen(Box::new(outcome(1, Status::Pending, "B"))));
    assert_eq!(page.status(1), "cancelled", "an older load does not unsettle it");
}

#[test]
fn a_refused_cancel_leaves_the_ask_to_be_looked_up() {
    let mut page = Page::open();
    page.ask(1);
    page.event(Event::Stopped(request(1)));
    page.reply(1, refused());
    assert_eq!(page.flight(1).kind, Exchange::Lookup);
    assert!(!page.stored.readable[0].cancel);
}

#[test]
fn two_asks_of_two_conversations_are_kept_apart() {
    let mut page = Page::open();
    page.ask(1);
    let mut other = body(2);
    other.conversation_id = conversation(2);
    page.event(Event::Submitted(other));
    page.reply(1, NOTHING);
    page.reply(2, NOTHING);
    page.start();
    page.sign_in(OWNER);
    assert!(page.is_flying(1) && page.is_flying(2));
    page.reply(1, says(outcome(1, Status::Completed, "One.")));
    assert_eq!(page.turn(1).shown.text(), "One.");
    assert_eq!(page.turn(2).shown.text(), "");
    assert!(page.is_stored(2) && !page.is_stored(1));
}

#[test]
fn an_answer_that_came_with_its_conversation_ends_the_lookup() {
    let mut page = Page::with(vec![pointer(1, 1_000, OWNER)]);
    page.event(Event::Seen(Box::new(outcome(1, Status::Completed, "Yes."))));
    assert_eq!((page.status(1), page.is_stored(1), page.is_flying(1)), ("completed", false, false));
    for nudge in [Nudge::Online, Nudge::Visible, Nudge::Woke] {
        page.nudge(nudge);
    }
    while page.sleep().is_some() {}
    assert_eq!((page.status(1), page.is_flying(1)), ("completed", false));
    let announced = page.announced.iter().filter(|a| **a == Announcement::Recovered).count();
    assert_eq!(announced, 1);
}

#[test]
fn waits_without_end_become_unreachable() {
    let mut page = Page::open();
    page.ask(1);
    let after = Duration::from_secs(1);
    while page.status(1) != "unreachable" {
        page.sleep_until_flying(1);
        let code = Some(Code::Starting);
        page.reply(1, Verdict::Wait { after, code, detail: String::new() });
    }
    assert_eq!(page.sent.len(), 46);
    page.nudge(Nudge::Online);
    page.reply(1, says(outcome(1, Status::Completed, "Yes.")));
    assert_eq!(page.status(1), "completed");
}

#[test]
fn what_holdfast_itself_replied_costs_no_attempt_and_is_bounded() {
    let mut page = Page::with(vec![pointer(1, 1_000, OWNER)]);
    for _ in 0..20 {
        page.sleep_until_flying(1);
        page.reply(1, Verdict::Unknown { timed_out: false, replied: true });
    }
    assert_eq!(page.status(1), "unknown", "more than fifteen, and still looking");
    while page.status(1) != "unreachable" {
        page.sleep_until_flying(1);
        page.reply(1, Verdict::Unknown { timed_out: false, replied: true });
    }
    assert_eq!(page.count(1, Exchange::Lookup), 46);
}

#[test]
fn a_session_asked_for_too_early_proves_nothing() {
    let mut page = Page::closed();
    page.remembered = Some(OWNER.parse().unwrap());
    page.stored.readable = vec![pointer(1, 1_000, OWNER)];
    page.start();
    page.reply(1, unheard(1));
    page.sign_in(OWNER);
    assert!(!page.is_flying(1), "that request left before the lookup was answered");
    page.sign_in("anna.archive2");
    assert_eq!(page.turn(1).trouble, Some(Trouble::MayHaveBeenPaid));
}

#[test]
fn a_person_who_says_send_now_is_believed_over_the_browser() {
    let mut page = Page::closed();
    page.start();
    page.event(Event::WentOffline);
    page.ask(1);
    page.event(Event::CheckedAgain(request(1)));
    page.sign_in(OWNER);
    assert_eq!(page.flight(1).kind, Exchange::Ask);
}
