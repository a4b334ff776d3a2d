//! What recovery wants done, in order.

use holdfast_protocol::reply::Exchange;
use holdfast_protocol::{AskBody, CancelBody, Code, ConversationId, Owner, RequestId};

use crate::{ExchangeId, Millis, Pointer, Pointers, TimerId, Turn};

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Keep these pointers, and no others. A driver that cannot says so itself, aloud, and goes on.
    Store(Pointers),
    /// Keep this pointer where other tabs find it.
    Mirror(Box<Pointer>),
    /// Forget it there.
    Unmirror(RequestId),
    /// Keep whose session it is, for the next start.
    Remember(Owner),
    /// Keep when something between page and server was last seen to hold back a stream.
    RememberBuffering(Millis),
    /// `GET api/v1/session`.
    FetchSession {
        /// Names the reply.
        exchange: ExchangeId,
        /// Give up after so many milliseconds.
        deadline: Millis,
    },
    /// Send something to the server.
    Send(Sending),
    /// End an exchange; its reply is not wanted any more.
    Abort(ExchangeId),
    /// Raise [`Event::Timer`](crate::Event::Timer) after so many milliseconds.
    Sleep {
        /// Names the event.
        timer: TimerId,
        /// How long.
        millis: Millis,
    },
    /// Show the turn as it is now.
    Show(Box<Turn>),
    /// Take the turn off the screen.
    Hide(RequestId),
    /// The question goes back to the person.
    Return {
        /// Of which ask.
        request_id: RequestId,
        /// Where it was asked.
        conversation_id: ConversationId,
        /// The question.
        question: String,
        /// Why.
        why: Returned,
    },
    /// Say something in the status region.
    Announce(Announcement),
    /// Tell the person something that is no turn's business.
    Notice(Notice),
}

/// A request about one ask.
#[derive(Clone, Debug, PartialEq)]
pub struct Sending {
    /// Names the reply.
    pub exchange: ExchangeId,
    /// What kind of request it is.
    pub kind: Exchange,
    /// The ask.
    pub request_id: RequestId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// The body of an ask or a resubmission.
    pub ask: Option<Box<AskBody>>,
    /// The body of a cancel.
    pub cancel: Option<Box<CancelBody>>,
    /// `Prefer: wait=`, in seconds. Above 0 it is the tab's one long exchange; a driver that may not
    /// have one (another tab follows the ask) sends 0 instead.
    pub wait: u32,
    /// `after` of a lookup or a stream, in bytes: what is held of the text need not come again.
    pub after: u64,
    /// Give up after so many milliseconds; on a stream after so many without a byte.
    pub deadline: Millis,
}

impl Sending {
    /// How long a stream may be without its first byte once its head has come, in milliseconds. Then it
    /// is [`Event::Buffered`](crate::Event::Buffered).
    pub const FIRST_BYTE: Millis = 5_000;

    /// Whether it is the tab's one long exchange. A driver that may not have one looks up instead,
    /// without a wait.
    pub const fn is_long(&self) -> bool {
        self.wait > 0 || matches!(self.kind, Exchange::Events)
    }
}

/// Why a question goes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Returned {
    /// It was refused.
    Refused {
        /// Why.
        code: Code,
        /// The sentence.
        detail: String,
    },
    /// It was withdrawn before it left.
    Withdrawn,
    /// A person took it back.
    TakenBack,
    /// Its pointer is older than seven days and the server knows nothing of it.
    Expired,
}

/// What the status region says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Announcement {
    /// The question is on its way.
    Sent,
    /// The answer is still being made.
    StillWorking,
    /// The line is gone; recovery is at work.
    ConnectionLost,
    /// The answer was recovered.
    Recovered,
    /// The answer is complete.
    Completed,
    /// It failed, or was interrupted or refused.
    Failed,
    /// It was stopped.
    Stopped,
    /// Attempts are spent.
    Unreachable,
}

/// What is no turn's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// The server cannot be reached.
    ServerUnreachable,
    /// It can again.
    ServerReached,
    /// Nobody is signed in.
    SignInRequired,
}
