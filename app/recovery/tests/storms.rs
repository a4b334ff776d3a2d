//! Seeded storms: random replies, nudges, reloads and presses against a server that keeps its word.
//!
//! The server here is three lines of truth; the whole is simulated with the real one elsewhere. What is
//! held to: the harness's invariants after every event, no ask run twice, and an honest end for every
//! question once the weather clears.

#![expect(clippy::unwrap_used, reason = "tests")]

mod page;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use holdfast_protocol::following::Followed;
use holdfast_protocol::reply::{Exchange, Verdict};
use holdfast_protocol::{Code, RequestId, Status};
use holdfast_recovery::{Event, Nudge, Sending, SessionReply};
use page::{
    NOTHING, OWNER, Page, TIMED_OUT, body, delta, end, outcome, page_of, request, says, thought,
    unheard,
};
use proptest::prelude::*;

const TEXT: &str = "Because the line held, and the answer was kept.";

/// What the journal has.
#[derive(Default)]
struct Server {
    asks: BTreeMap<RequestId, (Status, usize)>,
    runs: BTreeMap<RequestId, u32>,
}

impl Server {
    /// What a request changes when it arrives.
    fn arrive(&mut self, sending: &Sending) {
        match sending.kind {
            Exchange::Ask | Exchange::Resubmission => {
                if let Entry::Vacant(vacant) = self.asks.entry(sending.request_id) {
                    vacant.insert((Status::Pending, 0));
                    *self.runs.entry(sending.request_id).or_default() += 1;
                }
            }
            Exchange::Cancel => {
                let ask = self.asks.entry(sending.request_id).or_insert((Status::Cancelled, 0));
                if ask.0 == Status::Pending {
                    ask.0 = Status::Cancelled;
                }
            }
            Exchange::Lookup | Exchange::Events => {}
        }
    }

    fn work(&mut self) {
        for ask in self.asks.values_mut().filter(|ask| ask.0 == Status::Pending) {
            ask.1 = (ask.1 + 7).min(TEXT.len());
            if ask.1 == TEXT.len() {
                ask.0 = Status::Completed;
            }
        }
    }

    fn says(&self, sending: &Sending) -> Verdict {
        let n = number(sending.request_id);
        match self.asks.get(&sending.request_id) {
            Some(&(status, length))
                if matches!(sending.kind, Exchange::Lookup | Exchange::Events) =>
            {
                let after = usize::try_from(sending.after).unwrap();
                page_of(n, status, &TEXT[..length], after, 20)
            }
            Some(&(status, length)) => says(outcome(n, status, &TEXT[..length])),
            None => unheard(n),
        }
    }

