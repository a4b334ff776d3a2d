//! The reader of event streams (`text/event-stream`): bytes in, however they were cut; events out.
//!
//! The one reader of both sides: the server reads what model servers send, the page what the server
//! sends. It follows the parsing rules of the WHATWG HTML standard, § 9.2.6, with two differences:
//! bytes that are not UTF-8 are an error and never replaced, and nothing is kept beyond a bound.
//! `retry` is ignored, since when to connect again is for its caller to decide. Not here: what an
//! event's data means, and connections.
//!
//! Own code, because no maintained reader has both of these differences, skips a byte order mark, and
//! ends a line at CR, LF and CRLF wherever a piece was cut.
//!
//! *Architecture invariant:* the events depend on the bytes alone, never on how they were cut.

use std::mem;

use crate::reply::names;

/// The media type of an event stream.
pub const MEDIA_TYPE: &str = "text/event-stream";

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The `event` field; empty means `message`.
    pub name: String,
    /// The `data` fields, joined by line feeds.
    pub data: String,
    /// The last `id` of the stream so far, of this event or of one before it; empty if there was none
    /// or the last one was empty.
    pub id: String,
}

/// Why a stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// A line is not UTF-8.
    NotUtf8,
    /// A line, or the data of one event, is longer than the reader's bound.
    TooLong,
}

/// Whether a `Content-Type` says that a body is an event stream, whatever its parameters: a stream is
/// UTF-8 even where they say otherwise.
pub fn is_event_stream(content_type: &str) -> bool {
    names(content_type, MEDIA_TYPE)
}

/// Reads one stream.
#[derive(Debug)]
pub struct Reader {
    bound: usize,
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The last byte was a CR, so that an LF right after it belongs to the same line end.
    after_cr: bool,
    /// No line has ended yet, so that a byte order mark may still come.
    at_start: bool,
    name: String,
    /// The data so far; `None` until the event's first `data` field.
    data: Option<String>,
    id: String,
    lines: u64,
}

impl Reader {
    /// A reader that takes lines, and data of an event, up to `bound` bytes each.
    pub const fn new(bound: usize) -> Self {
        Self {
            bound,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            name: String::new(),
            data: None,
            id: String::new(),
            lines: 0,
        }
    }

    /// Takes the next bytes and appends the events that they complete. After an error the events
    /// before it have been appended, and nothing more can be read.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut Vec<Event>) -> Result<(), ReadError> {
        loop {
            if mem::take(&mut self.after_cr) {
                match bytes {
                    // Whether an LF follows shows only with the next piece.
                    [] => self.after_cr = true,
                    [b'\n', rest @ ..] => bytes = rest,
                    _ => {}
                }
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.line.len() + part.len() > self.bound {
                return Err(ReadError::TooLong);
            }
            self.line.extend_from_slice(part);
            let [ending, rest @ ..] = rest else { return Ok(()) };
            self.after_cr = *ending == b'\r';
            bytes = rest;
            events.extend(self.end_line()?);
        }
    }

    /// How many lines have ended so far, comments included: where this grows somebody is there, though
    /// there may be no event for a long time.
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// The event that stands at the end of the stream without its blank line, if there is one.
    ///
    /// The standard drops it, since it may have been cut. Some providers leave the blank line, or
    /// even the last line's end, out, so the caller is given it to judge by its content.
    pub fn finish(mut self) -> Option<Event> {
        if !self.line.is_empty() {
            self.end_line().ok()?;
        }
        self.dispatch()
    }

    fn end_line(&mut self) -> Result<Option<Event>, ReadError> {
        let line = mem::take(&mut self.line);
        let mut line = str::from_utf8(&line).map_err(|_| ReadError::NotUtf8)?;
        self.lines += 1;
        if mem::take(&mut self.at_start) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                None => self.data = Some(value.to_owned()),
                Some(data) if data.len() + 1 + value.len() > self.bound => {
                    return Err(ReadError::TooLong);
                }
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            "event" => value.clone_into(&mut self.name),
            "id" if !value.contains('\0') => value.clone_into(&mut self.id),
            // A comment (an empty field name), `retry`, or what is not known.
            _ => {}
        }
        Ok(None)
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = mem::take(&mut self.name);
        self.data.take().map(|data| Event { name, data, id: self.id.clone() })
    }
}

#[cfg(test)]
#[path = "event_stream_tests.rs"]
mod tests;
