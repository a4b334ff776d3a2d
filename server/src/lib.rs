//! The server.

pub mod page;
