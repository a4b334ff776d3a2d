//! What Holdfast remembers, and the search over it. Today that is the handbook: pages about Holdfast
//! itself, compiled in. No HTTP, no SQL, and nothing about how an answer is worded.

mod handbook;
mod index;
mod lexicon;
mod page;
mod question;
mod text;
mod typos;

#[cfg(test)]
mod evaluation;

pub use handbook::{Handbook, Hit, Passage};
pub use page::Page;
