//! A browser tab: the real recovery machine, driven over the simulated line.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use holdfast_protocol::reply::Exchange;
use holdfast_protocol::{AskBody, Conversation, ConversationId, Owner, RequestId, Session};
use holdfast_recovery::{
    Action, Effect, Event, ExchangeId, Millis, Pointer, Pointers, Recovery, Returned, SessionReply,
    Start, Turn,
};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use crate::clock::Clock;
use crate::trace::Trace;
use crate::weather::{Ended, Weather};
use crate::world::Mirror;

/// One tab, with its storage.
pub(crate) struct Tab {
    pub(crate) name: &'static str,
    weather: Rc<Weather>,
    clock: Clock,
    trace: Rc<Trace>,
    recovery: Recovery,
    /// Everything this life of the page has under way.
    tasks: JoinSet<()>,
    exchanges: BTreeMap<ExchangeId, AbortHandle>,
    raise: mpsc::UnboundedSender<Event>,
    raised: mpsc::UnboundedReceiver<Event>,
    /// `sessionStorage`.
    stored: String,
    /// `localStorage`, shared with the other tabs.
    mirror: Mirror,
    pub(crate) viewing: ConversationId,
    pub(crate) turns: BTreeMap<RequestId, Turn>,
    settled: BTreeSet<RequestId>,
    /// Asks this tab has seen accepted.
    pub(crate) accepted: BTreeSet<RequestId>,
    pub(crate) returned: Vec<(RequestId, Returned)>,
    /// Whose session it was the last time.
    remembered: Option<Owner>,
    /// When a stream was held back the last time.
    buffering: Option<Millis>,
}

impl Tab {
    pub(crate) fn open(
        name: &'static str,
        weather: Rc<Weather>,
        clock: Clock,
        trace: Rc<Trace>,
        mirror: Mirror,
        viewing: ConversationId,
    ) -> Self {
        let (raise, raised) = mpsc::unbounded_channel();
        let mut tab = Self {
            name,
            weather,
            clock,
            trace,
            recovery: Recovery::new(0),
            tasks: JoinSet::new(),
            exchanges: BTreeMap::new(),
            raise,
            raised,
            stored: String::new(),
            mirror,
            viewing,
            turns: BTreeMap::new(),
            settled: BTreeSet::new(),
            accepted: BTreeSet::new(),
            returned: Vec::new(),
            remembered: None,
            buffering: None,
        };
        tab.reload();
        tab
    }

    /// Everything in memory is gone, storage is not.
    pub(crate) fn reload(&mut self) {
        self.tasks = JoinSet::new();
        self.exchanges.clear();
        (self.raise, self.raised) = mpsc::unbounded_channel();
        self.recovery = Recovery::new(self.clock.now());
        self.turns.clear();
        self.settled.clear();
        let pointers = if self.stored.is_empty() {
            Pointers::default()
        } else {
            Pointers::parse(&self.stored)
        };
        let start = Start {
            pointers,
            mirrored: self.mirror.borrow().values().cloned().collect(),
            remembered: self.remembered.clone(),
            // Remembered for one life of the page: else there would be few streams in a world.
            buffering: self.buffering.take(),
            visible: true,
            online: true,
        };
        self.event(Event::Started(start));
        self.view(self.viewing);
    }

    /// Opens a conversation, as its address does: what the archive has of it is shown.
    pub(crate) fn view(&mut self, conversation: ConversationId) {
        self.viewing = conversation;
        self.event(Event::Viewing(Some(conversation)));
        let (weather, raise) = (Rc::clone(&self.weather), self.raise.clone());
        self.tasks.spawn_local(async move {
            let path = format!("/api/v1/conversations/{conversation}?limit=200");
            let Some(body) = weather.get(&path).await else { return };
            let Ok(conversation) = serde_json::from_slice::<Conversation>(&body) else { return };
            for turn in conversation.turns {
                let _closed = raise.send(Event::Seen(Box::new(turn)));
            }
            weather.news.notify_one();
        });
    }

    /// Asks; returns whether the page let it out.
    pub(crate) fn ask(&mut self, body: AskBody) {
        self.event(Event::Submitted(body));
    }

    /// Takes in what has happened since the last time.
    pub(crate) fn run(&mut self) {
        let mut raised = Vec::new();
        while let Ok(event) = self.raised.try_recv() {
            raised.push(event);
        }
        if raised.len() > 1 {
            // What happened in the same moment has no order of its own.
            raised.sort_by_cached_key(|event| match event {
                // What one exchange brings has.
                Event::Received { exchange, .. }
                | Event::Followed { exchange, .. }
                | Event::Buffered(exchange) => format!("Exchange {exchange}"),
                event => format!("{event:?}"),
            });
        }
        for event in raised {
            self.event(event);
        }
    }

    pub(crate) fn event(&mut self, event: Event) {
        self.trace.line(format_args!("{} {} {event:?}", self.clock.now(), self.name));
        for effect in self.recovery.handle(self.clock.now(), event) {
            if !matches!(effect, Effect::Store(_)) {
                self.trace.line(format_args!("    {effect:?}"));
            }
            self.carry_out(effect);
        }
    }

