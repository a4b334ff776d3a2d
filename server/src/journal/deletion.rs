//! What is kept about a conversation that somebody has deleted.

use std::time::Duration;

use holdfast_protocol::{ConversationSummary, Timestamp};

use super::ConversationKey;
use crate::clock::Uptime;

/// How long a deletion can be taken back.
pub const UNDO: Duration = Duration::from_mins(1);

/// A moment by both clocks: that on the wall, which may be set, and that which counts from the start of
/// the machine, through sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// As people tell it.
    pub wall: Timestamp,
    /// Since the machine was started.
    pub up: Uptime,
}

/// A conversation that was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// Which.
    pub conversation: ConversationKey,
    /// When.
    pub at: Moment,
    /// Whether what it held is gone.
    pub is_purged: bool,
}

impl Deletion {
    /// Whether it can be taken back no more. While the machine is up, its own clock decides, which
    /// nobody can set and sleep does not stop. If that is earlier than it was, the machine has been
    /// started since: then the wall clock decides, or that it has been up for as long again.
    pub fn is_final(&self, now: Moment) -> bool {
        let at = self.at;
        if now.up >= at.up {
            return now.up >= at.up.after(UNDO);
        }
        let has_passed = Duration::from_millis(now.wall.millis().saturating_sub(at.wall.millis()));
        now.up >= Uptime::default().after(UNDO) || has_passed >= UNDO
    }
}

/// What became of the wish to take a deletion back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restore {
    /// The conversation is there, and the list says this of it; perhaps it was never deleted.
    There(ConversationSummary),
    /// It was deleted, and what it held is gone.
    Purged,
    /// There never was one.
    Unknown,
}

/// What became of a purge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purge {
    /// What the conversation held is gone.
    Done,
    /// An ask of it has not settled: it has to wait.
    UnderWay,
    /// It is not deleted, perhaps no more.
    NotDeleted,
}

#[cfg(test)]
mod tests {
    use holdfast_protocol::ConversationId;
    use uuid::Uuid;

    use super::super::PrincipalId;
    use super::*;

    fn moment(wall: u64, up: u64) -> Moment {
        Moment { wall: Timestamp::from_millis(wall), up: Uptime::from_millis(up) }
    }

    fn is_final(at: (u64, u64), now: (u64, u64)) -> bool {
        let id = ConversationId::new(Uuid::nil());
        let conversation = ConversationKey::new(PrincipalId(1), id);
        let deletion = Deletion { conversation, at: moment(at.0, at.1), is_purged: false };
        deletion.is_final(moment(now.0, now.1))
    }

    #[test]
    fn while_the_machine_is_up_nobody_can_set_the_clock() {
        let at = (1_000_000, 500_000);
        assert!(!is_final(at, (1_059_999, 559_999)));
        assert!(is_final(at, (1_060_000, 560_000)));
        assert!(is_final(at, (0, 560_000)), "the wall clock was set back");
        assert!(!is_final(at, (9_000_000, 500_001)), "it was set forward");
    }

    #[test]
    fn over_a_start_of_the_machine_the_wall_clock_decides() {
        let at = (1_000_000, 500_000);
        assert!(!is_final(at, (1_059_999, 10_000)));
        assert!(is_final(at, (1_060_000, 10_000)));
        assert!(!is_final(at, (900_000, 10_000)), "it was set back as well");
        assert!(is_final(at, (900_000, 60_000)), "and yet the time has passed");
    }
}
