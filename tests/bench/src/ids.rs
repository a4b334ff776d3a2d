//! Ids: those of made archives follow from a number, so that both ends know them.

use std::time::{SystemTime, UNIX_EPOCH};

use holdfast_protocol::{ConversationId, RequestId};
use uuid::{Builder, Uuid};

/// How many turns a conversation has, made or asked.
pub(crate) const TURNS: u64 = 10;
/// When the first made ask was asked: 2025-01-01, in milliseconds.
const FIRST: u64 = 1_735_689_600_000;
/// How far apart made asks are, in milliseconds.
const APART: u64 = 10;

/// The time of a made ask, in milliseconds.
pub(crate) const fn made_at(ask: u64) -> u64 {
    FIRST + ask * APART
}

/// The id of a made ask: a version 7 UUID, as the page makes them.
pub(crate) fn made_request(ask: u64) -> RequestId {
    RequestId::new(version_7(made_at(ask), ask))
}

/// The conversation of a made ask.
pub(crate) fn made_conversation(ask: u64) -> ConversationId {
    let first = ask - ask % TURNS;
    ConversationId::new(version_7(made_at(first), first ^ u64::MAX))
}

/// A fresh version 7 UUID.
pub(crate) fn fresh() -> Uuid {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    version_7(u64::try_from(now.as_millis()).unwrap_or(u64::MAX), fastrand::u64(..))
}

/// The same UUID for the same seed, as random as one made by chance.
fn version_7(millis: u64, seed: u64) -> Uuid {
    let mut random = [0; 10];
    fastrand::Rng::with_seed(seed).fill(&mut random);
    Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

/// Where a made ask is looked up. From an offset it is read from the archive each time.
pub(crate) fn lookup(ask: u64, unkept: bool) -> String {
    let (request, conversation) = (made_request(ask), made_conversation(ask));
    let after = if unkept { "&after=0" } else { "" };
    format!("/api/v1/requests/{request}?conversation_id={conversation}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_ids_follow_from_the_number() {
        assert_eq!(made_request(7), made_request(7));
        assert_ne!(made_request(7), made_request(8));
        assert_eq!(made_conversation(10), made_conversation(19));
        assert_ne!(made_conversation(9), made_conversation(10));
        assert_eq!(made_request(3).uuid().get_version_num(), 7);
        assert_ne!(fresh(), fresh());
    }
}
