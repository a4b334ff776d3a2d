//! `api/v1/conversations`: the list, and one of them.

mod change;
mod delete;
mod export;
mod list;
mod read;

use holdfast_protocol::Code;

pub(super) use self::change::change;
pub(super) use self::delete::{delete, restore};
pub(super) use self::export::export;
pub(super) use self::list::list;
pub(super) use self::read::read;
use super::Site;
use super::problem::Fault;
use crate::journal::ConversationKey;

/// Why there is none to be shown.
fn missing(site: &Site, key: ConversationKey) -> Fault {
    if site.0.runs.is_deleted(key) { deleted() } else { not_found() }
}

/// There is none with this id, or it is somebody else's.
fn not_found() -> Fault {
    Fault::new(Code::ConversationNotFound, "There is no conversation with this id.")
}

/// There was one.
fn deleted() -> Fault {
    Fault::new(Code::ConversationDeleted, "The conversation was deleted.")
}
