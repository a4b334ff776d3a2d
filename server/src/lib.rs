//! Holdfast: a chat whose answers cannot get lost.
//!
//! The page asks; the server owns the work. Each question has an identity before its first byte is
//! sent, a durable record before its answer is promised, at most one run, and an outcome that never
//! changes once it has settled.
//!
//! Floors, an arrow points down and never up: `http` → `conversations` → `runs` → `ask` → `provider` → `memory`,
//! `journal` → `search` → `holdfast_protocol`. [`app`] assembles them; [`serve`] adds what only a real process
//! has: arguments, sockets, signals, the data folder. The binary is a thin `main` over [`cli`].
//!
//! *Architecture invariant:* time, randomness and ids come in as parameters ([`clock`],
//! [`journal::Identity`]), so that a simulation can own them.

pub mod app;
pub mod ask;
pub mod cli;
pub mod clock;
pub mod config;
pub mod conversations;
pub mod http;
pub mod journal;
pub mod memory;
pub mod page;
pub mod provider;
pub mod runs;
pub mod search;
pub mod serve;
pub mod signals;
