//! A stream over a socket, read event by event, and no further than it is read.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use holdfast_protocol::event_stream::{Event, Reader};
use holdfast_protocol::following::{EVENT_BYTES, Followed};
use holdfast_protocol::limits::PAGE_BYTES;
use holdfast_tests::client::Request;
use holdfast_tests::wire::{Body, Connection, Head};
use tokio::time::timeout;

use crate::support::{Api, Ask};

/// Longer than between two signs of life, and than a busy machine may take.
const LIFE: Duration = Duration::from_secs(20);

/// A stream whose head has come.
pub(super) struct Stream {
    pub(super) head: Head,
    connection: Connection,
    body: Body,
    reader: Reader,
    events: VecDeque<Event>,
    text: String,
}

/// All that was told from some moment on.
pub(super) struct Told {
    pub(super) events: Vec<Followed>,
    text: String,
}

/// Where an ask is followed.
pub(super) fn events(api: &Api, ask: &Ask, query: &str) -> Request {
    let (id, conversation) = (ask.id(), ask.conversation());
    api.request(
        "GET",
        &format!("/api/v1/requests/{id}/events?conversation_id={conversation}{query}"),
    )
}

/// Sends a request and reads the head of its stream.
pub(super) async fn open(request: &Request) -> io::Result<Stream> {
    over(request.open().await?, request).await
}

/// The same with no room for what is not read.
pub(super) async fn open_narrow(request: &Request) -> io::Result<Stream> {
    over(request.open_narrow().await?, request).await
}

async fn over(mut connection: Connection, request: &Request) -> io::Result<Stream> {
    connection.send(&request.bytes()).await?;
    let head = timeout(LIFE, connection.reply_head()).await??;
    let body = connection.body(&head, false);
    assert_eq!(head.header("content-type"), Some("text/event-stream"), "{head:?}");
    Ok(Stream {
        head,
        connection,
        body,
        reader: Reader::new(EVENT_BYTES),
        events: VecDeque::new(),
        text: String::new(),
    })
}

/// The pieces of the answer among these.
pub(super) fn texts(events: &[Followed]) -> Vec<&str> {
    let texts = events.iter().filter_map(|event| match event {
        Followed::Delta { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

impl Stream {
    /// The next bytes. `None` at the proper end.
    pub(super) async fn piece(&mut self) -> Option<Vec<u8>> {
        let piece = timeout(LIFE, self.connection.piece(&mut self.body));
        let piece = piece.await.unwrap().unwrap()?;
        let mut events = Vec::new();
        self.reader.push(&piece, &mut events).unwrap();
        self.events.extend(events);
        Some(piece)
    }

    /// The next event. `None` at the proper end.
    pub(super) async fn event(&mut self) -> Option<Event> {
        while self.events.is_empty() {
            self.piece().await?;
        }
        self.events.pop_front()
    }

    /// The next event that is no state, which must be of this name; or the next state.
    pub(super) async fn event_named(&mut self, name: &str) -> Event {
        loop {
            let event = self.event().await.unwrap_or_else(|| panic!("no {name} before the end"));
            if event.name == name {
                return event;
            }
            assert_eq!(event.name, "state", "before any {name}: {event:?}");
        }
    }

    async fn next(&mut self) -> Option<Followed> {
        let event = self.event().await?;
        let followed = Followed::from_event(&event).unwrap_or_else(|| panic!("unknown: {event:?}"));
        if let Followed::Delta { offset, text } = &followed {
            assert!((1..=PAGE_BYTES).contains(&text.len()), "{} bytes", text.len());
            let offset = usize::try_from(*offset).unwrap();
            if self.text.is_empty() {
                // What came before it is not ours.
                self.text = "?".repeat(offset);
            }
            self.text.truncate(offset);
            assert_eq!(self.text.len(), offset, "a gap");
            self.text.push_str(text);
            assert_eq!(event.id, self.text.len().to_string());
        }
        Some(followed)
    }

    /// Reads until this text is there.
    pub(super) async fn until_text(&mut self, text: &str) {
        while self.text != text {
            let next = self.next().await;
            assert!(next.is_some(), "the end after {:?}", self.text);
        }
    }

    /// Reads to the end.
    pub(super) async fn rest(mut self) -> Told {
        let mut events = Vec::new();
        while let Some(next) = self.next().await {
            events.push(next);
        }
        Told { events, text: self.text }
    }
}

impl Told {
    /// Its last event, which must be the outcome, and the whole text.
    #[track_caller]
    pub(super) fn settled(&self) -> (&'static str, &str) {
        let Some(Followed::Outcome(outcome)) = self.events.last() else {
            panic!("no outcome: {:?}", self.events.last());
        };
        assert_eq!(
            outcome.answer.as_ref().map_or(0, |answer| answer.bytes),
            self.text.len() as u64
        );
        (outcome.status.as_str(), &self.text)
    }
}
