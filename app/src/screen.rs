//! What the screen shows, as signals. The driver writes them, components read them.
//!
//! *Architecture invariant:* all of them are owned by the root, which lives as long as the page, and
//! each turn's own signal is reference counted: nobody can read a signal that is disposed.

use holdfast_protocol::{ConversationId, RequestId, Session};
use holdfast_recovery::{Announcement, Millis, Turn};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

/// One turn on the screen.
#[derive(Clone)]
pub(crate) struct TurnCell {
    /// Of which ask.
    pub(crate) request_id: RequestId,
    /// The turn as it is now.
    pub(crate) turn: ArcRwSignal<Turn>,
    /// Since when the page waits for it, by the browser's clock.
    pub(crate) since: Millis,
}

impl PartialEq for TurnCell {
    fn eq(&self, other: &Self) -> bool {
        self.request_id == other.request_id
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// Every signal of the page.
#[derive(Clone, Copy)]
pub(crate) struct Screen {
    /// The conversation in view; `None` is a new chat.
    pub(crate) view: RwSignal<Option<ConversationId>>,
    /// Its title, once the server has said it.
    pub(crate) title: RwSignal<Option<String>>,
    /// Its turns in order.
    pub(crate) turns: RwSignal<Vec<TurnCell>>,
    /// How loading it stands.
    pub(crate) loading: RwSignal<Loading>,
    /// The `before` of the turns before the first one shown.
    pub(crate) earlier: RwSignal<Option<u64>>,
    /// The newest ask in view that can be stopped.
    pub(crate) stoppable: RwSignal<Option<RequestId>>,
    /// Asks of other conversations.
    pub(crate) elsewhere: RwSignal<Vec<Elsewhere>>,
    /// Other tabs' questions that were never sent.
    pub(crate) never_sent: RwSignal<Vec<TurnCell>>,
    /// Questions that came back.
    pub(crate) offers: RwSignal<Vec<Offer>>,
    /// What the composer holds.
    pub(crate) draft: RwSignal<String>,
    /// Why the last Send was not carried out.
    pub(crate) complaint: RwSignal<Option<String>>,
    /// Counts up whenever the composer should take the focus.
    pub(crate) focus: RwSignal<u32>,
    /// Counts up whenever the end of the conversation should come into sight.
    pub(crate) to_end: RwSignal<u32>,
    /// Text came below what can be seen.
    pub(crate) new_text: RwSignal<bool>,
    /// The latest announcements, numbered.
    pub(crate) announcements: RwSignal<Vec<(u32, Announcement)>>,
    /// Whether the browser says it has a network.
    pub(crate) online: RwSignal<bool>,
    /// Whether Holdfast cannot be reached.
    pub(crate) unreachable: RwSignal<bool>,
    /// Whether somebody has to sign in.
    pub(crate) sign_in: RwSignal<bool>,
    /// What storing pointers costs, where it fails.
    pub(crate) storage: RwSignal<Option<StorageTrouble>>,
    /// The session, once known.
    pub(crate) session: RwSignal<Option<Session>>,
    /// The time, a second at a time while something is pending.
    pub(crate) now: RwSignal<Millis>,
}

impl Screen {
    /// The screen of a page that starts. To be made under the root owner.
    pub(crate) fn new(online: bool, now: Millis) -> Self {
        Self {
            view: RwSignal::new(None),
            title: RwSignal::new(None),
            turns: RwSignal::new(Vec::new()),
            loading: RwSignal::new(Loading::Idle),
            earlier: RwSignal::new(None),
            stoppable: RwSignal::new(None),
            elsewhere: RwSignal::new(Vec::new()),
            never_sent: RwSignal::new(Vec::new()),
            offers: RwSignal::new(Vec::new()),
            draft: RwSignal::new(String::new()),
            complaint: RwSignal::new(None),
            focus: RwSignal::new(0),
            to_end: RwSignal::new(0),
            new_text: RwSignal::new(false),
            announcements: RwSignal::new(Vec::new()),
            online: RwSignal::new(online),
            unreachable: RwSignal::new(false),
            sign_in: RwSignal::new(false),
            storage: RwSignal::new(None),
            session: RwSignal::new(None),
            now: RwSignal::new(now),
        }
    }
}

/// Sets a signal only if that changes it, so that nothing is drawn anew for nothing.
pub(crate) fn set<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    if signal.with_untracked(|current| *current != value) {
        signal.set(value);
    }
}
