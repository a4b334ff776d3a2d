//! What a turn shows of its ask, and what a person is offered to do about it.

#![expect(clippy::indexing_slicing, reason = "tests")]

mod page;

use std::time::Duration;

use holdfast_protocol::reply::{Exchange, Verdict};
use holdfast_protocol::{Code, Status, Timestamp};
use holdfast_recovery::{Action, Event, Trouble};
use page::{NOTHING, NOW, OWNER, Page, outcome, pointer, request, says};

fn wait(seconds: u64) -> Verdict {
    Verdict::Wait {
        after: Duration::from_secs(seconds),
        code: Some(Code::RateLimited),
        detail: "Slow down.".into(),
    }
}

#[test]
fn the_first_pending_ask_of_a_conversation_is_followed_whatever_its_id() {
    let mut page = Page::open();
    for (ask, seq) in [(1, 9), (2, 3), (3, 6)] {
        page.ask(ask);
        let mut pending = outcome(ask, Status::Pending, "");
        pending.seq = Some(seq);
        page.reply(ask, says(pending));
    }
    let followed = |page: &Page| {
        let long = page.flights.iter().find(|flight| flight.is_long());
        long.map(|flight| flight.request_id)
    };
    assert_eq!(followed(&page), Some(request(2)));
    // One that was cancelled before it arrived has no place, and comes last.
    let mut unplaced = outcome(0, Status::Pending, "");
    unplaced.seq = None;
    page.event(Event::Seen(Box::new(unplaced)));
    assert_eq!(followed(&page), Some(request(2)));
    for (settled, next) in [(2, Some(3)), (3, Some(1)), (1, Some(0))] {
        page.reply(settled, says(outcome(settled, Status::Completed, "Yes.")));
        assert_eq!(followed(&page), next.map(request), "after {settled}");
    }
}

#[test]
fn a_turn_says_when_it_was_asked_as_far_as_anybody_knows() {
    let mut page = Page::with(vec![pointer(1, 5_000, OWNER)]);
    assert_eq!(page.turn(1).asked_at, Some(Timestamp::from_millis(NOW - 5_000)), "by its pointer");
    let mut pending = outcome(1, Status::Pending, "");
    pending.asked_at = Some(Timestamp::from_millis(NOW - 4_900));
    page.reply(1, says(pending));
    assert_eq!(page.turn(1).asked_at, Some(Timestamp::from_millis(NOW - 4_900)), "by the archive");
    page.event(Event::Seen(Box::new(outcome(2, Status::Pending, ""))));
    assert_eq!(page.turn(2).asked_at, None, "nobody says, and it is not 1970");
}

#[test]
fn a_turn_is_being_stopped_from_the_click_to_its_end() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, says(outcome(1, Status::Pending, "Be")));
    assert!(!page.turn(1).stopping);
    page.event(Event::Stopped(request(1)));
    assert!(page.turn(1).stopping);
    page.reply(1, says(outcome(1, Status::Cancelled, "Be")));
    assert!(!page.turn(1).stopping, "it has been");
    page.ask(2);
    page.reply(2, says(outcome(2, Status::Completed, "Yes.")));
    assert!(!page.turn(2).stopping);
}

#[test]
fn stopped_at_once_it_is_still_being_sent_and_unknown_only_after_trouble() {
    let mut page = Page::open();
    page.ask(1);
    page.event(Event::Stopped(request(1)));
    assert_eq!((page.status(1), page.flight(1).kind), ("sending", Exchange::Cancel));
    page.reply(1, NOTHING);
    assert_eq!(page.status(1), "unknown");
    page.ask(2);
    page.reply(2, NOTHING);
    page.event(Event::Stopped(request(2)));
    assert_eq!((page.status(2), page.flight(2).kind), ("unknown", Exchange::Cancel));
}

#[test]
fn a_question_can_be_taken_back_while_none_of_it_is_under_way() {
    let mut page = Page::open();
    page.ask(1);
    assert_eq!(page.turn(1).actions, [Action::Stop], "it may have arrived");
    page.reply(1, wait(7));
    assert_eq!(page.turn(1).actions, [Action::Stop, Action::TakeBack], "it was refused for now");
    page.sleep_until_flying(1);
    assert_eq!(page.turn(1).actions, [Action::Stop], "it is under way once more");
}

#[test]
fn what_waits_for_a_person_offers_to_send_only_what_was_not_accepted() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, wait(90));
    assert!(matches!(page.turn(1).trouble, Some(Trouble::LongWait(_))));
    assert_eq!(page.turn(1).actions, [Action::SendNow, Action::TakeBack]);
    let mut page = Page::with(vec![pointer(1, 1_000, OWNER)]);
    page.reply(1, Verdict::SignIn { detail: "Sign in.".into() });
    assert_eq!(page.turn(1).actions, [Action::CheckAgain], "nobody knows what became of it");
}

#[test]
fn out_of_reach_it_can_be_stopped_once() {
    for stopped in [false, true] {
        let mut page = Page::open();
        page.ask(1);
        page.reply(1, says(outcome(1, Status::Pending, "")));
        if stopped {
            page.event(Event::Stopped(request(1)));
        }
        while page.status(1) != "unreachable" {
            page.sleep_until_flying(1);
            page.reply(1, NOTHING);
        }
        let both = [Action::CheckAgain, Action::Stop];
        assert_eq!(page.turn(1).actions, both[..2 - usize::from(stopped)]);
        assert_eq!(page.turn(1).stopping, stopped);
    }
}
