//! What somebody who follows an ask is told: the events of its stream, written by the server and read
//! by the page.
//!
//! Here belongs what each event means. Not here: when which is told (the server's runs), and how bytes
//! become events ([`event_stream`](crate::event_stream)).
//!
//! *Architecture invariant:* deltas joined by their offsets are a byte prefix of the answer's text, and
//! what an event says does not depend on the events before it. Who misses one sees it in the next
//! offset, or in an end without [`Followed::Outcome`].

use serde::Serialize;
use serde_json::Value;

use crate::event_stream::Event;
use crate::members::{FromJson, Members};
use crate::{Answer, Outcome};

const STATE: &str = "state";
const DELTA: &str = "delta";
const REASONING: &str = "reasoning";
const OUTCOME: &str = "outcome";

/// The longest line of a stream, and the most data of one of its events, in bytes: an outcome whose
/// question and reasoning are as long as can be and escaped throughout.
pub const EVENT_BYTES: usize = 16 * 1024 * 1024;

/// A line that is no event: somebody is there.
pub const COMMENT: &str = ":\n\n";

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Followed {
    /// How far the ask is: the pending outcome without its question and its answer.
    State(Box<Outcome>),
    /// A piece of the answer's text. The event's `id` is the offset after it.
    Delta {
        /// Where it begins in the whole, in UTF-8 bytes. Where that is before what was told already,
        /// the stream begins anew there.
        offset: u64,
        /// The piece.
        text: String,
    },
    /// A piece of what the model thinks aloud. Every stream tells it from its beginning.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// The end, the only one there is: the settled outcome. The text of its answer is left out, which
    /// is `answer.bytes` long.
    Outcome(Box<Outcome>),
}

impl Followed {
    /// How far a pending ask is.
    pub fn state(pending: &Outcome, queue: Option<u32>) -> Self {
        let Outcome { seq, asked_at, retry_of, retried_by, status, state, .. } = *pending;
        let bare = Outcome::bare(pending.request_id, pending.conversation_id, status, state);
        Self::State(Box::new(Outcome { seq, queue, asked_at, retry_of, retried_by, ..bare }))
    }

    /// Reads an event. `None` if it is not known, or cannot be read.
    pub fn from_event(event: &Event) -> Option<Self> {
        let mut value: Value = serde_json::from_slice(event.data.as_bytes()).ok()?;
        if event.name == OUTCOME
            && let Some(Value::Object(answer)) = value.get_mut("answer")
        {
            answer.entry("text").or_insert_with(|| Value::String(String::new()));
        }
        let members = Members::of(&value).ok()?;
        let text = || members.string("text").ok().flatten();
        Some(match event.name.as_str() {
            STATE => Self::State(Box::new(Outcome::from_json(&value).ok()?)),
            DELTA => Self::Delta { offset: members.number("offset").ok()??, text: text()? },
            REASONING => Self::Reasoning { text: text()? },
            OUTCOME => Self::Outcome(Box::new(Outcome::from_json(&value).ok()?)),
            _ => return None,
        })
    }

    /// The bytes of the event.
    pub fn to_event(&self) -> String {
        match self {
            Self::State(outcome) => event(STATE, outcome),
            Self::Delta { offset, text } => {
                let end = offset + text.len() as u64;
                format!("id: {end}\n{}", event(DELTA, &Delta { offset: *offset, text }))
            }
            Self::Reasoning { text } => event(REASONING, &Reasoning { text }),
            Self::Outcome(outcome) => event(OUTCOME, &without_text(outcome)),
        }
    }
}

#[derive(Serialize)]
struct Delta<'a> {
    offset: u64,
    text: &'a str,
}

#[derive(Serialize)]
struct Reasoning<'a> {
    text: &'a str,
}

/// JSON has no line breaks of its own, so that one `data` line holds it.
fn event(name: &str, data: &impl Serialize) -> String {
    // Strings, numbers and maps of them: it always serialises.
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}

