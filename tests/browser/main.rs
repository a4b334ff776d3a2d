//! The real page in a real browser, against the real binary, over a line that fails.
//!
//! One file a kind of trouble. Each test has a server, a provider, a line and a browser of its own
//! ([`stage::on_stage`]), asserts from the line's log that its fault fell where it meant, and ends
//! with what must hold after every one of them: nothing was paid for twice, and nothing broke.
//! Browsers are heavy: run with `--test-threads=1`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod archived;
mod asking;
mod conversations;
mod crashing;
mod cutting;
mod elsewhere;
mod flaky;
mod gateways;
mod inert;
mod keeping;
mod keyboard;
mod leaving;
mod live;
mod matrix;
mod nginx;
mod outages;
mod owners;
mod parts;
mod resuming;
mod returning;
mod screens;
mod sentinel;
mod stage;
mod stopping;
mod storage;
mod tabs;
