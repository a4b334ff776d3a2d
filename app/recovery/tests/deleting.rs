//! Conversations that are deleted, and taken back; questions that are taken back.

mod page;

use holdfast_protocol::reply::{Exchange, Verdict};
use holdfast_protocol::{State, Status};
use holdfast_recovery::{Event, Returned, Trouble};
use page::{NOTHING, Page, conversation, outcome, refused, request, says};

fn gone() -> Verdict {
    Verdict::Gone { detail: "It was deleted.".into() }
}

#[test]
fn what_is_deleted_leaves_the_page_at_once() {
    let mut page = Page::open();
    page.ask(1);
    page.reply(1, says(outcome(1, Status::Pending, "Be")));
    page.event(Event::Deleted(conversation(1)));
    assert!(!page.turns.contains_key(&request(1)) && !page.is_stored(1) && page.mirror.is_empty());
    assert!(!page.is_flying(1) && page.returned.is_empty());
}

#[test]
fn what_has_not_arrived_when_its_conversation_is_deleted_comes_back() {
    let mut page = Page::open();
    page.ask(1);
    page.event(Event::Deleted(conversation(1)));
    assert_eq!((page.status(1), page.is_stored(1)), ("sending", true), "nobody knows yet");
    page.reply(1, refused());
    assert!(matches!(page.returned[..], [(id, Returned::Refused { .. })] if id == request(1)));
}

#[test]
fn what_was_refused_is_what_the_journal_says_of_it_later() {
    for status in [Status::Pending, Status::Cancelled, Status::Completed] {
        let mut page = Page::open();
        page.ask(1);
        page.reply(1, says(outcome(1, Status::Pending, "Be")));
        page.reply(1, gone());
        assert_eq!(page.status(1), "refused");
        page.event(Event::Seen(Box::new(outcome(1, status, "Because"))));
        let turn = page.turn(1);
        assert_eq!((turn.status.as_str(), turn.shown.text()), (status.as_str(), "Because"));
        assert_eq!(turn.trouble, None::<Trouble>);
        assert_eq!(page.is_flying(1), status == Status::Pending, "one that runs is followed");
    }
}

#[test]
fn a_question_that_is_taken_back_comes_once_its_end_has_settled() {
    for status in [Status::Cancelled, Status::Completed] {
        let mut page = Page::open();
        page.ask(1);
        page.reply(1, NOTHING);
        page.event(Event::TakenBack(request(1)));
        assert_eq!(page.flight(1).kind, Exchange::Cancel);
        // The end cannot be archived yet.
        let mut archiving = outcome(1, Status::Pending, "Be");
        archiving.state = Some(State::Archiving);
        page.reply(1, says(archiving));
        assert!(page.returned.is_empty());
        page.reply(1, says(outcome(1, status, "Because")));
        if status == Status::Cancelled {
            assert_eq!(page.returned, [(request(1), Returned::TakenBack)]);
            assert!(!page.turns.contains_key(&request(1)));
        } else {
            assert_eq!((page.status(1), page.returned.len()), ("completed", 0));
        }
    }
}
