//! What the page keeps in the browser. Every call may fail or throw, and none may stop an ask.
//!
//! Not here: what is worth keeping and when; recovery and the composer say that.

mod area;
mod drafts;
mod history;
mod mirror;
mod offers;
mod pointers;

pub(crate) use area::{Area, buffering, remember, remember_buffering, remembered};
pub(crate) use drafts::Drafts;
pub(crate) use mirror::{is_mirror_key, mirror, mirrored, unmirror};
pub(crate) use offers::{load_offers, store_offers};
pub(crate) use pointers::{Kept, PointerStore};
