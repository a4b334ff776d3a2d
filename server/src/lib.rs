//! The server.

pub mod memory;
pub mod page;
pub mod provider;
