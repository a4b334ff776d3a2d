//! What can happen to recovery.

use holdfast_protocol::following::Followed;
use holdfast_protocol::reply::Verdict;
use holdfast_protocol::{AskBody, ConversationId, Outcome, Owner, RecoveryPolicy, RequestId};

use crate::{ExchangeId, Millis, Pointer, Pointers};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The page has started, or started again.
    Started(Start),
    /// What became of an [`Effect::FetchSession`](crate::Effect::FetchSession).
    Session(ExchangeId, SessionReply),
    /// A person asks.
    Submitted(AskBody),
    /// What became of an [`Effect::Send`](crate::Effect::Send).
    Received {
        /// Which.
        exchange: ExchangeId,
        /// What the reply means; of a stream, what its end means. One that brought the outcome has
        /// no other end.
        verdict: Verdict,
    },
    /// A stream brought something.
    Followed {
        /// Which.
        exchange: ExchangeId,
        /// What.
        followed: Followed,
    },
    /// The head of a stream came, and then nothing: somebody in between holds it back.
    Buffered(ExchangeId),
    /// A timer has run out.
    Timer(TimerId),
    /// Something suggests that the line or the page is back.
    Nudged(Nudge),
    /// The browser says that it has no network.
    WentOffline,
    /// The page is hidden.
    Hidden,
    /// The conversation in view changed.
    Viewing(Option<ConversationId>),
    /// An outcome was seen elsewhere, when a conversation was opened.
    Seen(Box<Outcome>),
    /// A person pressed Stop.
    Stopped(RequestId),
    /// A person pressed “Check again”, or “Send now”.
    CheckedAgain(RequestId),
    /// A person wants an offered question back in the composer.
    TakenBack(RequestId),
    /// A person does not want an offered question any more.
    Discarded(RequestId),
    /// A person has deleted a conversation, and the server has said so.
    Deleted(ConversationId),
}

/// What a start of the page finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// This tab's pointers.
    pub pointers: Pointers,
    /// Asks of other tabs that were not yet accepted when those tabs last wrote.
    pub mirrored: Vec<Pointer>,
    /// Whose session it was the last time there was one.
    pub remembered: Option<Owner>,
    /// When something between page and server was last seen to hold back a stream.
    pub buffering: Option<Millis>,
    /// Whether the page can be seen.
    pub visible: bool,
    /// Whether the browser says it has a network.
    pub online: bool,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            pointers: Pointers::default(),
            mirrored: Vec::new(),
            remembered: None,
            buffering: None,
            visible: true,
            online: true,
        }
    }
}

/// What a session request brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionReply {
    /// Somebody is signed in.
    SignedIn {
        /// Whose pointers are whose.
        owner: Owner,
        /// How often to try.
        policy: RecoveryPolicy,
    },
    /// Nobody is.
    SignedOut,
    /// No reply from Holdfast.
    Nothing,
}

/// Why it may be worth looking now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nudge {
    /// The browser has a network again.
    Online,
    /// The page can be seen again.
    Visible,
    /// The page was shown from the back-forward cache.
    PageShow,
    /// A timer came much too late: the machine slept.
    Woke,
}

/// Names a timer. A later timer of the same ask makes an earlier one void.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimerId {
    /// Of an ask; the number tells later from earlier.
    Ask(RequestId, u64),
    /// Of the session request.
    Session(u64),
}
