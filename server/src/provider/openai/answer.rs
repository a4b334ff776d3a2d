//! The body of a reply, from its bytes to an answer: event stream or whole, told apart by what it
//! says rather than by what it is called.
//!
//! *Architecture invariant:* no I/O and no clock. Pieces and end depend on the bytes alone, never on
//! how they were cut.

use std::mem;

use holdfast_protocol::event_stream::{ReadError, Reader};
use holdfast_protocol::limits::ANSWER_BYTES;
use serde_json::Value;

use super::chunk::{self, End};
use crate::provider::{Generated, Piece, Usage};

/// The longest line, and the most data of one event, in bytes.
pub(super) const EVENT_BYTES: usize = 1024 * 1024;
/// The largest reply that is no stream, in bytes: a whole answer with every character escaped, and
/// what stands around it.
pub(super) const DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// How much white space may come before it shows what the body is, in bytes.
const BLANK_BYTES: usize = 64 * 1024;

/// Takes pieces as they come.
pub(super) type Pieces<'a> = &'a mut (dyn FnMut(Piece) + Send);

/// Why a body is no answer. Text handed over before stays what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A web page.
    Html,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// Something between the parts of a stream, or in a whole reply, that is not JSON.
    NotJson,
    /// JSON, but no chat completion.
    NotChat,
    /// The provider reports an error of its own, in these words, which may be empty.
    Reported(String),
    /// A line, an event or a whole reply beyond its bound.
    Oversized,
    /// More text than is kept.
    TooLarge,
    /// It ends without having said that it is complete.
    Ended,
    /// Complete, and nothing but white space; for this reason, if one was given.
    Blank(Option<End>),
}

/// Whether there is more to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There may be.
    More,
    /// The provider has said `[DONE]`.
    Done,
}

/// The answer as far as its bytes have come.
#[derive(Debug)]
pub(super) struct Answer {
    body: Body,
    text_bytes: usize,
    /// A character that is not white space has come.
    is_visible: bool,
    /// Text came in a `delta`. A `message` after that can only be the whole once more.
    by_delta: bool,
    end: Option<End>,
    is_done: bool,
    model: Option<String>,
    usage: Usage,
}

#[derive(Debug)]
enum Body {
    /// Nothing has come yet that tells.
    Unsure(Vec<u8>),
    Events(Reader),
    Document(Vec<u8>),
}

impl Answer {
    /// Nothing has come yet.
    pub(super) fn new() -> Self {
        Self {
            body: Body::Unsure(Vec::new()),
            text_bytes: 0,
            is_visible: false,
            by_delta: false,
            end: None,
            is_done: false,
            model: None,
            usage: Usage::default(),
        }
    }

    /// Whether the provider has said that the answer is complete: then nothing that befalls the
    /// connection can take that back.
    pub(super) const fn is_finished(&self) -> bool {
        self.is_done || self.end.is_some()
    }

    /// What was counted so far.
    pub(super) const fn usage(&self) -> Usage {
        self.usage
    }

    /// Takes the body's next bytes.
    pub(super) fn push(&mut self, bytes: &[u8], pieces: Pieces<'_>) -> Result<Progress, Fault> {
        match &mut self.body {
            Body::Unsure(head) => {
                head.extend_from_slice(bytes);
                let Some(body) = recognise(head)? else { return Ok(Progress::More) };
                let head = mem::take(head);
                self.body = body;
                self.push(&head, pieces)
            }
            Body::Document(document) => {
                if document.len() + bytes.len() > DOCUMENT_BYTES {
                    return Err(Fault::Oversized);
                }
                document.extend_from_slice(bytes);
                Ok(Progress::More)
            }
            Body::Events(reader) => {
                let mut events = Vec::new();
                let read = reader.push(bytes, &mut events);
                for event in events {
                    if self.take_event(&event.name, &event.data, pieces)? == Progress::Done {
                        return Ok(Progress::Done);
                    }
                }
                read.map(|()| Progress::More).map_err(|error| match error {
                    ReadError::NotUtf8 => Fault::NotUtf8,
                    ReadError::TooLong => Fault::Oversized,
                })
            }
        }
    }

    /// Takes the end of the body, and says what it comes to.
    pub(super) fn close(&mut self, pieces: Pieces<'_>) -> Result<Generated, Fault> {
        match mem::replace(&mut self.body, Body::Unsure(Vec::new())) {
            Body::Unsure(_) => {}
            // What stands after `[DONE]` is not read, however much of it came along.
            Body::Events(_) if self.is_done => {}
            Body::Events(reader) => match reader.finish() {
                // What does not parse here was cut off, which the missing end says better.
                Some(event) if !is_done(&event.data) && parse(&event.data).is_err() => {}
                Some(event) => {
                    self.take_event(&event.name, &event.data, pieces)?;
                }
                None => {}
            },
            Body::Document(document) => self.take_document(&document, pieces)?,
        }
        if !self.is_finished() {
            return Err(Fault::Ended);
        }
        if !self.is_visible {
            return Err(Fault::Blank(self.end));
        }
        let finish = match self.end {
            Some(End::Known(finish)) => Some(finish),
            Some(End::Tool | End::Other) | None => None,
        };
        Ok(Generated { model: self.model.take(), finish, usage: self.usage })
    }

