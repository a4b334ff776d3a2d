//! How an ask in view is followed: by its stream, and by lookups that say where to go on.

#![expect(clippy::unwrap_used, reason = "tests")]

mod page;

use std::time::Duration;

use holdfast_protocol::following::Followed;
use holdfast_protocol::reply::{Exchange, Verdict};
use holdfast_protocol::{Answer, Code, Outcome, State, Status};
use holdfast_recovery::{Announcement, Event, Nudge, Sending};
use page::{
    NOTHING, NOW, Page, TIMED_OUT, conversation, delta, end, outcome, page_of, pointer, refused,
    request, says, thought, unheard,
};

const ENDED: Verdict = Verdict::STREAM_ENDED;
const CUT: Verdict = Verdict::STREAM_BROKEN;

/// A page on which this much of an answer has been streamed, for a while.
fn streaming(text: &str) -> Page {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, says(outcome(1, Status::Pending, "")));
    page.now += 3_000;
    page.stream(1, delta(0, text));
    page
}

fn pending(text: &str) -> Verdict {
    says(outcome(1, Status::Pending, text))
}

/// What a lookup from there on says of a pending answer.
fn rest(text: &str, after: usize) -> Verdict {
    page_of(1, Status::Pending, text, after, 64 * 1024)
}

#[test]
fn a_lookup_asks_for_what_is_missing() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, pending("Grüße"));
    page.event(Event::Hidden);
    page.sleep_until_flying(1);
    assert_eq!((page.flight(1).kind, page.flight(1).after), (Exchange::Lookup, 7));
    page.reply(1, rest("Grüße, und", 7));
    assert_eq!(page.turn(1).shown.text(), "Grüße, und");
    page.sleep_until_flying(1);
    assert_eq!(page.flight(1).after, 12);
    page.reply(1, page_of(1, Status::Completed, "Grüße, und mehr", 12, 64 * 1024));
    assert_eq!((page.status(1), page.turn(1).shown.text()), ("completed", "Grüße, und mehr"));
}

#[test]
fn a_long_answer_comes_page_by_page_and_what_came_is_kept_across_attempts() {
    const PAGE: usize = 64 * 1024;
    let whole = "A line of it, é.\n".repeat(2_000_000 / 18);
    let mut page = Page::with(vec![pointer(1, 1_000, page::OWNER)]);
    let mut lookups = 0;
    while page.status(1) != "completed" {
        page.sleep_until_flying(1);
        assert_eq!(page.flight(1).kind, Exchange::Lookup);
        let after = usize::try_from(page.flight(1).after).unwrap();
        assert_eq!(after, page.turn(1).shown.text().len());
        lookups += 1;
        // Every third time the line drops.
        if lookups % 3 == 0 {
            page.reply(1, NOTHING);
            assert_eq!(page.turn(1).shown.text().len(), after);
            continue;
        }
        page.reply(1, page_of(1, Status::Completed, &whole, after, PAGE));
        let is_end = after + PAGE >= whole.len();
        assert_eq!(page.is_flying(1), !is_end, "the next page at once");
        assert_eq!(page.status(1), if is_end { "completed" } else { "pending" });
        assert_eq!(page.is_stored(1), !is_end, "a pointer is kept until all of it is here");
    }
    assert!(page.turn(1).shown.text() == whole);
    assert!((31..50).contains(&lookups), "{lookups}");
}

#[test]
fn a_server_that_says_there_is_more_and_never_sends_it_is_not_asked_for_ever() {
    let mut page = Page::open();
    page.ask(1);
    let mut says_more = outcome(1, Status::Completed, "Be");
    says_more.answer.as_mut().unwrap().bytes = 8;
    page.reply(1, says(says_more.clone()));
    let rest = Answer { offset: 2, bytes: 8, ..Answer::default() };
    says_more.answer = Some(rest);
    for _ in 0..60 {
        if page.status(1) == "unreachable" {
            break;
        }
        page.sleep_until_flying(1);
        page.reply(1, says(says_more.clone()));
    }
    assert_eq!(page.status(1), "unreachable");
    assert!(page.now - NOW > 60_000, "{} ms", page.now - NOW);
    assert_eq!(page.turn(1).shown.text(), "Be");
}

