//! The protocol as a table over HTTP: every line of it that can be seen from outside, against the
//! real binary and a mock provider.
//!
//! One file a topic. Each test starts its own server on its own data; what the provider was asked
//! is read from the mock's log, by the ask's id.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod accepting;
mod access;
mod attaching;
mod backing_up;
mod cancelling;
mod checking;
mod conversations;
mod crashing;
mod fields;
mod following;
mod keeping;
mod listing;
mod looking_up;
mod order;
mod providers;
mod queueing;
mod retrying;
mod routes;
mod session;
mod sockets;
mod starting;
mod stopping;
mod support;
