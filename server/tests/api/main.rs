//! The server over HTTP, assembled as in production save for sockets and threads: the real router,
//! the real runs, a real journal on disk, and a provider that does what the test says. Time is paused
//! and moves only while everything waits, so a wait of 25 s takes no time and no test sleeps.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod archive;
mod asking;
mod cancelling;
mod conversations;
mod deadlines;
mod deleting;
mod draining;
mod following;
mod guards;
mod importing;
mod listing;
mod looking_up;
mod restarting;
mod runs;
mod searching;
mod site;
mod support;
mod taking_along;
mod threads;
