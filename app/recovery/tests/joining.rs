//! Pages, pieces, restarts: in whatever order they come, they join to what the server has.

#![expect(clippy::unwrap_used, reason = "tests")]

mod page;

use holdfast_protocol::Status;
use holdfast_protocol::reply::{Exchange, Verdict};
use holdfast_recovery::Nudge;
use page::{Page, delta, end, outcome, page_of, request, says};
use proptest::prelude::*;

/// What happens to an answer on its way.
#[derive(Clone, Debug)]
enum Step {
    /// The server has so many characters more.
    Grow(usize),
    /// The lookup under way brings a page of at most so many bytes, or is lost.
    Reply(Option<usize>),
    /// The stream brings so many bytes at most.
    Stream(usize),
    /// The stream is cut, or ends.
    Cut(bool),
    /// The server crashes, and has of the text only the beginning.
    Crash(usize),
    /// It runs again, where nothing was billed, and says something else from there on.
    Other(usize),
    /// The page does something that costs it the exchange.
    Wake,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..9usize).prop_map(Step::Grow),
        4 => proptest::option::weighted(0.8, 1..12usize).prop_map(Step::Reply),
        4 => (1..12usize).prop_map(Step::Stream),
        2 => any::<bool>().prop_map(Step::Cut),
        1 => (0..30usize).prop_map(Step::Crash),
        1 => (0..30usize).prop_map(Step::Other),
        1 => Just(Step::Wake),
    ]
}

/// The text, of characters of one to four bytes each.
fn text(from: usize, count: usize, variant: usize) -> String {
    const CHARS: [char; 8] = ['a', 'é', '世', '🌍', 'b', 'ü', 'z', '—'];
    let nth = |n: usize| CHARS.get((n * 7 + n / 5 + variant) % CHARS.len()).copied().unwrap();
    (from..from + count).map(nth).collect()
}

struct Server {
    /// All that this run would ever say, and what it has said of it.
    whole: String,
    text: String,
    variant: usize,
    /// How far the stream under way has told it.
    told: usize,
    /// Nothing of another text has been told yet, so that nobody can know.
    secret: bool,
}

impl Server {
    fn new() -> Self {
        let whole = text(0, 600, 0);
        Self { whole, text: String::new(), variant: 0, told: 0, secret: false }
    }

    fn grow(&mut self, count: usize) {
        let chars = self.text.chars().count() + count;
        self.text = self.whole.chars().take(chars).collect();
    }

    fn back_to(&mut self, chars: usize) {
        self.text = self.text.chars().take(chars).collect();
    }

    /// From here on it is to say something else.
    fn change(&mut self) {
        self.variant += 1;
        self.whole = self.text.clone() + &text(self.text.chars().count(), 600, self.variant);
    }

    fn says(&self, status: Status, after: u64, most: usize) -> Verdict {
        // A page holds at least a character.
        page_of(1, status, &self.text, usize::try_from(after).unwrap(), most.max(4))
    }
}

/// Carries out what is under way until nothing is, or the stream is.
fn to_the_stream(page: &mut Page, server: &mut Server) {
    while page.sleep_until_flying(1) < u64::MAX && page.flight(1).kind != Exchange::Events {
        let after = page.flight(1).after;
        page.reply(1, server.says(Status::Pending, after, 5));
    }
    server.told = begin(server, page.flight(1).after);
}

/// Where a stream begins that was asked for from there on.
fn begin(server: &Server, after: u64) -> usize {
    let after = usize::try_from(after).unwrap();
    if server.text.is_char_boundary(after) { after } else { 0 }
}

fn piece(server: &Server, most: usize) -> (usize, String) {
    let end = server.text.floor_char_boundary(server.told.saturating_add(most.max(4)));
    (server.told, server.text.get(server.told..end).unwrap_or_default().to_owned())
}

