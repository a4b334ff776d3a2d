//! One world: a server on a real journal, tabs, weather, and everything that happens to them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use holdfast_protocol::{AskBody, ConversationId, Outcome, RequestId};
use holdfast_recovery::{Action, Event, Nudge, Pointer};
use tokio::time::Instant;

use crate::clock::Clock;
use crate::model::Model;
use crate::rng::Chance;
use crate::server::{Down, Server};
use crate::tab::Tab;
use crate::tally::{self, Tally};
use crate::trace::{Mode, Trace};
use crate::trouble::{TROUBLES, Trouble};
use crate::weather::Weather;

/// `localStorage`, as all tabs see it.
pub(crate) type Mirror = Rc<RefCell<BTreeMap<RequestId, Pointer>>>;

pub(crate) struct World {
    begun: Instant,
    chance: Rc<Chance>,
    trace: Rc<Trace>,
    /// The clocks of the server's machine, and of that with the pages.
    rack: Clock,
    desk: Clock,
    pub(crate) weather: Rc<Weather>,
    pub(crate) model: Arc<Model>,
    pub(crate) server: Server,
    pub(crate) tabs: Vec<Tab>,
    pub(crate) mirror: Mirror,
    conversations: Vec<ConversationId>,
    /// The latest trouble with the disk, and how many operations had failed before it.
    trouble: Option<(Trouble, u64)>,
    pub(crate) asked: Vec<(RequestId, ConversationId)>,
    /// Ids that somebody has seen accepted, in whatever life of the page.
    pub(crate) accepted: BTreeSet<RequestId>,
    /// Outcomes as they settled.
    pub(crate) settled: BTreeMap<RequestId, Outcome>,
    /// Questions a person did not want any more.
    pub(crate) discarded: BTreeSet<RequestId>,
    pub(crate) tally: Tally,
}

impl World {
    pub(crate) async fn new(seed: u64, mode: Mode) -> Self {
        let chance = Rc::new(Chance::new(seed));
        let trace = Rc::new(Trace::new(mode));
        let (rack, desk) = (Clock::start(), Clock::start());
        let weather = Rc::new(Weather::new(Rc::clone(&chance)));
        let model = Arc::new(Model::new(seed));
        let server = Server::start(seed, Arc::clone(&model), rack.clone()).await;
        weather.server_up(server.router());
        let conversations: Vec<_> = (0..3).map(|_| ConversationId::new(chance.uuid())).collect();
        let mirror = Mirror::default();
        let tabs = ["first", "second"]
            .into_iter()
            .zip(&conversations)
            .map(|(name, &viewing)| {
                let (weather, trace) = (Rc::clone(&weather), Rc::clone(&trace));
                Tab::open(name, weather, desk.clone(), trace, Rc::clone(&mirror), viewing)
            })
            .collect();
        Self {
            begun: Instant::now(),
            chance,
            trace,
            rack,
            desk,
            weather,
            model,
            server,
            tabs,
            mirror,
            conversations,
            trouble: None,
            asked: Vec::new(),
            accepted: BTreeSet::new(),
            settled: BTreeMap::new(),
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
            self.audit().await;
        }
        self.clear_up().await;
        self.audit().await;
        self.judge().await;
        self.tally.simulated = self.begun.elapsed();
        self.tally.faults = self.weather.fired.borrow().clone();
        self.tally.told = self.weather.told.get();
        self.tally.disk_failures = self.server.disk.struck();
        self.tally.trace = self.trace.sum();
        self.tally
    }