fn without_text(outcome: &Outcome) -> Value {
    let answer = outcome.answer.as_ref().map(Answer::without_text);
    let mut value = serde_json::to_value(outcome.with_answer(answer)).unwrap_or_default();
    if let Some(Value::Object(answer)) = value.get_mut("answer") {
        answer.remove("text");
    }
    value
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

    use serde_json::json;

    use super::*;
    use crate::event_stream::Reader;
    use crate::{Finish, State, Status};

    fn outcome(status: Status) -> Outcome {
        let ids = ("018f2b6e-7c11-7cc3-9d5a-0123456789ab", "018f2b6e-7c11-7cc3-9d5a-0123456789ac");
        let (request_id, conversation_id) = (ids.0.parse().unwrap(), ids.1.parse().unwrap());
        let mut outcome = Outcome::bare(request_id, conversation_id, status, None);
        outcome.seq = Some(3);
        outcome.question = Some("Why?\n".to_owned());
        outcome.answer = Some(Answer {
            text: "Because\r\n\u{2028}é".to_owned(),
            bytes: 14,
            reasoning: Some("hm".to_owned()),
            finish: Some(Finish::Stop),
            ..Answer::default()
        });
        outcome
    }

    /// What a follower gets of it.
    fn sent(followed: &Followed) -> (Event, Option<Followed>) {
        let mut events = Vec::new();
        Reader::new(EVENT_BYTES).push(followed.to_event().as_bytes(), &mut events).unwrap();
        let [event] = &*events else { panic!("one event: {events:?}") };
        (event.clone(), Followed::from_event(event))
    }

    #[test]
    fn a_piece_comes_as_it_was_sent_and_its_id_is_where_to_go_on() {
        let delta = Followed::Delta { offset: 7, text: "é\r\n\0: {\"世\u{2028}".to_owned() };
        let (event, read) = sent(&delta);
        assert_eq!((event.name.as_str(), event.id.as_str()), ("delta", "22"));
        assert_eq!(read, Some(delta));
        let reasoning = Followed::Reasoning { text: "hm\n\n".to_owned() };
        let (event, read) = sent(&reasoning);
        assert_eq!((event.name.as_str(), event.id.as_str()), ("reasoning", ""));
        assert_eq!(read, Some(reasoning));
    }

    #[test]
    fn a_state_has_neither_question_nor_answer() {
        let mut pending = outcome(Status::Pending);
        (pending.state, pending.queue) = (Some(State::Accepted), Some(2));
        let (event, read) = sent(&Followed::state(&pending, pending.queue));
        assert_eq!(event.name, "state");
        let data: Value = serde_json::from_str(&event.data).unwrap();
        let wanted = json!({
            "request_id": pending.request_id, "conversation_id": pending.conversation_id,
            "seq": 3, "status": "pending", "state": "accepted", "queue": 2,
        });
        assert_eq!(data, wanted);
        assert_eq!(read, Some(Followed::state(&pending, Some(2))));
    }

    #[test]
    fn an_outcome_is_the_whole_of_it_save_for_the_text() {
        let settled = outcome(Status::Completed);
        let (event, read) = sent(&Followed::Outcome(Box::new(settled.clone())));
        assert_eq!(event.name, "outcome");
        let mut wanted = serde_json::to_value(&settled).unwrap();
        wanted["answer"].as_object_mut().unwrap().remove("text");
        assert_eq!(serde_json::from_str::<Value>(&event.data).unwrap(), wanted);
        let Some(Followed::Outcome(read)) = read else { panic!("unreadable") };
        let answer = settled.answer.as_ref().map(Answer::without_text);
        assert_eq!(*read, settled.with_answer(answer));
        let cancelled = settled.with_answer(None);
        let (_, read) = sent(&Followed::Outcome(Box::new(cancelled.clone())));
        assert_eq!(read, Some(Followed::Outcome(Box::new(cancelled))));
    }

    #[test]
    fn what_is_not_known_or_not_readable_is_nothing() {
        for (name, data) in [
            ("", "{}"),
            ("tool", "{\"text\":\"a\"}"),
            ("delta", ""),
            ("delta", "{}"),
            ("delta", "{\"offset\":0}"),
            ("delta", "{\"offset\":-1,\"text\":\"a\"}"),
            ("delta", "{\"text\":\"a\"}"),
            ("reasoning", "[\"a\"]"),
            ("state", "{}"),
            ("outcome", "{\"status\":\"completed\"}"),
        ] {
            let event = Event { name: name.to_owned(), data: data.to_owned(), id: String::new() };
            assert_eq!(Followed::from_event(&event), None, "{name} {data}");
        }
    }

    #[test]
    fn a_comment_is_no_event() {
        let (mut reader, mut events) = (Reader::new(8), Vec::new());
        reader.push(COMMENT.as_bytes(), &mut events).unwrap();
        assert_eq!((reader.lines(), events), (2, vec![]));
    }
}
