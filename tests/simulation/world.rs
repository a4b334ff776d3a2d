//! One world: a server on a real journal, tabs, weather, and what must hold in all of it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use holdfast_protocol::{AskBody, ConversationId, Outcome, RequestId, Status};
use holdfast_recovery::{Action, Event, Millis, Nudge, Pointer};
use tokio::time::Instant;

use crate::model::Model;
use crate::rng::Chance;
use crate::server::Server;
use crate::tab::Tab;
use crate::weather::{Fault, Weather};

/// The moment every world begins: 2026-01-31T09:00:00Z.
pub(crate) const BEGINNING: Millis = 1_769_850_000_000;

/// `localStorage`, as all tabs see it.
pub(crate) type Mirror = Rc<RefCell<BTreeMap<RequestId, Pointer>>>;

/// The wall clock of the simulation: it moves with tokio's paused time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    beginning: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { beginning: Instant::now() }
    }

    pub(crate) fn now(self) -> Millis {
        let passed = Instant::now().duration_since(self.beginning).as_millis();
        BEGINNING + u64::try_from(passed).unwrap_or(u64::MAX)
    }
}

/// What one world saw.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) asks: u64,
    pub(crate) accepted: u64,
    pub(crate) calls: u64,
    pub(crate) recovered: u64,
    pub(crate) ends: BTreeMap<&'static str, u64>,
    pub(crate) crashes: u64,
    pub(crate) reloads: u64,
    pub(crate) outages: u64,
    pub(crate) stops: u64,
    pub(crate) faults: BTreeMap<Fault, u64>,
    pub(crate) simulated: Duration,
}

pub(crate) struct World {
    chance: Rc<Chance>,
    clock: Clock,
    weather: Rc<Weather>,
    model: Arc<Model>,
    server: Server,
    tabs: Vec<Tab>,
    conversations: Vec<ConversationId>,
    asked: Vec<(RequestId, ConversationId)>,
    /// Ids a tab has seen accepted, in whatever life of the page.
    accepted: BTreeSet<RequestId>,
    /// Questions a person did not want any more.
    discarded: BTreeSet<RequestId>,
    tally: Tally,
}

impl World {
    pub(crate) async fn new(seed: u64) -> Self {
        let chance = Rc::new(Chance::new(seed));
        let clock = Clock::start();
        let weather = Rc::new(Weather::new(Rc::clone(&chance)));
        let model = Arc::new(Model::new(seed));
        let server = Server::start(Arc::clone(&model), clock).await;
        weather.server_up(server.router());
        let conversations: Vec<_> = (0..3).map(|_| ConversationId::new(chance.uuid())).collect();
        let mirror = Mirror::default();
        let tabs = ["first", "second"]
            .into_iter()
            .zip(&conversations)
            .map(|(name, &viewing)| {
                Tab::open(name, Rc::clone(&weather), clock, Rc::clone(&mirror), viewing)
            })
            .collect();
        Self {
            chance,
            clock,
            weather,
            model,
            server,
            tabs,
            conversations,
            asked: Vec::new(),
            accepted: BTreeSet::new(),
            discarded: BTreeSet::new(),
            tally: Tally::default(),
        }
    }

    /// Lives through so many moments of weather, then waits for a clear sky and holds everybody to
    /// their word.
    pub(crate) async fn live(mut self, moments: u64) -> Tally {
        self.weather.rough.set(self.chance.between(2, 6));
        for _ in 0..moments {
            self.happen().await;
            let moment = self.chance.millis(1, 900);
            self.pass(moment).await;
        }
        self.clear_up().await;
        self.judge().await;
        let now = self.clock.now();
        self.tally.simulated = Duration::from_millis(now - BEGINNING);
        self.tally.faults = self.weather.fired.borrow().clone();
        self.tally
    }