    async fn happen(&mut self) {
        let which = usize::from(self.chance.once_in(3));
        match self.chance.between(0, 49) {
            0..=14 => self.ask(which),
            15..=18 => {
                self.tally.happens(tally::RELOADED);
                self.each(which, Tab::reload);
            }
            19 | 20 => self.go_down(Down::Killed).await,
            21 | 22 => self.go_down(Down::PowerLoss).await,
            23 => {
                let patience = self.chance.millis(0, 5_000);
                self.go_down(Down::Stopped(patience)).await;
            }
            24 => {
                self.tally.happens(tally::OUTAGE);
                self.weather.outage.set(!self.weather.outage.get());
            }
            25 => {
                self.weather.outage.set(false);
                self.each(which, |tab| tab.event(Event::Nudged(Nudge::Online)));
            }
            26 => self.each(which, |tab| tab.event(Event::Hidden)),
            27 => self.each(which, |tab| tab.event(Event::Nudged(Nudge::Visible))),
            28 => self.each(which, |tab| tab.event(Event::Nudged(Nudge::Woke))),
            29 => self.each(which, |tab| tab.event(Event::Nudged(Nudge::PageShow))),
            30 => self.each(which, |tab| tab.event(Event::WentOffline)),
            31..=33 => self.press(which),
            34 => {
                if let Some(&conversation) = self.chance.pick(&self.conversations) {
                    self.each(which, |tab| tab.view(conversation));
                }
            }
            35 | 36 => self.befall(),
            37 | 38 => self.lift(),
            39 => self.copy_tab(),
            40 => self.clear_data(which),
            41 => self.sleep(),
            42 => self.jump(),
            43 => self.ask_again().await,
            _ => {}
        }
    }

    /// Trouble with the disk begins.
    fn befall(&mut self) {
        let Some(&trouble) = self.chance.pick(TROUBLES) else { return };
        if self.server.is_in_memory() {
            return;
        }
        self.note_trouble();
        self.trace.line(format_args!("{trouble:?}"));
        self.trouble = Some((trouble, self.server.disk.struck()));
        trouble.befall(&self.server.disk, &self.chance);
    }

    /// All trouble with the disk ends.
    fn lift(&mut self) {
        self.note_trouble();
        self.server.disk.lift();
    }

    /// Counts the trouble there was, if anything came of it.
    fn note_trouble(&mut self) {
        if let Some((trouble, struck)) = self.trouble.take()
            && self.server.disk.struck() > struck
        {
            *self.tally.troubles.entry(trouble).or_default() += 1;
        }
    }

    /// One tab is closed, and the other copied: both have the same pointers now.
    fn copy_tab(&mut self) {
        self.tally.happens(tally::COPIED);
        if let [first, second] = &mut *self.tabs {
            second.become_copy(first.stored());
        }
    }

    /// Somebody clears the site's data. What was never accepted goes with it.
    fn clear_data(&mut self, which: usize) {
        if !self.chance.once_in(3) {
            return;
        }
        self.tally.happens(tally::FORGOTTEN);
        let gone = self.asked.iter().map(|(request_id, _)| *request_id);
        self.discarded.extend(gone);
        self.each(which, Tab::forget);
    }

    /// A machine sleeps: its timers stand still meanwhile, its clocks do not.
    fn sleep(&mut self) {
        let nap = Duration::from_secs(self.chance.between(1, 600));
        if self.chance.once_in(2) {
            self.tally.happens(tally::SERVER_SLEPT);
            self.rack.sleep(nap);
        } else {
            self.tally.happens(tally::PAGE_SLEPT);
            self.desk.sleep(nap);
            for tab in &mut self.tabs {
                tab.event(Event::Nudged(Nudge::Woke));
            }
        }
    }

    /// Somebody sets a wall clock: by a second, or by hours.
    fn jump(&mut self) {
        let most = self.chance.pick(&[1_000, 60_000, 7_200_000]).copied().unwrap_or(1_000);
        let by = self.chance.between(1, most).cast_signed();
        let by = if self.chance.once_in(2) { by } else { -by };
        if self.chance.once_in(2) {
            self.tally.happens(tally::SERVER_JUMPED);
            self.rack.jump(by);
        } else {
            self.tally.happens(tally::PAGE_JUMPED);
            self.desk.jump(by);
        }
    }

