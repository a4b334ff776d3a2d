//! Making ids: the one place where the page needs entropy. Not here: what an id may look like, which
//! `holdfast-protocol` decides.

use holdfast_protocol::{ConversationId, RequestId};
use holdfast_recovery::Millis;
use uuid::{NoContext, Timestamp, Uuid};

use crate::clock;

/// A new identity for an ask.
pub(crate) fn request_id() -> RequestId {
    RequestId::new(uuid(clock::now()))
}

/// A new identity for a conversation.
pub(crate) fn conversation_id() -> ConversationId {
    ConversationId::new(uuid(clock::now()))
}

/// The identity of the ask that goes on from another: the same from every tab, so that the answer is asked
/// for once however often that is wanted. The next number after that of the other, which nobody else
/// has drawn.
pub(crate) fn following(id: RequestId) -> RequestId {
    // What was drawn; above it are the time, the version and the variant, which stay.
    const DRAWN: u128 = (1 << 62) - 1;
    let id = id.uuid().as_u128();
    RequestId::new(Uuid::from_u128((id & !DRAWN) | (id.wrapping_add(1) & DRAWN)))
}

/// A seed for recovery's jitter. It spreads pauses and guards nothing.
pub(crate) fn seed() -> u64 {
    uuid(clock::now()).as_u64_pair().1
}

/// Version 7, so that ids sort by the time they were made.
///
/// `uuid` takes its bytes from `crypto.getRandomValues`, which plain http has too;
/// `crypto.randomUUID` exists on https alone.
fn uuid(now: Millis) -> Uuid {
    let nanos = u32::try_from(now % 1_000).unwrap_or_default() * 1_000_000;
    Uuid::new_v7(Timestamp::from_unix(NoContext, now / 1_000, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_an_id_is_another_of_the_same_kind_and_always_the_same() {
        for id in [uuid(1_769_850_000_123), Uuid::from_u128(uuid(7).as_u128() | ((1 << 62) - 1))] {
            let first = following(RequestId::new(id));
            assert_eq!(first, following(RequestId::new(id)));
            let second = following(first);
            assert!(first.uuid() != id && second.uuid() != id && second != first);
            assert_eq!(first.uuid().get_version_num(), 7);
            assert_eq!(first.uuid().get_timestamp(), id.get_timestamp());
        }
    }

    #[test]
    fn ids_carry_the_time_and_are_not_alike() {
        let now = 1_769_850_000_123;
        let (one, other) = (uuid(now), uuid(now));
        assert_ne!(one, other);
        assert_eq!(one.get_version_num(), 7);
        assert_eq!(
            one.get_timestamp().map(|time| time.to_unix()),
            Some((1_769_850_000, 123_000_000))
        );
    }
}