    async fn happen(&mut self) {
        let which = usize::from(self.chance.once_in(3));
        match self.chance.between(0, 29) {
            0..=8 => self.ask(which),
            9..=11 => {
                self.tally.reloads += 1;
                self.each(which, Tab::reload);
            }
            12 | 13 => self.crash().await,
            14 => {
                self.tally.outages += 1;
                self.weather.outage.set(!self.weather.outage.get());
            }
            15 => {
                self.weather.outage.set(false);
                self.each(which, |tab| tab.event(Event::Nudged(Nudge::Online)));
            }
            16 => self.each(which, |tab| tab.event(Event::Hidden)),
            17 => self.each(which, |tab| tab.event(Event::Nudged(Nudge::Visible))),
            18 => self.each(which, |tab| tab.event(Event::Nudged(Nudge::Woke))),
            19 => self.each(which, |tab| tab.event(Event::Nudged(Nudge::PageShow))),
            20 => self.each(which, |tab| tab.event(Event::WentOffline)),
            21 | 22 => self.press(which),
            23 => {
                if let Some(&conversation) = self.chance.pick(&self.conversations) {
                    self.each(which, |tab| tab.view(conversation));
                }
            }
            _ => {}
        }
    }

    fn each(&mut self, which: usize, act: impl FnOnce(&mut Tab)) {
        if let Some(tab) = self.tabs.get_mut(which) {
            act(tab);
        }
    }

    fn ask(&mut self, which: usize) {
        let request_id = RequestId::new(self.chance.uuid());
        let Some(&conversation_id) = self.chance.pick(&self.conversations) else { return };
        self.tally.asks += 1;
        self.asked.push((request_id, conversation_id));
        let body = AskBody {
            request_id,
            conversation_id,
            question: format!("Question {}?", self.asked.len()),
            current: None,
            remember: None,
            language: Some("en".to_owned()),
            model: None,
            retry_of: None,
        };
        self.each(which, |tab| tab.ask(body));
    }

    /// Presses one of the buttons the page shows.
    fn press(&mut self, which: usize) {
        let Some(tab) = self.tabs.get_mut(which) else { return };
        let buttons: Vec<_> = tab
            .turns
            .values()
            .flat_map(|turn| turn.actions.iter().map(|&action| (turn.request_id, action)))
            .collect();
        let Some(&(request_id, action)) = self.chance.pick(&buttons) else { return };
        match action {
            Action::Stop => self.tally.stops += 1,
            Action::Discard => drop(self.discarded.insert(request_id)),
            Action::CheckAgain | Action::SendNow | Action::TakeBack => {}
        }
        tab.event(match action {
            Action::Stop => Event::Stopped(request_id),
            Action::CheckAgain | Action::SendNow => Event::CheckedAgain(request_id),
            Action::TakeBack => Event::TakenBack(request_id),
            Action::Discard => Event::Discarded(request_id),
        });
    }

    /// Everything the server has in memory is gone; a while later it is back on the same data.
    async fn crash(&mut self) {
        self.tally.crashes += 1;
        self.weather.server_down().await;
        self.server.crash().await;
        let down = self.chance.millis(0, 3_000);
        self.pass(down).await;
        self.server.restart(Arc::clone(&self.model), self.clock).await;
        self.weather.server_up(self.server.router());
    }

    /// Lets time go by, every tab taking in what happens as it happens.
    async fn pass(&mut self, moment: Duration) {
        let until = Instant::now() + moment;
        loop {
            let over = tokio::select! {
                biased;
                () = self.weather.news.notified() => false,
                () = tokio::time::sleep_until(until) => true,
            };
            for tab in &mut self.tabs {
                tab.run();
                self.accepted.extend(tab.accepted.iter().copied());
            }
            if over {
                return;
            }
        }
    }