    /// A program repeats a settled ask on purpose, with two ids at once: one of them may.
    async fn ask_again(&mut self) {
        let settled: Vec<_> = self.settled.values().cloned().collect();
        let Some(first) = self.chance.pick(&settled) else { return };
        self.tally.happens(tally::ASKED_AGAIN);
        let bodies = [0, 1].map(|_| AskBody {
            request_id: RequestId::new(self.chance.uuid()),
            conversation_id: first.conversation_id,
            question: first.question.clone().unwrap_or_else(|| "Again?".to_owned()),
            current: None,
            remember: None,
            language: None,
            model: None,
            retry_of: Some(first.request_id),
            system_prompt: None,
        });
        let (one, two) = tokio::join!(self.weather.post(&bodies[0]), self.weather.post(&bodies[1]));
        let took = [one, two].map(|outcome| outcome.map(|outcome| outcome.request_id));
        self.discarded.extend(bodies.iter().map(|body| body.request_id));
        self.asked.extend(bodies.iter().map(|body| (body.request_id, body.conversation_id)));
        self.accepted.extend(took.iter().flatten());
        assert!(took.iter().flatten().count() <= 1, "repeated twice: {bodies:?}");
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
            system_prompt: None,
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
        if action == Action::AskAgain {
            return self.ask_again_in(which, request_id);
        }
        match action {
            Action::Stop => self.tally.happens(tally::CANCELLED),
            Action::Discard => drop(self.discarded.insert(request_id)),
            Action::CheckAgain | Action::SendNow | Action::TakeBack | Action::AskAgain => {}
        }
        tab.event(match action {
            Action::Stop => Event::Stopped(request_id),
            Action::CheckAgain | Action::SendNow => Event::CheckedAgain(request_id),
            Action::TakeBack => Event::TakenBack(request_id),
            Action::AskAgain | Action::Discard => Event::Discarded(request_id),
        });
    }

    /// A person asks the same again, perhaps in both tabs at once: one of them gets to, and the other
    /// follows it.
    fn ask_again_in(&mut self, which: usize, request_id: RequestId) {
        let both = self.chance.once_in(2);
        for (at, tab) in self.tabs.iter_mut().enumerate() {
            let Some(turn) = tab.turns.get(&request_id).filter(|_| both || at == which) else {
                continue;
            };
            let again = RequestId::new(self.chance.uuid());
            let body = turn.again(again);
            self.tally.happens(tally::PRESSED_AGAIN);
            self.tally.asks += 1;
            self.asked.push((again, body.conversation_id));
            // It may be taken off the screen in favour of the other.
            self.discarded.insert(again);
            tab.ask(body);
        }
    }

    /// The server goes down; a while later it is back on the same data.
    async fn go_down(&mut self, how: Down) {
        self.tally.happens(match how {
            Down::Killed => tally::KILLED,
            Down::PowerLoss => tally::POWER_LOST,
            Down::Stopped(_) => tally::STOPPED,
        });
        self.trace.line(format_args!("{how:?}"));
        if !matches!(how, Down::Stopped(_)) {
            self.weather.server_down().await;
        }
        self.server.go_down(how).await;
        self.weather.server_down().await;
        let down = self.chance.millis(0, 3_000);
        self.pass(down).await;
        // A machine that starts again has its disk repaired, sooner or later.
        if self.chance.once_in(2) {
            self.lift();
        }
        let troubled = self.server.disk.is_troubled();
        if let Err(error) = self.server.come_up() {
            assert!(troubled, "the journal opens after any crash: {error}");
            self.lift();
            self.server.come_up().expect("the journal opens on a disk that was repaired");
        }
        if !self.server.disk.is_troubled() {
            self.server.ready().await;
        }
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
            // All that is to happen in this moment, whoever of those that wait for it is woken first.
            for _ in 0..8 {
                tokio::task::yield_now().await;
            }
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
        self.lift();
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
            let is_shown = |id| self.tabs.iter().any(|tab| tab.turns.contains_key(id));
            let all_are_shown = self.mirror.borrow().keys().all(is_shown);
            if all_are_shown && self.tabs.iter().all(Tab::is_at_rest) && self.model.is_idle() {
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
}
