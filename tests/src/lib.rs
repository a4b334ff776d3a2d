//! The tools that the tests of the whole are made of: a provider that can be told to misbehave, a
//! line that can be cut, the real server, and a real browser.
//!
//! Tools only; what must hold is said by the test targets beside this folder. Nothing here is part
//! of the product, and nothing here knows the product's code: the tools see it as its users do,
//! over HTTP and on the screen.

pub mod browser;
pub mod client;
pub mod disk;
pub mod mock;
pub mod nginx;
pub mod proxy;
pub mod server;
mod watched;

pub mod wire;

pub use watched::PATIENCE;
