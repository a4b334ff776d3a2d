//! A page without a browser: carries out effects in memory, keeps a clock, and holds recovery to its
//! invariants at every step.

#![allow(dead_code, reason = "each test target uses its own part of the harness")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a harness of tests fails by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};

use holdfast_protocol::following::Followed;
use holdfast_protocol::reply::{Exchange, Verdict};
use holdfast_protocol::{
    Answer, AskBody, Code, ConversationId, Outcome, Owner, RecoveryPolicy, RequestId, State, Status,
};
use holdfast_recovery::{
    Announcement, Effect, Event, ExchangeId, Millis, Notice, Nudge, Pointer, Pointers, Recovery,
    Returned, Sending, SessionReply, Start, TimerId, Turn,
};

pub(crate) const NOW: Millis = 1_769_850_000_000;
pub(crate) const OWNER: &str = "anna.archive1";

pub(crate) fn request(n: u64) -> RequestId {
    format!("018f2b6e-7c11-7cc3-9d5a-{n:012x}").parse().unwrap()
}

pub(crate) fn conversation(n: u64) -> ConversationId {
    format!("018f2b6e-7c11-7cc3-8d5a-{n:012x}").parse().unwrap()
}

pub(crate) fn body(n: u64) -> AskBody {
    AskBody {
        request_id: request(n),
        conversation_id: conversation(1),
        question: format!("Question {n}?"),
        current: None,
        remember: None,
        language: None,
        model: None,
        retry_of: None,
        system_prompt: None,
    }
}

pub(crate) fn pointer(n: u64, age: Millis, owner: &str) -> Pointer {
    Pointer {
        request_id: request(n),
        conversation_id: conversation(1),
        question: format!("Question {n}?"),
        asked_at: holdfast_protocol::Timestamp::from_millis(NOW - age),
        owner: Some(owner.parse().unwrap()),
        ask: body(n),
        cancel: false,
    }
}

pub(crate) fn outcome(n: u64, status: Status, text: &str) -> Outcome {
    let state = (status == Status::Pending).then_some(State::Running);
    let mut outcome = Outcome::bare(request(n), conversation(1), status, state);
    outcome.seq = Some(n);
    outcome.question = Some(format!("Question {n}?"));
    outcome.answer = (!text.is_empty()).then(|| Answer { text: text.into(), ..Answer::default() });
    outcome
}

pub(crate) fn says(outcome: Outcome) -> Verdict {
    Verdict::Outcome(Box::new(outcome))
}

/// A piece of the answer, as a stream brings it.
pub(crate) fn delta(offset: usize, text: &str) -> Followed {
    Followed::Delta { offset: offset as u64, text: text.into() }
}

/// A piece of the reasoning, as a stream brings it.
pub(crate) fn thought(text: &str) -> Followed {
    Followed::Reasoning { text: text.into() }
}

/// The end of a stream, of an answer that is so long.
pub(crate) fn end(n: u64, status: Status, bytes: usize) -> Followed {
    let mut outcome = outcome(n, status, "");
    outcome.question = None;
    outcome.answer = Some(Answer { bytes: bytes as u64, ..Answer::default() });
    Followed::Outcome(Box::new(outcome))
}

/// What a lookup says that asked for what follows `after`, of an answer that is so long.
pub(crate) fn page_of(n: u64, status: Status, text: &str, after: usize, most: usize) -> Verdict {
    let mut outcome = outcome(n, status, text);
    if let Some(answer) = &mut outcome.answer {
        let after = if answer.text.is_char_boundary(after) { after } else { 0 };
        let end = answer.text.floor_char_boundary(after.saturating_add(most));
        (answer.offset, answer.bytes) = (after as u64, text.len() as u64);
        text[after..end].clone_into(&mut answer.text);
    }
    says(outcome)
}

pub(crate) fn unheard(n: u64) -> Verdict {
    says(Outcome::unknown(request(n), conversation(1)))
}

pub(crate) const NOTHING: Verdict = Verdict::Unknown { timed_out: false, replied: false };
pub(crate) const TIMED_OUT: Verdict = Verdict::Unknown { timed_out: true, replied: false };

pub(crate) fn refused() -> Verdict {
    Verdict::Refused { code: Code::InvalidField, detail: "No.".into() }
}