fn play(page: &mut Page, server: &mut Server, step: &Step) {
    if !page.is_flying(1) {
        page.sleep_until_flying(1);
    }
    let flight = page.flight(1).clone();
    let is_stream = flight.kind == Exchange::Events;
    match *step {
        Step::Grow(count) => server.grow(count),
        Step::Reply(most) if !is_stream => {
            let lost = Verdict::Unknown { timed_out: false, replied: false };
            page.reply(
                1,
                most.map_or(lost, |most| server.says(Status::Pending, flight.after, most)),
            );
        }
        Step::Stream(most) if is_stream => {
            let (offset, piece) = piece(server, most);
            server.told = offset + piece.len();
            page.stream(1, delta(offset, &piece));
        }
        Step::Cut(clean) if is_stream => {
            page.now += 2_000;
            page.reply(1, if clean { Verdict::STREAM_ENDED } else { Verdict::STREAM_BROKEN });
        }
        Step::Crash(chars) | Step::Other(chars) => {
            if is_stream {
                page.reply(1, Verdict::STREAM_BROKEN);
            }
            let held = page.turn(1).shown.held();
            server.back_to(chars);
            // Another text in the place of what is held already cannot be told from it: by the
            // protocol a server that says so much has not edited it.
            if matches!(step, Step::Other(_)) && (server.text.len() as u64) < held {
                server.change();
                server.secret = true;
            }
        }
        Step::Wake => page.nudge(Nudge::Woke),
        Step::Reply(_) | Step::Stream(_) | Step::Cut(_) => {}
    }
    // The page has heard how short it is, before it says something else.
    while server.secret {
        page.sleep_until_flying(1);
        let flight = page.flight(1).clone();
        if flight.kind == Exchange::Events {
            page.reply(1, Verdict::STREAM_BROKEN);
        } else {
            page.reply(1, server.says(Status::Pending, flight.after, 5));
            server.secret = page.turn(1).shown.held() > server.text.len() as u64;
        }
    }
    if page.is_flying(1) && page.flight(1).exchange != flight.exchange {
        server.told = begin(server, page.flight(1).after);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_cut_and_restarted_it_joins_to_what_the_server_has(
        steps in proptest::collection::vec(step(), 1..60),
        status in prop_oneof![
            Just(Status::Completed), Just(Status::Interrupted), Just(Status::Failed), Just(Status::Cancelled)
        ],
        by_stream in any::<bool>(),
    ) {
        let mut page = Page::open();
        page.ask(1);
        page.reply(1, says(outcome(1, Status::Pending, "")));
        let mut server = Server::new();
        let mut longest = 0;
        for step in &steps {
            play(&mut page, &mut server, step);
            let shown = page.turn(1).shown.text().len();
            prop_assert!(shown >= longest, "it shrank from {} to {}", longest, shown);
            longest = shown;
        }
        // It settles, and the page hears of it by its stream or by lookups, a few bytes at a time.
        page.nudge(Nudge::Online);
        if by_stream {
            to_the_stream(&mut page, &mut server);
            while server.told < server.text.len() {
                let (offset, piece) = piece(&server, 5);
                server.told = offset + piece.len();
                page.stream(1, delta(offset, &piece));
            }
            page.stream(1, end(1, status, server.text.len()));
        }
        for _ in 0..200 {
            if page.turn(1).status.is_at_rest() {
                break;
            }
            page.sleep_until_flying(1);
            let flight = page.flight(1).clone();
            if flight.kind == Exchange::Events {
                page.reply(1, Verdict::STREAM_BROKEN);
            } else {
                page.reply(1, server.says(status, flight.after, 5));
            }
        }
        let turn = page.turn(1);
        prop_assert_eq!(turn.status.as_str(), status.as_str());
        let (shown, stored) = (turn.shown.text(), &*server.text);
        match turn.shown.unarchived_from() {
            None => prop_assert_eq!(shown, stored),
            Some(from) => {
                prop_assert!(status != Status::Completed && stored.len() < shown.len());
                prop_assert_eq!(&shown[..from], &stored[..from]);
                prop_assert!(from == stored.len() || shown[from..].chars().next() != stored[from..].chars().next());
            }
        }
        prop_assert!(!page.is_stored(1) && page.flights.is_empty(), "{:?}", request(1));
    }
}