#[test]
fn text_grows_with_every_piece() {
    let mut page = streaming("");
    let mut text = String::new();
    for piece in ["Because ", "the ", "line ", "held, ", "grüß", "e."] {
        page.stream(1, delta(text.len(), piece));
        text.push_str(piece);
        assert_eq!(page.turn(1).shown.text(), text);
    }
    page.stream(1, end(1, Status::Completed, text.len()));
    assert_eq!((page.status(1), page.turn(1).shown.text()), ("completed", &*text));
    assert!(!page.turn(1).recovered && page.flights.is_empty() && !page.is_stored(1));
    assert_eq!(page.sent.len(), 2, "the ask and the stream");
}

#[test]
fn states_are_shown_as_they_come() {
    let mut page = streaming("");
    let mut queued = outcome(1, Status::Pending, "");
    queued.state = Some(State::Accepted);
    page.stream(1, Followed::state(&queued, Some(2)));
    let queue = page.turn(1).outcome.as_ref().and_then(|outcome| outcome.queue);
    assert_eq!((page.turn(1).state(), queue), (Some(State::Accepted), Some(2)));
    page.stream(1, delta(0, "Be"));
    let archiving = Outcome { state: Some(State::Archiving), ..outcome(1, Status::Pending, "Be") };
    page.stream(1, Followed::state(&archiving, None));
    assert_eq!(page.turn(1).state(), Some(State::Archiving));
    assert_eq!((page.turn(1).shown.text(), &*page.turn(1).question), ("Be", "Question 1?"));
}

#[test]
fn only_the_outcome_ends_a_turn() {
    for verdict in [ENDED, CUT, TIMED_OUT] {
        let mut page = streaming("Because");
        let is_failure = verdict != ENDED;
        page.reply(1, verdict);
        assert_eq!((page.status(1), page.turn(1).shown.text()), ("pending", "Because"));
        assert_eq!((page.flight(1).kind, page.flight(1).after), (Exchange::Lookup, 7));
        assert_eq!(page.turn(1).trouble, None, "no banner before the lookup has failed too");
        page.reply(1, rest("Because it", 7));
        assert_eq!((page.flight(1).kind, page.flight(1).after), (Exchange::Events, 10));
        page.stream(1, delta(10, " held."));
        page.stream(1, end(1, Status::Completed, 16));
        assert_eq!((page.status(1), page.turn(1).shown.text()), ("completed", "Because it held."));
        assert_eq!(page.turn(1).recovered, is_failure);
        assert!(!page.announced.contains(&Announcement::ConnectionLost));
    }
}

#[test]
fn a_line_that_is_gone_is_said_once_the_lookup_has_failed_too() {
    let mut page = streaming("Because");
    page.reply(1, CUT);
    page.reply(1, NOTHING);
    assert_eq!(page.announced.last(), Some(&Announcement::ConnectionLost));
    assert_eq!((page.status(1), page.turn(1).shown.text()), ("pending", "Because"));
    page.nudge(Nudge::Online);
    assert_eq!((page.flight(1).kind, page.flight(1).after), (Exchange::Lookup, 7));
    page.reply(1, page_of(1, Status::Completed, "Because.", 7, 100));
    assert!(page.turn(1).recovered);
}

#[test]
fn what_does_not_join_or_is_not_this_asks_is_looked_up() {
    let pieces = [
        delta(8, "beyond"),
        delta(usize::MAX, "far beyond"),
        end(2, Status::Completed, 7),
        Followed::state(&outcome(2, Status::Pending, ""), None),
        Followed::state(&Outcome::unknown(request(1), conversation(1)), None),
        Followed::Outcome(Box::new(outcome(1, Status::Pending, ""))),
    ];
    for piece in pieces {
        let mut page = streaming("Because");
        let exchange = page.flight(1).exchange;
        page.event(Event::Followed { exchange, followed: piece.clone() });
        assert_eq!(page.turn(1).shown.text(), "Because", "{piece:?}");
        assert_eq!((page.flight(1).kind, page.flight(1).after), (Exchange::Lookup, 7), "{piece:?}");
        // What it brings from now on is too late.
        page.event(Event::Followed { exchange, followed: delta(7, "late") });
        page.event(Event::Received { exchange, verdict: ENDED });
        assert_eq!((page.turn(1).shown.text(), page.flights.len()), ("Because", 1));
    }
}