    /// The sun comes out, and a person presses “Check again” where the page asks for it.
    async fn clear_up(&mut self) {
        self.weather.rough.set(0);
        self.weather.outage.set(false);
        for tab in &mut self.tabs {
            tab.event(Event::Nudged(Nudge::Visible));
            tab.event(Event::Nudged(Nudge::Online));
        }
        for round in 0..600 {
            self.pass(Duration::from_secs(1)).await;
            if round % 10 == 9 {
                for tab in &mut self.tabs {
                    let stuck: Vec<_> = tab
                        .turns
                        .values()
                        .filter(|turn| !turn.status.is_at_rest())
                        .filter(|turn| !turn.actions.contains(&Action::Discard))
                        .filter(|turn| turn.actions.contains(&Action::CheckAgain))
                        .map(|turn| turn.request_id)
                        .collect();
                    for request_id in stuck {
                        tab.event(Event::CheckedAgain(request_id));
                    }
                }
            }
            if self.tabs.iter().all(Tab::is_at_rest) && self.model.is_idle() {
                self.pass(Duration::from_secs(3)).await;
                return;
            }
        }
        let stuck: Vec<_> = self
            .tabs
            .iter()
            .flat_map(|tab| tab.turns.values().map(move |turn| (tab.name, turn)))
            .filter(|(_, turn)| !turn.status.is_at_rest())
            .collect();
        panic!("a spinner without an end: {stuck:#?}");
    }

    async fn judge(&mut self) {
        let accepted = self.accepted.clone();
        self.tally.accepted = accepted.len() as u64;
        for (request_id, conversation_id) in self.asked.clone() {
            let outcome = self.look_up(request_id, conversation_id).await;
            let calls = self.model.calls(request_id);
            self.tally.calls += calls;
            assert!(calls <= 1, "{request_id} was paid for {calls} times");
            if outcome.is_unknown() {
                assert!(!accepted.contains(&request_id), "{request_id} was accepted, and is lost");
                assert_eq!(calls, 0, "{request_id} was paid for, and is lost");
                assert!(self.is_with_somebody(request_id), "the question {request_id} vanished");
                continue;
            }
            assert!(
                outcome.status.is_settled(),
                "never “running” with nobody running it: {outcome:?}"
            );
            *self.tally.ends.entry(outcome.status.as_str()).or_default() += 1;
            let whole = self.model.answer(request_id);
            match outcome.status {
                Status::Completed => assert_eq!(outcome.text(), whole, "the whole answer"),
                _ => assert!(whole.starts_with(outcome.text()), "{outcome:?} of {whole:?}"),
            }
            // A crash between the mark and the call cannot be told from one after it.
            let said = outcome.receipt.as_ref().map_or(0, |receipt| receipt.provider_calls);
            let may_have_called = outcome.status == Status::Interrupted && calls == 0;
            assert!(u64::from(said) == calls || may_have_called, "{calls} calls, and {outcome:?}");
            self.compare(&outcome);
        }
        self.tally.recovered = self
            .tabs
            .iter()
            .flat_map(|tab| tab.turns.values())
            .filter(|turn| turn.recovered)
            .count() as u64;
    }

    /// Whether a question that never arrived is on a screen, in storage, or given back.
    fn is_with_somebody(&self, request_id: RequestId) -> bool {
        self.discarded.contains(&request_id)
            || self.tabs.iter().any(|tab| {
                tab.turns.contains_key(&request_id)
                    || tab.returned.iter().any(|(returned, _)| *returned == request_id)
                    || tab.pointers().iter().any(|pointer| pointer.request_id == request_id)
            })
    }

    /// What the tabs show is what the journal says, or more of the same.
    fn compare(&self, outcome: &Outcome) {
        for tab in &self.tabs {
            let Some(turn) = tab.turns.get(&outcome.request_id) else { continue };
            if !turn.status.is_at_rest() {
                continue;
            }
            assert_eq!(
                turn.status.as_str(),
                outcome.status.as_str(),
                "{} shows {turn:?}",
                tab.name
            );
            assert!(turn.shown.text().starts_with(outcome.text()), "{turn:?} of {outcome:?}");
            let kept = tab.pointers().iter().any(|p| p.request_id == outcome.request_id);
            assert!(!kept, "a pointer to what has settled on screen: {turn:?}");
        }
    }

    async fn look_up(&self, request_id: RequestId, conversation_id: ConversationId) -> Outcome {
        let path = format!("/api/v1/requests/{request_id}?conversation_id={conversation_id}");
        let body = self.weather.get(&path).await.expect("the server is up");
        serde_json::from_slice(&body).expect("an outcome")
    }
}
