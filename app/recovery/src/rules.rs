//! What to do about an ask the journal has never heard of: the rules that keep it from being lost
//! and from being paid for twice.

use holdfast_protocol::Owner;

use crate::ask::{Ask, Origin};
use crate::{Millis, Trouble};

/// An ask is sent again by itself only while its pointer is younger than this.
const RESUBMIT_WITHIN: Millis = 60 * 60 * 1000;
/// A pointer the server knows nothing of is kept no longer than this.
const KEEP: Millis = 7 * 24 * 60 * 60 * 1000;
/// Another tab may be about to send its ask: it is offered here only after this.
const OFFER_AFTER: Millis = 4_000;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unheard {
    /// Submit the very same body once more.
    Resubmit,
    /// Look again after so many milliseconds.
    LookAgain(Millis),
    /// Offer the question back, and say why.
    Offer(Trouble),
    /// Give the question back and drop the pointer, aloud.
    Expire,
}

/// How old a pointer is. One from the future was made before the clock was set back: nobody knows how
/// old it is, and it counts as old as it is far away, so that no wait for its age is without an end.
const fn age(now: Millis, asked_at: Millis) -> Millis {
    now.abs_diff(asked_at)
}

/// Whether this pointer is too old to keep once the server knows nothing of it.
pub(crate) const fn is_expired(now: Millis, asked_at: Millis) -> bool {
    age(now, asked_at) > KEEP
}

/// Decides about an ask of which the journal of `session` knows nothing.
pub(crate) fn unheard(now: Millis, ask: &Ask, session: &Owner, resubmissions: u32) -> Unheard {
    let age = age(now, ask.asked_at.millis());
    let Some(pointer) = &ask.pointer else {
        return Unheard::Offer(Trouble::MayNotHaveArrived);
    };
    if is_expired(now, ask.asked_at.millis()) {
        return Unheard::Expire;
    }
    // Another archive, or one that has forgotten what it once accepted, which is the same.
    if ask.accepted || pointer.owner.as_ref().is_some_and(|owner| owner != session) {
        return Unheard::Offer(Trouble::MayHaveBeenPaid);
    }
    if ask.origin == Origin::Mirrored {
        return match OFFER_AFTER.checked_sub(age) {
            Some(rest) if rest > 0 => Unheard::LookAgain(rest),
            _ => Unheard::Offer(Trouble::NeverSent),
        };
    }
    if age > RESUBMIT_WITHIN || ask.resubmissions >= resubmissions {
        return Unheard::Offer(Trouble::MayNotHaveArrived);
    }
    Unheard::Resubmit
}