pub(crate) struct Page {
    pub(crate) recovery: Recovery,
    pub(crate) now: Millis,
    /// `sessionStorage`.
    pub(crate) stored: Pointers,
    /// `localStorage`.
    pub(crate) mirror: BTreeMap<RequestId, Pointer>,
    pub(crate) remembered: Option<Owner>,
    pub(crate) buffering: Option<Millis>,
    pub(crate) flights: Vec<Sending>,
    pub(crate) sessions: Vec<ExchangeId>,
    pub(crate) timers: BTreeMap<(Millis, u64), TimerId>,
    pub(crate) turns: BTreeMap<RequestId, Turn>,
    pub(crate) returned: Vec<(RequestId, Returned)>,
    pub(crate) announced: Vec<Announcement>,
    pub(crate) notices: Vec<Notice>,
    /// Every request that left.
    pub(crate) sent: Vec<Sending>,
    settled: BTreeSet<RequestId>,
    count: u64,
}

impl Page {
    /// A page that has not started.
    pub(crate) fn closed() -> Self {
        Self {
            recovery: Recovery::new(7),
            now: NOW,
            stored: Pointers::default(),
            mirror: BTreeMap::new(),
            remembered: None,
            buffering: None,
            flights: Vec::new(),
            sessions: Vec::new(),
            timers: BTreeMap::new(),
            turns: BTreeMap::new(),
            returned: Vec::new(),
            announced: Vec::new(),
            notices: Vec::new(),
            sent: Vec::new(),
            settled: BTreeSet::new(),
            count: 0,
        }
    }

    /// A page that is open on the first conversation, signed in.
    pub(crate) fn open() -> Self {
        let mut page = Self::closed();
        page.start();
        page.sign_in(OWNER);
        page
    }

    /// The same where streams are held back: its long exchange is a lookup that waits.
    pub(crate) fn open_behind_a_buffer() -> Self {
        let mut page = Self::closed();
        page.buffering = Some(NOW);
        page.start();
        page.sign_in(OWNER);
        page
    }

    /// A page that finds these pointers and is signed in.
    pub(crate) fn with(pointers: Vec<Pointer>) -> Self {
        let mut page = Self::closed();
        page.stored.readable = pointers;
        page.start();
        page.sign_in(OWNER);
        page
    }

    /// (Re)loads the page: memory is gone, storage is not.
    pub(crate) fn start(&mut self) {
        self.recovery = Recovery::new(self.now);
        self.flights.clear();
        self.sessions.clear();
        self.timers.clear();
        self.turns.clear();
        self.settled.clear();
        let start = Start {
            pointers: Pointers::parse(&self.stored.to_json()),
            mirrored: self.mirror.values().cloned().collect(),
            remembered: self.remembered.clone(),
            buffering: self.buffering,
            visible: true,
            online: true,
        };
        self.event(Event::Started(start));
        self.event(Event::Viewing(Some(conversation(1))));
    }

    pub(crate) fn sign_in(&mut self, owner: &str) {
        self.session(SessionReply::SignedIn {
            owner: owner.parse().unwrap(),
            policy: RecoveryPolicy::default(),
        });
    }

    pub(crate) fn session(&mut self, reply: SessionReply) {
        let exchange = self.sessions.pop().expect("a session request is under way");
        self.event(Event::Session(exchange, reply));
    }

    pub(crate) fn ask(&mut self, n: u64) {
        self.event(Event::Submitted(body(n)));
    }

    pub(crate) fn nudge(&mut self, nudge: Nudge) {
        self.event(Event::Nudged(nudge));
    }

    pub(crate) fn event(&mut self, event: Event) {
        for effect in self.recovery.handle(self.now, event) {
            self.carry_out(effect);
        }
        self.check();
    }

    /// The request under way about this ask.
    pub(crate) fn flight(&self, n: u64) -> &Sending {
        let flight = self.flights.iter().find(|flight| flight.request_id == request(n));
        flight.unwrap_or_else(|| panic!("nothing is under way about ask {n}: {:?}", self.turns))
    }

    pub(crate) fn is_flying(&self, n: u64) -> bool {
        self.flights.iter().any(|flight| flight.request_id == request(n))
    }

    /// Answers the request under way about this ask.
    pub(crate) fn reply(&mut self, n: u64, verdict: Verdict) {
        let exchange = self.flight(n).exchange;
        self.flights.retain(|flight| flight.exchange != exchange);
        self.event(Event::Received { exchange, verdict });
    }

    /// The stream of this ask brings something.
    pub(crate) fn stream(&mut self, n: u64, followed: Followed) {
        let flight = self.flight(n);
        assert_eq!(flight.kind, Exchange::Events);
        let exchange = flight.exchange;
        if matches!(followed, Followed::Outcome(_)) {
            self.flights.retain(|flight| flight.exchange != exchange);
        }
        self.event(Event::Followed { exchange, followed });
    }

    /// Answers every session request as the local owner's.
    pub(crate) fn settle_sessions(&mut self) {
        while !self.sessions.is_empty() {
            self.sign_in(OWNER);
        }
    }