#[test]
fn an_end_that_knows_of_more_text_is_followed_by_a_lookup_of_the_rest() {
    let mut page = streaming("Because");
    page.stream(1, end(1, Status::Completed, 10));
    assert_eq!(page.status(1), "pending", "not before all of it is here");
    assert!(page.is_stored(1));
    assert_eq!((page.flight(1).kind, page.flight(1).after), (Exchange::Lookup, 7));
    page.reply(1, page_of(1, Status::Completed, "Because it", 7, 100));
    assert_eq!((page.status(1), page.turn(1).shown.text()), ("completed", "Because it"));
}

#[test]
fn an_end_that_knows_of_less_text_is_looked_up_from_the_start() {
    let mut page = streaming("Because");
    page.stream(1, end(1, Status::Interrupted, 2));
    assert_eq!((page.flight(1).kind, page.flight(1).after), (Exchange::Lookup, 0));
    page.reply(1, page_of(1, Status::Interrupted, "Be", 0, 100));
    let shown = &page.turn(1).shown;
    assert_eq!((shown.text(), shown.unarchived_from()), ("Because", Some(2)));
    let mut page = streaming("Because");
    page.stream(1, end(1, Status::Cancelled, 0));
    let shown = &page.turn(1).shown;
    assert_eq!((page.status(1), shown.text()), ("cancelled", "Because"));
    assert_eq!(shown.unarchived_from(), Some(0), "there is nothing to look up");
}

#[test]
fn after_a_crash_a_shorter_text_grows_unseen_until_it_is_as_long() {
    let mut page = streaming("Because it held");
    page.reply(1, CUT);
    page.reply(1, rest("Because", 100));
    assert_eq!((page.turn(1).shown.text(), page.flight(1).after), ("Because it held", 7));
    page.stream(1, delta(7, " we"));
    assert_eq!(page.turn(1).shown.text(), "Because it held");
    page.stream(1, delta(10, " kept it."));
    assert_eq!(page.turn(1).shown.text(), "Because we kept it.", "as long, and what there is");
    page.stream(1, end(1, Status::Completed, 19));
    assert_eq!(page.turn(1).shown.unarchived_from(), None);
}

#[test]
fn another_text_that_stays_shorter_replaces_only_as_an_answer() {
    for (status, shown, unarchived_from) in [
        (Status::Completed, "No.", None),
        (Status::Failed, "Because it held", Some(0)),
        (Status::Cancelled, "Because it held", Some(0)),
    ] {
        let mut page = streaming("Because it held");
        page.reply(1, CUT);
        page.reply(1, page_of(1, status, "No.", 100, 100));
        let turn = page.turn(1);
        assert_eq!((turn.shown.text(), turn.shown.unarchived_from()), (shown, unarchived_from));
        assert_eq!(turn.status.as_str(), status.as_str());
    }
}

#[test]
fn a_stream_that_begins_anew_is_joined_where_it_begins() {
    let mut page = streaming("Because it");
    page.stream(1, delta(0, "Because"));
    page.stream(1, delta(7, " it held."));
    assert_eq!(page.turn(1).shown.text(), "Because it held.");
}

#[test]
fn the_reasoning_is_told_anew_by_every_stream_and_never_shrinks() {
    let mut page = streaming("");
    page.stream(1, thought("First, "));
    page.stream(1, thought("look."));
    assert_eq!(page.turn(1).reasoning.text(), "First, look.");
    page.reply(1, CUT);
    page.reply(1, pending(""));
    page.stream(1, thought("First, "));
    assert_eq!(page.turn(1).reasoning.text(), "First, look.");
    page.stream(1, thought("look. Then"));
    assert_eq!(page.turn(1).reasoning.text(), "First, look. Then");
    let mut done = outcome(1, Status::Completed, "Yes.");
    done.answer.as_mut().unwrap().reasoning = Some("First, look. Then leap.".into());
    page.reply(1, ENDED);
    page.reply(1, says(done));
    assert_eq!(page.turn(1).reasoning.text(), "First, look. Then leap.");
    assert_eq!(page.turn(1).shown.text(), "Yes.");
}

