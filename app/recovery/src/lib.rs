//! The browser's side of the promise, as a state machine without I/O.
//!
//! ```
//! use holdfast_recovery::{Effect, Event, Recovery, Start};
//!
//! let mut recovery = Recovery::new(7);
//! let effects = recovery.handle(0, Event::Started(Start::default()));
//! assert!(effects.iter().any(|effect| matches!(effect, Effect::FetchSession { .. })));
//! ```
//!
//! A driver feeds [`Event`]s with the time they happened and carries out the [`Effect`]s *in order*.
//! The page is one driver, the simulator is another; both drive this very code.
//!
//! *Architecture invariants:* no I/O, no clock, no source of randomness but the seed given at the
//! start. [`Effect::Store`] with the ask's pointer stands before the first [`Effect::Send`] of it. A
//! lookup never follows a guess, and a resubmission only follows a lookup that found nothing. Every
//! ask that is not settled has an exchange under way, a timer running, or an action for a person.

mod ask;
mod backoff;
mod effect;
mod event;
mod follow;
mod person;
mod pointer;
mod received;
mod recovery;
mod rules;
mod session;
mod stream;
mod text;
mod turn;

pub use effect::{Announcement, Effect, Notice, Returned, Sending};
pub use event::{Event, Nudge, SessionReply, Start, TimerId};
pub use pointer::{Pointer, Pointers};
pub use recovery::Recovery;
pub use text::Shown;
pub use turn::{Action, Trouble, Turn, TurnStatus};

/// Milliseconds since the Unix epoch, by the driver's clock.
pub type Millis = u64;

/// Names one exchange with the server, so that its reply finds back.
pub type ExchangeId = u64;