    /// Goes on to the next timer; returns how long that took.
    pub(crate) fn sleep(&mut self) -> Option<Millis> {
        let ((due, _), timer) = self.timers.pop_first()?;
        let before = self.now;
        self.now = self.now.max(due);
        self.event(Event::Timer(timer));
        Some(self.now - before)
    }

    /// Goes on until a request about this ask is under way.
    pub(crate) fn sleep_until_flying(&mut self, n: u64) -> Millis {
        let before = self.now;
        while !self.is_flying(n) {
            let slept = self.sleep();
            assert!(slept.is_some(), "nothing happens by itself: {:?}", self.turns);
        }
        self.now - before
    }

    pub(crate) fn turn(&self, n: u64) -> &Turn {
        &self.turns[&request(n)]
    }

    pub(crate) fn status(&self, n: u64) -> &'static str {
        self.turn(n).status.as_str()
    }

    pub(crate) fn is_stored(&self, n: u64) -> bool {
        self.stored.readable.iter().any(|pointer| pointer.request_id == request(n))
    }

    /// How many requests of this kind left about this ask.
    pub(crate) fn count(&self, n: u64, kind: Exchange) -> usize {
        self.sent.iter().filter(|s| s.request_id == request(n) && s.kind == kind).count()
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Store(pointers) => self.stored = pointers,
            Effect::Mirror(pointer) => drop(self.mirror.insert(pointer.request_id, *pointer)),
            Effect::Unmirror(request_id) => drop(self.mirror.remove(&request_id)),
            Effect::Remember(owner) => self.remembered = Some(owner),
            Effect::RememberBuffering(seen) => self.buffering = Some(seen),
            Effect::FetchSession { exchange, .. } => self.sessions.push(exchange),
            Effect::Send(sending) => {
                let stored = self.stored.readable.iter();
                let mut own = stored.filter(|pointer| pointer.request_id == sending.request_id);
                match sending.kind {
                    Exchange::Ask | Exchange::Resubmission => {
                        let pointer = own.next().expect("pointer before byte");
                        assert_eq!(
                            sending.ask.as_deref(),
                            Some(&pointer.ask),
                            "the very same body"
                        );
                        assert!(!pointer.cancel, "a stopped ask is never submitted");
                    }
                    Exchange::Lookup | Exchange::Events | Exchange::Cancel => {
                        assert!(sending.ask.is_none());
                    }
                }
                self.flights.push(sending.clone());
                self.sent.push(sending);
            }
            Effect::Abort(exchange) => self.flights.retain(|flight| flight.exchange != exchange),
            Effect::Sleep { timer, millis } => {
                self.count += 1;
                self.timers.insert((self.now + millis, self.count), timer);
            }
            Effect::Show(turn) => self.show(*turn),
            Effect::Hide(request_id) => drop(self.turns.remove(&request_id)),
            Effect::Return { request_id, why, .. } => self.returned.push((request_id, why)),
            Effect::Announce(announcement) => self.announced.push(announcement),
            Effect::Notice(notice) => self.notices.push(notice),
        }
    }

    fn show(&mut self, turn: Turn) {
        let id = turn.request_id;
        if let Some(before) = self.turns.get(&id) {
            let completed = turn.status.as_str() == "completed";
            let (old, new) = (before.shown.text(), turn.shown.text());
            assert!(completed || new.len() >= old.len(), "text shrank from {old:?} to {new:?}");
            let (old, new) = (before.reasoning.text(), turn.reasoning.text());
            assert!(completed || new.len() >= old.len(), "{old:?} shrank to {new:?}");
        }
        let is_settled =
            matches!(turn.status.as_str(), "completed" | "failed" | "cancelled" | "interrupted");
        assert!(is_settled || !self.settled.contains(&id), "settled, and then not: {turn:?}");
        if is_settled {
            self.settled.insert(id);
        }
        self.turns.insert(id, turn);
    }

    /// What must hold between any two events.
    fn check(&self) {
        let long = self.flights.iter().filter(|flight| flight.is_long()).count();
        assert!(long <= 1, "{long} long exchanges in one tab");
        let mut ids = BTreeSet::new();
        for flight in &self.flights {
            assert!(ids.insert(flight.request_id), "two requests about one ask at a time");
            assert!(flight.wait <= 25 && flight.deadline <= 35_000);
        }
        for turn in self.turns.values().filter(|turn| !turn.status.is_at_rest()) {
            let moves = self.flights.iter().any(|flight| flight.request_id == turn.request_id)
                || !self.sessions.is_empty()
                || self.timers.values().any(|timer| {
                    matches!(timer, TimerId::Ask(id, _) if *id == turn.request_id)
                        || matches!(timer, TimerId::Session(_))
                });
            assert!(moves || !turn.actions.is_empty(), "a spinner without an end: {turn:?}");
        }
    }
}
