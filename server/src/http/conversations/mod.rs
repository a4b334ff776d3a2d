//! `api/v1/conversations`: the list, and one of them.

mod change;
mod list;
mod read;

use holdfast_protocol::Code;

pub(super) use self::change::change;
pub(super) use self::list::list;
pub(super) use self::read::read;
use super::problem::Fault;

/// There is none with this id, or it is somebody else's.
fn not_found() -> Fault {
    Fault::new(Code::ConversationNotFound, "There is no conversation with this id.")
}