    fn take_event(
        &mut self,
        name: &str,
        data: &str,
        pieces: Pieces<'_>,
    ) -> Result<Progress, Fault> {
        if is_done(data) {
            self.is_done = true;
            return Ok(Progress::Done);
        }
        if data.trim().is_empty() {
            return Ok(Progress::More);
        }
        let value = parse(data)?;
        if let Some(words) = chunk::error(&value) {
            return Err(Fault::Reported(words.to_owned()));
        }
        if name == "error" {
            return Err(Fault::Reported(chunk::message(&value).unwrap_or_default().to_owned()));
        }
        match value {
            Value::Object(_) => self.take_chunk(&value, ["delta", "message"], pieces)?,
            Value::Null => {}
            _ => return Err(Fault::NotChat),
        }
        Ok(Progress::More)
    }

    fn take_document(&mut self, document: &[u8], pieces: Pieces<'_>) -> Result<(), Fault> {
        // A cut in the middle of a character is a cut; anything else that is not UTF-8 is a fault.
        let document = match str::from_utf8(document) {
            Ok(document) => document,
            Err(error) if error.error_len().is_none() => return Err(Fault::Ended),
            Err(_) => return Err(Fault::NotUtf8),
        };
        let value: Value = serde_json::from_str(document.trim_start_matches('\u{feff}'))
            .map_err(|error| if error.is_eof() { Fault::Ended } else { Fault::NotJson })?;
        if let Some(words) = chunk::error(&value) {
            return Err(Fault::Reported(words.to_owned()));
        }
        if !chunk::has_choices(&value) {
            return Err(Fault::NotChat);
        }
        self.take_chunk(&value, ["message", "delta"], pieces)?;
        // A whole document needs no other sign that it is complete.
        self.is_done = true;
        Ok(())
    }

    fn take_chunk(
        &mut self,
        value: &Value,
        names: [&str; 2],
        pieces: Pieces<'_>,
    ) -> Result<(), Fault> {
        if self.model.is_none() {
            self.model = chunk::model(value);
        }
        if let Some(usage) = chunk::usage(value) {
            self.usage = Usage {
                input_tokens: usage.input_tokens.or(self.usage.input_tokens),
                output_tokens: usage.output_tokens.or(self.usage.output_tokens),
            };
        }
        let Some(choice) = chunk::choice(value) else { return Ok(()) };
        self.end = chunk::end(choice).or(self.end);

        let message = names
            .iter()
            .find_map(|name| Some((*name, choice.get(*name).filter(|it| it.is_object())?)));
        let Some((name, message)) = message else { return Ok(()) };
        if name == "message" && self.by_delta {
            return Ok(());
        }
        let said = chunk::said(message);
        self.by_delta |= name == "delta" && (!said.text.is_empty() || !said.reasoning.is_empty());
        self.hand_over(said, pieces)
    }

    fn hand_over(&mut self, said: chunk::Said, pieces: Pieces<'_>) -> Result<(), Fault> {
        if !said.reasoning.is_empty() {
            pieces(Piece::Reasoning(said.reasoning));
        }
        if !said.text.is_empty() {
            self.text_bytes += said.text.len();
            self.is_visible |= said.text.chars().any(|char| !char.is_whitespace());
            pieces(Piece::Text(said.text));
        }
        if self.text_bytes > ANSWER_BYTES {
            return Err(Fault::TooLarge);
        }
        Ok(())
    }
}

/// What a body is, by its first byte that is not white space. The type it is sent under is no help:
/// streams come as `application/json` and as `text/plain`, and web pages as anything.
fn recognise(head: &[u8]) -> Result<Option<Body>, Fault> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    if MARK.starts_with(head) && head.len() < MARK.len() {
        return Ok(None);
    }
    match head.strip_prefix(MARK).unwrap_or(head).trim_ascii_start().first() {
        None if head.len() > BLANK_BYTES => Err(Fault::Oversized),
        None => Ok(None),
        Some(b'<') => Err(Fault::Html),
        Some(b'{' | b'[') => Ok(Some(Body::Document(Vec::new()))),
        Some(_) => Ok(Some(Body::Events(Reader::new(EVENT_BYTES)))),
    }
}

fn is_done(data: &str) -> bool {
    data.trim() == "[DONE]"
}

fn parse(data: &str) -> Result<Value, Fault> {
    serde_json::from_str(data).map_err(|_| Fault::NotJson)
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