#[test]
fn streams_that_end_without_news_are_no_hot_loop() {
    for verdict in [ENDED, CUT] {
        let mut page = Page::open();
        page.ask(1);
        page.reply(1, pending(""));
        let before = page.now;
        for _ in 0..20 {
            assert_eq!(page.flight(1).kind, Exchange::Events);
            page.now += 5;
            page.reply(1, verdict.clone());
            page.sleep_until_flying(1);
            page.now += 5;
            page.reply(1, pending(""));
        }
        assert!(page.now - before > 18_000, "{} ms", page.now - before);
        assert_eq!(page.status(1), "pending");
    }
}

#[test]
fn a_proxy_that_answers_in_place_of_the_stream_is_no_hot_loop_and_text_grows() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, pending(""));
    let before = page.now;
    for n in 1..20 {
        page.reply(1, NOTHING);
        page.sleep_until_flying(1);
        let text = "a".repeat(n);
        page.reply(1, rest(&text, n - 1));
        assert_eq!(page.turn(1).shown.text(), text);
    }
    assert!((17_000..25_000).contains(&(page.now - before)), "{} ms", page.now - before);
}

#[test]
fn an_unknown_ask_is_unknown_whoever_says_so() {
    let mut page = streaming("");
    page.reply(1, unheard(1));
    page.settle_sessions();
    assert_eq!(page.count(1, Exchange::Resubmission), 0, "it was accepted once");
    assert!(page.is_stored(1));
}

#[test]
fn a_stream_is_told_to_wait_as_a_lookup_is() {
    let mut page = streaming("Be");
    let after = Duration::from_secs(5);
    page.reply(1, Verdict::Wait { after, code: Some(Code::Starting), detail: String::new() });
    assert!(page.sleep_until_flying(1) >= 5_000);
    assert_eq!((page.flight(1).kind, page.flight(1).after), (Exchange::Lookup, 2));
}

#[test]
fn a_server_without_streams_is_looked_up() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, pending(""));
    page.reply(1, refused());
    assert_eq!(page.flight(1).kind, Exchange::Lookup, "whether the ask is refused it says itself");
    page.reply(1, pending("Be"));
    let flight = page.flight(1);
    assert_eq!((flight.kind, flight.wait, flight.after), (Exchange::Lookup, 1, 2));
    assert!(page.is_stored(1) && page.returned.is_empty() && page.buffering.is_none());
}

#[test]
fn a_stream_held_back_is_given_up_for_an_hour() {
    let mut page = streaming("Be");
    let exchange = page.flight(1).exchange;
    page.event(Event::Buffered(exchange));
    assert_eq!(page.buffering, Some(page.now), "for other pages of this origin, and the next");
    assert_eq!((page.flight(1).kind, page.flight(1).wait), (Exchange::Lookup, 0));
    assert_eq!(page.turn(1).trouble, None);
    let mut text = "Be".to_owned();
    page.reply(1, pending(&text));
    for _ in 0..10 {
        assert_eq!(page.flight(1).wait, 1, "text grows by lookups");
        page.now += 1_000;
        text.push('.');
        let after = usize::try_from(page.flight(1).after).unwrap();
        page.reply(1, rest(&text, after));
        assert_eq!(page.turn(1).shown.text(), text);
    }
    page.start();
    page.sign_in(page::OWNER);
    page.reply(1, pending(&text));
    assert_eq!(page.flight(1).kind, Exchange::Lookup);
    page.now += 3_600_000;
    page.reply(1, pending(&text));
    assert_eq!(page.flight(1).kind, Exchange::Events);
    // A clock that was set back makes it no longer.
    page.now = NOW - 2 * 3_600_000;
    page.start();
    page.sign_in(page::OWNER);
    page.reply(1, pending(&text));
    assert_eq!(page.flight(1).kind, Exchange::Events);
}

