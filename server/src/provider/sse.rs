//! The reader of event streams (`text/event-stream`): bytes in, however they were cut; events out.
//!
//! Follows the parsing rules of the WHATWG HTML standard, § 9.2.6, in everything that concerns a
//! provider's stream; `id` and `retry` are for reconnecting, which is never done here, and are
//! ignored. What an event's data means is a dialect's business.
//!
//! Own code, because no maintained reader does all of this: bytes that are not UTF-8 are an error and
//! never replaced, a byte order mark is skipped, CR, LF and CRLF end a line wherever a piece was cut,
//! and nothing is kept beyond a bound.
//!
//! *Architecture invariant:* the events depend on the bytes alone, never on how they were cut.

use std::mem;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// The `event` field; empty means `message`.
    pub name: String,
    /// The `data` fields, joined by line feeds.
    pub data: String,
}

/// Why a stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SseError {
    /// A line is not UTF-8.
    NotUtf8,
    /// A line, or the data of one event, is longer than the reader's bound.
    TooLong,
}

/// Reads one stream.
#[derive(Debug)]
pub(super) struct Reader {
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
}

impl Reader {
    /// A reader that takes lines, and data of an event, up to `bound` bytes each.
    pub(super) const fn new(bound: usize) -> Self {
        Self {
            bound,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            name: String::new(),
            data: None,
        }
    }

