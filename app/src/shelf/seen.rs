//! What the person has looked at, for this browser: until when each conversation was read. By the
//! server's clock alone, so that a wrong one here changes nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;

use holdfast_protocol::ConversationSummary;
use serde_json::Value;

use crate::storage::Area;

const KEY: &str = "holdfast.seen";
/// How many conversations are remembered; those read longest ago go first, and count as read then.
const MOST: usize = 300;
/// Under it: everything that happened before counts as read.
const SINCE: &str = "since";

/// By conversation, and [`SINCE`]; in milliseconds since the Unix epoch.
#[derive(Default)]
pub(super) struct Seen(RefCell<BTreeMap<String, u64>>);

impl Seen {
    /// What was kept; nothing where storage is blocked.
    pub(super) fn load() -> Self {
        let kept: Option<Value> = Area::Local.value(KEY);
        let kept = kept.as_ref().and_then(Value::as_object).into_iter().flatten();
        Self(RefCell::new(
            kept.filter_map(|(id, until)| Some((id.clone(), until.as_u64()?))).collect(),
        ))
    }

    /// The first list that this browser sees is no news.
    pub(super) fn begin(&self, list: &[ConversationSummary]) {
        let mut seen = self.0.borrow_mut();
        if seen.is_empty() {
            let latest = list.iter().map(|it| it.updated_at.millis()).max().unwrap_or(1);
            seen.insert(SINCE.to_owned(), latest);
            Self::keep(&seen);
        }
    }

    /// The person looks at it.
    pub(super) fn see(&self, conversation: &ConversationSummary) {
        let mut seen = self.0.borrow_mut();
        let until = conversation.updated_at.millis();
        if seen.insert(conversation.id.to_string(), until) == Some(until) {
            return;
        }
        if seen.len() > MOST {
            let oldest =
                seen.iter().filter(|(id, _)| *id != SINCE).min_by_key(|(_, until)| **until);
            let oldest = oldest.map(|(id, until)| (id.clone(), *until));
            if let Some((id, until)) = oldest {
                seen.remove(&id);
                let since = seen.entry(SINCE.to_owned()).or_default();
                *since = until.max(*since);
            }
        }
        Self::keep(&seen);
    }

    /// Whether something came since.
    pub(super) fn is_unread(&self, conversation: &ConversationSummary) -> bool {
        let seen = self.0.borrow();
        let until = seen.get(&conversation.id.to_string()).or_else(|| seen.get(SINCE));
        until.is_some_and(|until| conversation.updated_at.millis() > *until)
    }

    fn keep(seen: &BTreeMap<String, u64>) {
        let value: serde_json::Map<_, _> =
            seen.iter().map(|(id, until)| (id.clone(), Value::from(*until))).collect();
        // Where it cannot be kept, a reload makes everything read.
        let _ = Area::Local.put(KEY, &Value::Object(value));
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use holdfast_protocol::Timestamp;

    use super::*;

    fn at(number: u16, millis: u64) -> ConversationSummary {
        ConversationSummary {
            id: format!("018f2b6e-7c11-7cc3-9d5a-01234567{number:04x}").parse().unwrap(),
            title: String::new(),
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(millis),
            turns: 1,
            pending: 0,
            excerpt: None,
        }
    }

    #[test]
    fn only_what_came_later_is_unread() {
        let seen = Seen::default();
        assert!(!seen.is_unread(&at(1, 10)), "nothing is news before the first list");
        seen.0.borrow_mut().insert(SINCE.to_owned(), 20);
        assert!(!seen.is_unread(&at(1, 20)));
        assert!(seen.is_unread(&at(1, 21)));
    }
}
