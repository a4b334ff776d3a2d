//! Making ids: the one place where the page needs entropy. Not here: what an id may look like, which
//! `holdfast-protocol` decides.

use holdfast_protocol::{ConversationId, RequestId};
use uuid::Uuid;

/// A new identity for an ask. Version 7, so that ids sort by the time they were made.
///
/// `uuid` takes its bytes from `crypto.getRandomValues`, which plain http has too;
/// `crypto.randomUUID` exists on https alone.
pub(crate) fn request_id() -> RequestId {
    RequestId::new(Uuid::now_v7())
}

/// A new identity for a conversation.
pub(crate) fn conversation_id() -> ConversationId {
    ConversationId::new(Uuid::now_v7())
}

/// A seed for recovery's jitter. It spreads pauses and guards nothing.
pub(crate) fn seed() -> u64 {
    Uuid::now_v7().as_u64_pair().1
}