    /// Takes the next bytes and appends the events that they complete. After an error the events
    /// before it have been appended, and nothing more can be read.
    pub(super) fn push(
        &mut self,
        mut bytes: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), SseError> {
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
                return Err(SseError::TooLong);
            }
            self.line.extend_from_slice(part);
            let [ending, rest @ ..] = rest else { return Ok(()) };
            self.after_cr = *ending == b'\r';
            bytes = rest;
            events.extend(self.end_line()?);
        }
    }

    /// The event that stands at the end of the stream without its blank line, if there is one.
    ///
    /// The standard drops it, since it may have been cut. Some providers leave the blank line, or
    /// even the last line's end, out, so the caller is given it to judge by its content.
    pub(super) fn finish(mut self) -> Option<Event> {
        if !self.line.is_empty() {
            self.end_line().ok()?;
        }
        self.dispatch()
    }

    fn end_line(&mut self) -> Result<Option<Event>, SseError> {
        let line = mem::take(&mut self.line);
        let mut line = str::from_utf8(&line).map_err(|_| SseError::NotUtf8)?;
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
                    return Err(SseError::TooLong);
                }
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            "event" => value.clone_into(&mut self.name),
            // A comment (an empty field name), `id`, `retry`, or what is not known.
            _ => {}
        }
        Ok(None)
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = mem::take(&mut self.name);
        self.data.take().map(|data| Event { name, data })
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOUND: usize = 64;

    fn read<'a>(
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> (Vec<Event>, Result<Option<Event>, SseError>) {
        let mut reader = Reader::new(BOUND);
        let mut events = Vec::new();
        for piece in pieces {
            if let Err(error) = reader.push(piece, &mut events) {
                return (events, Err(error));
            }
        }
        (events, Ok(reader.finish()))
    }

    fn data(stream: &[u8]) -> Vec<String> {
        let (events, end) = read([stream]);
        assert!(end.is_ok(), "{end:?}");
        events.into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn the_examples_of_the_standard_are_read() {
        assert_eq!(data(b"data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
        assert_eq!(
            data(b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"),
            ["first event", "second event", " third event"]
        );
        assert_eq!(data(b"data\n\ndata\ndata\n\ndata:\n"), ["", "\n"]);
        assert_eq!(data(b"data:test\n\ndata: test\n\n"), ["test", "test"]);
    }

    #[test]
    fn every_line_end_ends_a_line() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = format!("data: a{end}data: b{end}{end}: ping{end}{end}data: c{end}{end}");
            assert_eq!(data(stream.as_bytes()), ["a\nb", "c"], "{end:?}");
        }
    }

    #[test]
    fn an_event_is_there_as_soon_as_its_last_line_has_ended() {
        let mut reader = Reader::new(BOUND);
        let mut events = Vec::new();
        assert_eq!(reader.push(b"data: a\r\n\r", &mut events), Ok(()));
        assert_eq!(events.len(), 1);
        assert_eq!(reader.push(b"\ndata: b\r\r", &mut events), Ok(()));
        assert_eq!(events.len(), 2);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_start_and_nowhere_else() {
        assert_eq!(data("\u{feff}data: a\n\n".as_bytes()), ["a"]);
        assert_eq!(data("\u{feff}\n\u{feff}data: a\n\n".as_bytes()), [""; 0]);
        assert_eq!(data("data: \u{feff}a\n\n".as_bytes()), ["\u{feff}a"]);
    }

    #[test]
    fn the_name_belongs_to_its_event_alone() {
        let (events, _) =
            read([b"event: error\ndata: a\n\ndata: b\n\nevent: x\n\ndata: c\n\n" as &[u8]]);
        let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["error", "", ""]);
    }

    #[test]
    fn what_is_not_utf8_is_an_error_and_never_replaced() {
        for bytes in [
            b"data: \xff\n\n" as &[u8],
            b"data: \xf0\x9f\x8c\n\n",
            b": \xc0\x80\n",
            b"\xed\xa0\x80\n",
        ] {
            assert_eq!(read([bytes]).1, Err(SseError::NotUtf8), "{bytes:?}");
        }
    }

    #[test]
    fn a_line_or_an_event_without_end_is_an_error() {
        let exact = format!("data: {}\n\n", "x".repeat(BOUND - 6));
        assert_eq!(data(exact.as_bytes()).len(), 1);
        for stream in [
            format!("data: {}", "x".repeat(BOUND - 5)),
            format!("data: {}\n\n", "x".repeat(BOUND - 5)),
            format!(": {}", "x".repeat(BOUND)),
            "data: 12345678\n".repeat(8),
        ] {
            assert_eq!(read([stream.as_bytes()]).1, Err(SseError::TooLong), "{stream:?}");
        }
    }

    #[test]
    fn an_event_without_its_blank_line_is_handed_over_apart() {
        for stream in ["data: a\n\ndata: b\n", "data: a\n\ndata: b"] {
            let (events, end) = read([stream.as_bytes()]);
            assert_eq!(events.len(), 1);
            assert_eq!(end, Ok(Some(Event { name: String::new(), data: "b".to_owned() })));
        }
        assert_eq!(read([b"data: a\n\ndata: \xf0\x9f" as &[u8]]).1, Ok(None));
    }

    /// Bytes that are dense in everything that could go wrong at a cut.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let token = prop_oneof![
            4 => prop::sample::select(vec!["data: ", "data:", "data", "event: e", ": c", "id: 1", "retry: 5", ":"]),
            6 => prop::sample::select(vec!["\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n"]),
            3 => prop::sample::select(vec!["a", "é", "世", "🌍", "\u{feff}", "\0", " "]),
            1 => Just("xxxxxxxxxxxxxxxx"),
        ]
        .prop_map(|token| token.as_bytes().to_vec());
        let broken =
            prop::sample::select(vec![vec![0xff], vec![0xf0, 0x9f], vec![0xed, 0xa0, 0x80]]);
        prop::collection::vec(prop_oneof![30 => token, 1 => broken], 0..40)
            .prop_map(|tokens| tokens.concat())
    }

    proptest! {
        #[test]
        fn every_cut_in_two_gives_the_same_events(stream in stream()) {
            let whole = read([stream.as_slice()]);
            for cut in 0..=stream.len() {
                prop_assert_eq!(&read([&stream[..cut], &stream[cut..]]), &whole, "cut at {}", cut);
            }
        }

        #[test]
        fn byte_by_byte_gives_the_same_events(stream in stream()) {
            prop_assert_eq!(read(stream.chunks(1)), read([stream.as_slice()]));
        }

        #[test]
        fn empty_pieces_change_nothing(stream in stream()) {
            let pieces = stream.chunks(1).flat_map(|byte| [byte, &[]]);
            prop_assert_eq!(read(pieces), read([stream.as_slice()]));
        }
    }
}