#[test]
fn a_stream_of_which_not_even_the_head_comes_is_tried_twice() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, pending(""));
    for _ in 0..2 {
        assert_eq!(page.flight(1).kind, Exchange::Events);
        assert_eq!(page.flight(1).deadline, 10_000);
        page.now += 10_000;
        page.reply(1, TIMED_OUT);
        page.sleep_until_flying(1);
        page.reply(1, pending(""));
    }
    assert_eq!(page.flight(1).kind, Exchange::Lookup);
    assert_eq!(page.buffering, None, "perhaps the line was dead");
    page.nudge(Nudge::Online);
    page.reply(1, pending(""));
    assert_eq!(page.flight(1).kind, Exchange::Events);
}

#[test]
fn a_stream_that_only_keeps_the_line_alive_is_held_against_a_lookup() {
    let mut page = streaming("Be");
    page.sleep();
    assert_eq!(page.flight(1).kind, Exchange::Events, "there was news");
    let slept = page.sleep().unwrap();
    assert_eq!((page.flight(1).kind, slept), (Exchange::Lookup, 25_000));
    page.reply(1, page_of(1, Status::Completed, "Because.", 2, 100));
    assert_eq!((page.status(1), page.turn(1).recovered), ("completed", false));
}

#[test]
fn back_again_it_is_one_lookup_then_the_stream_and_no_banner() {
    for nudge in [Nudge::Online, Nudge::PageShow, Nudge::Woke] {
        let mut page = streaming("Because");
        page.nudge(nudge);
        assert_eq!((page.flights.len(), page.flight(1).kind), (1, Exchange::Lookup));
        assert_eq!(page.flight(1).after, 7);
        page.reply(1, rest("Because it", 7));
        assert_eq!((page.flights.len(), page.flight(1).kind), (1, Exchange::Events));
        assert_eq!((page.turn(1).trouble.clone(), page.announced.len()), (None, 1));
        assert_eq!(page.sent.len(), 4);
    }
}

#[test]
fn the_signs_of_one_return_are_one_lookup_and_a_new_network_is_another() {
    let mut page = streaming("Because");
    page.event(Event::Hidden);
    let before = page.count(1, Exchange::Lookup);
    for nudge in [Nudge::Woke, Nudge::Visible, Nudge::PageShow, Nudge::Visible] {
        page.nudge(nudge);
        page.now += 5;
    }
    assert_eq!(page.count(1, Exchange::Lookup), before + 1);
    page.nudge(Nudge::Online);
    assert_eq!(page.count(1, Exchange::Lookup), before + 2);
    page.now += 1_000;
    page.nudge(Nudge::PageShow);
    assert_eq!((page.count(1, Exchange::Lookup), page.flights.len()), (before + 3, 1));
}

#[test]
fn what_was_loaded_with_its_conversation_does_not_set_a_stream_back() {
    let mut page = streaming("Because it");
    page.event(Event::Seen(Box::new(outcome(1, Status::Pending, "Be"))));
    page.stream(1, delta(10, " held"));
    assert_eq!(page.turn(1).shown.text(), "Because it held");
    page.event(Event::Seen(Box::new(outcome(1, Status::Completed, "Because it held."))));
    assert_eq!((page.status(1), page.flights.len()), ("completed", 0));
}

#[test]
fn stop_ends_the_stream_first_and_what_was_shown_does_not_grow_back() {
    let mut page = streaming("Because");
    let stream: Sending = page.flight(1).clone();
    page.event(Event::Stopped(request(1)));
    assert_eq!((page.flights.len(), page.flight(1).kind), (1, Exchange::Cancel));
    let late = Event::Followed { exchange: stream.exchange, followed: delta(7, " of") };
    page.event(late);
    assert_eq!(page.turn(1).shown.text(), "Because");
    page.reply(1, says(outcome(1, Status::Cancelled, "Because")));
    assert_eq!((page.status(1), page.turn(1).shown.text()), ("cancelled", "Because"));
}