    /// The tab is closed, and opened again as a copy of another: with what that one has stored.
    pub(crate) fn become_copy(&mut self, stored: String) {
        self.stored = stored;
        self.reload();
    }

    /// What it has stored, as a copy of the tab would have it.
    pub(crate) fn stored(&self) -> String {
        self.stored.clone()
    }

    /// Somebody clears the site's data.
    pub(crate) fn forget(&mut self) {
        self.mirror.borrow_mut().clear();
        self.remembered = None;
        self.buffering = None;
        self.stored.clear();
        self.reload();
    }

    pub(crate) fn pointers(&self) -> Vec<Pointer> {
        if self.stored.is_empty() { Vec::new() } else { Pointers::parse(&self.stored).readable }
    }

    /// Whether nothing more will happen by itself, except what a person is offered.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.turns
            .values()
            .all(|turn| turn.status.is_at_rest() || turn.actions.contains(&Action::Discard))
            && self.pointers().iter().all(|pointer| self.turns.contains_key(&pointer.request_id))
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Store(pointers) => self.stored = pointers.to_json(),
            Effect::Mirror(pointer) => {
                self.mirror.borrow_mut().insert(pointer.request_id, *pointer);
            }
            Effect::Unmirror(request_id) => {
                self.mirror.borrow_mut().remove(&request_id);
            }
            Effect::FetchSession { exchange, .. } => {
                let (weather, raise) = (Rc::clone(&self.weather), self.raise.clone());
                let task = async move {
                    let reply = session(&weather).await;
                    let _closed = raise.send(Event::Session(exchange, reply));
                    weather.news.notify_one();
                };
                self.tasks.spawn_local(task);
            }
            Effect::Send(sending) => {
                if matches!(sending.kind, Exchange::Ask | Exchange::Resubmission) {
                    let stored = self.pointers();
                    let pointer = stored.iter().find(|p| p.request_id == sending.request_id);
                    assert!(pointer.is_some(), "pointer before byte: {sending:?}");
                    assert_eq!(
                        pointer.map(|p| &p.ask),
                        sending.ask.as_deref(),
                        "the very same body"
                    );
                }
                let (weather, raise) = (Rc::clone(&self.weather), self.raise.clone());
                let exchange = sending.exchange;
                let task = async move {
                    let ended = if sending.kind == Exchange::Events {
                        let tell = |followed| {
                            let _closed = raise.send(Event::Followed { exchange, followed });
                            weather.news.notify_one();
                        };
                        weather.follow(&sending, &tell).await
                    } else {
                        Ended::Said(weather.exchange(&sending).await)
                    };
                    let _closed = match ended {
                        Ended::Said(verdict) => raise.send(Event::Received { exchange, verdict }),
                        Ended::Buffered => raise.send(Event::Buffered(exchange)),
                        Ended::Told => Ok(()),
                    };
                    weather.news.notify_one();
                };
                let handle = self.tasks.spawn_local(task);
                self.exchanges.insert(exchange, handle);
            }
            Effect::Abort(exchange) => {
                if let Some(handle) = self.exchanges.remove(&exchange) {
                    handle.abort();
                }
            }
            Effect::Sleep { timer, millis } => {
                let (weather, raise) = (Rc::clone(&self.weather), self.raise.clone());
                self.tasks.spawn_local(async move {
                    tokio::time::sleep(std::time::Duration::from_millis(millis)).await;
                    let _closed = raise.send(Event::Timer(timer));
                    weather.news.notify_one();
                });
            }
            Effect::Show(turn) => self.show(*turn),
            Effect::Hide(request_id) => {
                self.turns.remove(&request_id);
            }
            Effect::Return { request_id, why, .. } => self.returned.push((request_id, why)),
            Effect::Remember(owner) => self.remembered = Some(owner),
            Effect::RememberBuffering(seen) => self.buffering = Some(seen),
            Effect::Announce(_) | Effect::Notice(_) => {}
        }
    }

    fn show(&mut self, turn: Turn) {
        let id = turn.request_id;
        let status = turn.status.as_str();
        if let Some(before) = self.turns.get(&id) {
            let (old, new) = (before.shown.text(), turn.shown.text());
            assert!(status == "completed" || new.starts_with(old), "{old:?} shrank to {new:?}");
        }
        let settled = turn.outcome.as_ref().is_some_and(|outcome| outcome.status.is_settled());
        assert!(settled || !self.settled.contains(&id), "settled, and then not: {turn:?}");
        if settled {
            self.settled.insert(id);
        }
        if turn.outcome.is_some() {
            self.accepted.insert(id);
        }
        self.turns.insert(id, turn);
    }
}

async fn session(weather: &Weather) -> SessionReply {
    match weather.get("/api/v1/session").await {
        Some(body) => match serde_json::from_slice::<Session>(&body) {
            Ok(session) => {
                SessionReply::SignedIn { owner: session.owner, policy: session.recovery }
            }
            Err(_) => SessionReply::Nothing,
        },
        None => SessionReply::Nothing,
    }
}
