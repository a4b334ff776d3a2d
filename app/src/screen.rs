//! What the screen shows, as fields. The driver writes them, components read them.

use std::sync::Arc;

use holdfast_protocol::{ConversationId, RequestId, Session};
use holdfast_recovery::{Announcement, Millis, Turn};
use leptos::prelude::AnyView;

use crate::field::Field;

/// Announcements that stay in the status region.
pub(crate) const ANNOUNCEMENTS: usize = 3;

/// One turn on the screen.
#[derive(Clone)]
pub(crate) struct TurnCell {
    /// Of which ask.
    pub(crate) request_id: RequestId,
    /// The turn as it is now.
    pub(crate) turn: Arc<Field<Turn>>,
    /// Which of the answers to this question it is, and how many there are.
    pub(crate) chain: Arc<Field<(usize, usize)>>,
    /// Since when the page waits for it, by the browser's clock.
    pub(crate) since: Millis,
}

impl PartialEq for TurnCell {
    fn eq(&self, other: &Self) -> bool {
        self.request_id == other.request_id
    }
}

/// What the later part of the page draws.
#[derive(Clone, Copy)]
pub(crate) struct Drawn {
    /// Beside the chat.
    pub(crate) beside: fn() -> AnyView,
    /// Between the bar and the composer.
    pub(crate) within: fn() -> AnyView,
}

/// How far the later part of the page is.
#[derive(Clone, Copy, Default)]
pub(crate) enum Later {
    /// On its way for the first time.
    #[default]
    Coming,
    /// It did not come; it is tried again.
    Delayed,
    /// It did not come, and a person decides.
    Missing,
    /// Here.
    Here(Drawn),
}

impl Later {
    /// Whether it can be drawn.
    pub(crate) const fn is_here(&self) -> bool {
        matches!(self, Self::Here(_))
    }
}

/// How loading the conversation in view stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Loading {
    /// There is nothing to load, or it is loaded.
    #[default]
    Idle,
    /// Under way.
    Busy,
    /// Given up; the sentence says why. A person can try again.
    Failed(String),
    /// There is no such conversation; the sentence says what may be the reason.
    Missing(&'static str),
}

/// An ask of another conversation that is under way, or has settled since the person looked away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    /// Of which ask.
    pub(crate) request_id: RequestId,
    /// Where.
    pub(crate) conversation_id: ConversationId,
    /// What was asked.
    pub(crate) question: String,
    /// Whether it has settled.
    pub(crate) settled: bool,
}

/// A question that came back and waits beside the composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Of which ask.
    pub(crate) request_id: RequestId,
    /// The question.
    pub(crate) question: String,
    /// Why it came back.
    pub(crate) reason: String,
}

/// What storing the pointers costs in safety.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StorageTrouble {
    /// A plain reload finds pending answers, closing the tab loses them.
    ClosingLoses,
    /// A reload loses them too.
    ReloadLoses,
}

/// Every field of the page.
pub(crate) struct Screen {
    /// The part of the page that draws conversations.
    pub(crate) later: Field<Later>,
    /// Whether the drawer of conversations is open.
    pub(crate) shelf_open: Field<bool>,
    /// Counts up whenever an ask is new, accepted or settled.
    pub(crate) pulse: Field<u64>,
    /// Counts up whenever the line, the page or the person may be back.
    pub(crate) nudges: Field<u64>,
    /// The conversation in view; `None` is a new chat.
    pub(crate) view: Field<Option<ConversationId>>,
    /// Its title, once the server has said it.
    pub(crate) title: Field<Option<String>>,
    /// Its turns in order.
    pub(crate) turns: Field<Vec<TurnCell>>,
    /// How loading it stands.
    pub(crate) loading: Field<Loading>,
    /// The `before` of the turns before the first one shown.
    pub(crate) earlier: Field<Option<u64>>,
    /// The newest ask in view that can be stopped.
    pub(crate) stoppable: Field<Option<RequestId>>,
    /// Asks of other conversations.
    pub(crate) elsewhere: Field<Vec<Elsewhere>>,
    /// Other tabs' questions that were never sent.
    pub(crate) never_sent: Field<Vec<TurnCell>>,
    /// Questions that came back.
    pub(crate) offers: Field<Vec<Offer>>,
    /// What the composer holds.
    pub(crate) draft: Field<String>,
    /// What the model is to be told in the conversation that the next question begins.
    pub(crate) instructions: Field<String>,
    /// Why the last Send was not carried out.
    pub(crate) complaint: Field<Option<String>>,
    /// Whether the reader is at the end, and wants to stay there.
    pub(crate) follows: Field<bool>,
    /// Text came below what can be seen.
    pub(crate) new_text: Field<bool>,
    /// The latest announcements; the next one takes the place of the oldest.
    pub(crate) announcements: Field<[Option<Announcement>; ANNOUNCEMENTS]>,
    /// Whether the browser says it has a network.
    pub(crate) online: Field<bool>,
    /// Whether Holdfast cannot be reached.
    pub(crate) unreachable: Field<bool>,
    /// Whether somebody has to sign in.
    pub(crate) sign_in: Field<bool>,
    /// What storing pointers costs, where it fails.
    pub(crate) storage: Field<Option<StorageTrouble>>,
    /// The session, once known.
    pub(crate) session: Field<Option<Session>>,
    /// The time, a second at a time while something is pending.
    pub(crate) now: Field<Millis>,
}

impl Screen {
    /// The screen of a page that starts, for as long as the page lives.
    pub(crate) fn new(online: bool, now: Millis) -> &'static Self {
        Box::leak(Box::new(Self {
            later: Field::new(Later::default()),
            shelf_open: Field::new(false),
            pulse: Field::new(0),
            nudges: Field::new(0),
            view: Field::new(None),
            title: Field::new(None),
            turns: Field::new(Vec::new()),
            loading: Field::new(Loading::Idle),
            earlier: Field::new(None),
            stoppable: Field::new(None),
            elsewhere: Field::new(Vec::new()),
            never_sent: Field::new(Vec::new()),
            offers: Field::new(Vec::new()),
            draft: Field::new(String::new()),
            instructions: Field::new(String::new()),
            complaint: Field::new(None),
            follows: Field::new(true),
            new_text: Field::new(false),
            announcements: Field::new([None; ANNOUNCEMENTS]),
            online: Field::new(online),
            unreachable: Field::new(false),
            sign_in: Field::new(false),
            storage: Field::new(None),
            session: Field::new(None),
            now: Field::new(now),
        }))
    }
}