    /// What a stream may bring next, or what a broken one brings in its place.
    fn tells(&self, n: u64, held: usize, kind: u8) -> Option<Followed> {
        let &(status, length) = self.asks.get(&request(n))?;
        let from =
            |start: usize| delta(start, TEXT.get(start..length.min(start + 5)).unwrap_or(""));
        Some(match kind {
            0..=3 => from(held),
            // Told before; and something is missing.
            4 => from(held.saturating_sub(3)),
            5 => delta(held + 2, "lost"),
            6 => end(n % 3 + 1, Status::Completed, length),
            7 => Followed::state(&outcome(n, Status::Pending, ""), None),
            8 => thought("Hm. "),
            _ if status.is_settled() => end(n, status, length),
            _ => from(0),
        })
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Ask(u64),
    /// The n-th request arrives and is answered, or one of the two.
    Reply {
        which: usize,
        arrives: bool,
        replied: bool,
        timed_out: bool,
    },
    /// The stream among the requests, if it is one, brings something; or it is held back.
    Stream {
        which: usize,
        kind: u8,
    },
    Foreign {
        which: usize,
        kind: u8,
    },
    Session(bool),
    Sleep,
    Work,
    Nudge(u8),
    Reload,
    Press {
        ask: u64,
        button: u8,
    },
    Days(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (1..4u64).prop_map(Step::Ask),
        8 => (0..4usize, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
            |(which, arrives, replied, timed_out)| Step::Reply { which, arrives, replied, timed_out }
        ),
        8 => (0..4usize, 0..14u8).prop_map(|(which, kind)| Step::Stream { which, kind }),
        2 => (0..4usize, 0..4u8).prop_map(|(which, kind)| Step::Foreign { which, kind }),
        3 => any::<bool>().prop_map(Step::Session),
        6 => Just(Step::Sleep),
        4 => Just(Step::Work),
        3 => (0..6u8).prop_map(Step::Nudge),
        1 => Just(Step::Reload),
        1 => (1..4u64, 0..4u8).prop_map(|(ask, button)| Step::Press { ask, button }),
        1 => (0..30u64).prop_map(Step::Days),
    ]
}

fn number(id: RequestId) -> u64 {
    (1..4).find(|&n| request(n) == id).unwrap()
}

fn play(page: &mut Page, server: &mut Server, step: Step) {
    match step {
        Step::Ask(n) => {
            // A person asks each question once; what comes back to the composer is another ask.
            if !page.sent.iter().any(|sent| sent.request_id == request(n)) && !page.is_stored(n) {
                page.event(Event::Submitted(body(n)));
            }
        }
        Step::Reply { which, arrives, replied, timed_out } => {
            let Some(sending) = page.flights.get(which).cloned() else { return };
            let n = number(sending.request_id);
            if arrives || replied {
                server.arrive(&sending);
            }
            page.now += 40;
            let lost = match sending.kind {
                Exchange::Events if arrives => Verdict::STREAM_ENDED,
                _ if timed_out => TIMED_OUT,
                _ => NOTHING,
            };
            page.reply(n, if replied { server.says(&sending) } else { lost });
        }
        Step::Stream { which, kind } => {
            let Some(sending) = page.flights.get(which).cloned() else { return };
            let n = number(sending.request_id);
            if sending.kind != Exchange::Events {
                return;
            }
            page.now += 40;
            if kind == 13 {
                page.event(Event::Buffered(sending.exchange));
                return;
            }
            let held = usize::try_from(page.turn(n).shown.held()).unwrap();
            if let Some(followed) = server.tells(n, held, kind) {
                page.stream(n, followed);
            }
        }
        Step::Foreign { which, kind } => {
            let Some(sending) = page.flights.get(which).cloned() else { return };
            let after = std::time::Duration::from_secs(u64::from(kind) * 25);
            let verdict = match kind {
                0 => Verdict::Unknown { timed_out: false, replied: true },
                1 => Verdict::Wait { after, code: Some(Code::Starting), detail: String::new() },
                2 => Verdict::Wait { after, code: None, detail: String::new() },
                _ => Verdict::Wait { after, code: Some(Code::RateLimited), detail: String::new() },
            };
            page.reply(number(sending.request_id), verdict);
        }
        Step::Session(replies) if !page.sessions.is_empty() => {
            if replies {
                page.sign_in(OWNER);
            } else {
                page.session(SessionReply::Nothing);
            }
        }
        Step::Session(_) => {}
        Step::Sleep => drop(page.sleep()),
        Step::Work => server.work(),
        Step::Nudge(0) => page.event(Event::Hidden),
        Step::Nudge(1) => page.event(Event::WentOffline),
        Step::Nudge(2) => page.nudge(Nudge::Visible),
        Step::Nudge(3) => page.nudge(Nudge::PageShow),
        Step::Nudge(4) => page.nudge(Nudge::Woke),
        Step::Nudge(_) => page.nudge(Nudge::Online),
        Step::Reload => page.start(),
        Step::Press { ask, button } => {
            let id = request(ask);
            page.event(match button {
                0 => Event::Stopped(id),
                1 => Event::CheckedAgain(id),
                2 => Event::TakenBack(id),
                _ => Event::Discarded(id),
            });
        }
        Step::Days(hours) => page.now += hours * 600_000,
    }
}

/// The line is back, and the person presses “Check again” where that is offered.
fn clear_up(page: &mut Page, server: &mut Server) {
    page.nudge(Nudge::Visible);
    page.nudge(Nudge::Online);
    for _ in 0..2_000 {
        server.work();
        page.settle_sessions();
        if let Some(sending) = page.flights.first().cloned() {
            server.arrive(&sending);
            page.now += 30;
            let n = number(sending.request_id);
            if sending.kind == Exchange::Events {
                let held = usize::try_from(page.turn(n).shown.held()).unwrap();
                let followed = server.tells(n, held, 0).filter(|_| held < TEXT.len());
                let ended = server.tells(n, held, 9);
                page.stream(n, followed.or(ended).unwrap());
            } else {
                page.reply(n, server.says(&sending));
            }
            continue;
        }
        let waiting = page.turns.values().find(|turn| {
            !turn.status.is_at_rest()
                && turn.trouble.as_ref().is_some_and(|trouble| {
                    use holdfast_recovery::Trouble::{LongWait, Unreachable};
                    matches!(trouble, LongWait(_) | Unreachable)
                })
        });
        if let Some(turn) = waiting {
            page.event(Event::CheckedAgain(turn.request_id));
        } else if page.sleep().is_none() {
            return;
        }
    }
    panic!("it never comes to rest: {:?}", page.turns);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn every_storm_ends_honestly_and_nothing_runs_twice(
        steps in proptest::collection::vec(step(), 1..80),
    ) {
        let mut page = Page::open();
        let mut server = Server::default();
        for step in steps {
            play(&mut page, &mut server, step);
        }
        clear_up(&mut page, &mut server);
        for (id, runs) in &server.runs {
            prop_assert!(*runs <= 1, "{} ran {} times", id, runs);
        }
        for turn in page.turns.values() {
            let n = number(turn.request_id);
            let offered = turn.actions.contains(&holdfast_recovery::Action::TakeBack);
            prop_assert!(turn.status.is_at_rest() || offered, "{:?}", turn);
            prop_assert_eq!(page.is_stored(n), !turn.status.is_at_rest(), "{:?}", turn);
            if let Some(&(status, length)) = server.asks.get(&turn.request_id)
                && turn.status.is_at_rest()
            {
                prop_assert_eq!(turn.status.as_str(), status.as_str());
                prop_assert!(turn.shown.text().starts_with(&TEXT[..length]));
            }
        }
    }
}
