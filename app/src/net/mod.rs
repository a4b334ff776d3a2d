//! Talking to Holdfast: one bounded request each, its whole body, and what the reply means; and the
//! stream of an ask, event by event.
//!
//! Not here: when something is sent, and what follows from the reply. No module below this one
//! retries anything.

mod abort;
mod conversation;
mod events;
mod exchange;
mod fetch;
pub(crate) mod lock;
mod session;
pub(crate) mod shelf;

pub(crate) use abort::Abort;
pub(crate) use conversation::{Loaded, conversation};
pub(crate) use events::{Ended, events};
pub(crate) use exchange::exchange;
pub(crate) use session::session;
