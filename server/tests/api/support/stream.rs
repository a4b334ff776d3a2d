//! A stream, read event by event.

use std::collections::VecDeque;

use axum::body::{Body, BodyDataStream};
use axum::http::{HeaderMap, Request};
use futures_util::StreamExt as _;
use holdfast_protocol::Outcome;
use holdfast_protocol::event_stream::{Event, Reader};
use holdfast_protocol::following::{EVENT_BYTES, Followed};
use holdfast_protocol::limits::PAGE_BYTES;
use serde_json::Value;
use tower::ServiceExt as _;

use super::app::{Spawned, get, post, text};
use super::reply::Reply;
use super::scripted::Held;

/// After how many signs of life in a row nothing can be expected to happen any more.
const SILENT: usize = 200;

/// A stream whose head has come. It is read no further than the test reads it.
pub(crate) struct Stream {
    pub(crate) headers: HeaderMap,
    body: BodyDataStream,
    reader: Reader,
    events: VecDeque<Event>,
    /// The answer's text as its deltas have it.
    pub(crate) text: String,
    /// The reasoning of this stream.
    pub(crate) reasoning: String,
}

/// What became of the text of a stream, and how that ended.
pub(crate) struct Told {
    pub(crate) states: Vec<String>,
    pub(crate) text: String,
    pub(crate) reasoning: String,
    /// `None` where the stream ended without one.
    pub(crate) outcome: Option<Outcome>,
}

impl Stream {
    /// The next event; comments are passed over. `None` at the end.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        for _ in 0..SILENT {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            self.read().await?;
        }
        panic!("{SILENT} signs of life, and nothing happens")
    }

    /// Reads what comes next: an event or a comment.
    pub(crate) async fn read(&mut self) -> Option<Vec<u8>> {
        let bytes = self.body.next().await?.unwrap();
        let mut events = Vec::new();
        self.reader.push(&bytes, &mut events).unwrap();
        self.events.extend(events);
        Some(bytes.to_vec())
    }

    /// The next event as the page reads it, checked and joined to what came before.
    pub(crate) async fn next(&mut self) -> Option<Followed> {
        let event = self.event().await?;
        let followed = Followed::from_event(&event).unwrap_or_else(|| panic!("unknown: {event:?}"));
        match &followed {
            Followed::Delta { offset, text } => {
                let offset = usize::try_from(*offset).unwrap();
                assert!((1..=PAGE_BYTES).contains(&text.len()), "{} bytes", text.len());
                assert!(offset <= self.text.len(), "a gap before {offset}");
                self.text.truncate(offset);
                self.text.push_str(text);
                assert_eq!(event.id, self.text.len().to_string());
            }
            Followed::Reasoning { text } => {
                assert!((1..=PAGE_BYTES).contains(&text.len()), "{} bytes", text.len());
                self.reasoning.push_str(text);
            }
            Followed::State(outcome) => {
                assert!(outcome.question.is_none() && outcome.answer.is_none(), "{outcome:?}");
            }
            Followed::Outcome(outcome) => {
                assert!(outcome.status.is_settled(), "{outcome:?}");
                let bytes = outcome.answer.as_ref().map_or(0, |answer| answer.bytes);
                assert_eq!(bytes, self.text.len() as u64);
                let data: Value = serde_json::from_str(&event.data).unwrap();
                assert_eq!(data["answer"].get("text"), None);
            }
        }
        Some(followed)
    }

    /// How far the ask is, which is the next thing told.
    pub(crate) async fn state(&mut self) -> (String, Option<u32>) {
        match self.next().await {
            Some(Followed::State(outcome)) => word(&outcome),
            other => panic!("no state: {other:?}"),
        }
    }

    /// Reads until so much text is there.
    pub(crate) async fn until_text(&mut self, text: &str) {
        while self.text != text {
            let next = self.next().await;
            assert!(matches!(next, Some(Followed::Delta { .. })), "{next:?} after {:?}", self.text);
        }
    }

    /// Reads to the end.
    pub(crate) async fn rest(mut self) -> Told {
        let (mut states, mut settled) = (Vec::new(), None);
        while let Some(next) = self.next().await {
            assert!(settled.is_none(), "{next:?} after the outcome");
            match next {
                Followed::State(outcome) => states.push(word(&outcome).0),
                Followed::Outcome(outcome) => settled = Some(*outcome),
                _ => {}
            }
        }
        Told { states, text: self.text, reasoning: self.reasoning, outcome: settled }
    }
}

impl Told {
    /// Asserts how it ended.
    #[track_caller]
    pub(crate) fn ended(&self, status: &str, text: &str) -> &Outcome {
        let outcome = self.outcome.as_ref().unwrap();
        assert_eq!((outcome.status.as_str(), self.text.as_str()), (status, text));
        outcome
    }
}

fn word(outcome: &Outcome) -> (String, Option<u32>) {
    let state = serde_json::to_value(outcome.state).unwrap();
    (state.as_str().unwrap().to_owned(), outcome.queue)
}

impl Spawned {
    /// Asks what the provider holds back, and follows it once it is being answered.
    pub(crate) async fn follow_held(&self, ask: &Value) -> (Held, Stream) {
        self.ask(ask, 0).await.outcome(202, "pending");
        let held = self.provider.held().await;
        (held, self.follow(ask).await)
    }

    /// Sends what is to be answered by a stream, and takes its head.
    pub(crate) async fn stream(&self, request: Request<Body>) -> Result<Stream, Reply> {
        let response = self.app.router().oneshot(request).await.unwrap();
        let content_type = response.headers()["content-type"].to_str().unwrap();
        if content_type != "text/event-stream" {
            return Err(Reply::of(response).await);
        }
        assert_eq!(response.status().as_u16(), 200);
        let (parts, body) = response.into_parts();
        Ok(Stream {
            headers: parts.headers,
            body: body.into_data_stream(),
            reader: Reader::new(EVENT_BYTES),
            events: VecDeque::new(),
            text: String::new(),
            reasoning: String::new(),
        })
    }

    /// Follows an ask from its beginning.
    pub(crate) async fn follow(&self, ask: &Value) -> Stream {
        self.follow_after(ask, "").await
    }

    /// Follows an ask after what is there already.
    pub(crate) async fn follow_after(&self, ask: &Value, has: &str) -> Stream {
        let after = if has.is_empty() { String::new() } else { format!("&after={}", has.len()) };
        let request = get(&events(ask, &after)).body(Body::empty()).unwrap();
        let mut stream = self.stream(request).await.unwrap_or_else(|reply| panic!("{reply:?}"));
        has.clone_into(&mut stream.text);
        stream
    }

    /// Asks, to be told as it goes.
    pub(crate) async fn ask_and_follow(&self, body: &Value) -> Result<Stream, Reply> {
        let request = post("/api/v1/ask").header("accept", "text/event-stream");
        self.stream(request.body(Body::from(body.to_string())).unwrap()).await
    }
}

/// Where an ask is followed.
pub(crate) fn events(ask: &Value, query: &str) -> String {
    let (request, conversation) = (text(ask, "request_id"), text(ask, "conversation_id"));
    format!("/api/v1/requests/{request}/events?conversation_id={conversation}{query}")
}
