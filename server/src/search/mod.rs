//! Searching conversations: what a text is searched by, what a query asks for, and what is shown of a
//! find.
//!
//! Plain functions over texts. How an index keeps tokens is its own business (`journal::sqlite`), and so
//! is in which order finds come; but what is found is decided here alone, and a store without an index
//! finds the same with [`Query::finds`].

mod query;
mod words;

pub use query::{Item, Query};
pub(crate) use words::{VERSION, cut, fold};
