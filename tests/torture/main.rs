//! What the journal promises, under torture: power that goes at any moment, a disk that fails at any
//! operation, a process that is killed at any instant, no room left.
//!
//! [`power`] and [`faults`] run the real server without sockets on a simulated disk; [`kills`] and
//! [`full`] run the real binary. `cargo xtask torture --long` does more of each. What fails says how to play it again:
//! `HOLDFAST_SEED` names the first seed, `HOLDFAST_POWER_LOSSES` and `HOLDFAST_KILLS` how many there are.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

mod ask;
mod faults;
mod full;
mod kills;
mod ledger;
mod load;
mod machine;
mod model;
mod power;
mod settings;
mod talk;
