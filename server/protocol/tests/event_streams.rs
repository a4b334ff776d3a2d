//! The event-stream cases of the web platform tests (`eventsource/`), as bytes: what a stream holds and
//! which events it makes, each split at every byte. Of those that need a browser, a clock or a second
//! connection, the bytes of the one connection are here.

#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests")]

use holdfast_protocol::event_stream::{Event, Reader};

const BOUND: usize = 8192;

/// The events of a stream in pieces, as `(name, data, id)`.
fn read(pieces: &[&[u8]]) -> Vec<(String, String, String)> {
    let mut reader = Reader::new(BOUND);
    let mut events = Vec::new();
    for piece in pieces {
        if let Err(error) = reader.push(piece, &mut events) {
            panic!("{error:?} at {piece:?}");
        }
    }
    events.into_iter().map(|Event { name, data, id }| (name, data, id)).collect()
}

/// What each test of the suite sends, and the events it wants.
#[track_caller]
fn case(stream: &str, wanted: &[(&str, &str, &str)]) {
    let bytes = stream.as_bytes();
    let wanted: Vec<_> = wanted
        .iter()
        .map(|(name, data, id)| ((*name).to_owned(), (*data).to_owned(), (*id).to_owned()))
        .collect();
    for cut in 0..=bytes.len() {
        assert_eq!(read(&[&bytes[..cut], &bytes[cut..]]), wanted, "cut at {cut} of {stream:?}");
    }
    let single: Vec<_> = bytes.chunks(1).collect();
    assert_eq!(read(&single), wanted, "byte by byte of {stream:?}");
}

fn messages<'a>(data: &[&'a str]) -> Vec<(&'static str, &'a str, &'static str)> {
    data.iter().map(|data| ("", *data, "")).collect()
}

#[test]
fn format_bom() {
    case("\u{feff}data:1\n\n\u{feff}data:2\n\ndata:3\n\n", &messages(&["1", "3"]));
}

#[test]
fn format_bom_2() {
    case("\u{feff}\u{feff}data:1\n\ndata:2\n\ndata:3\n\n", &messages(&["2", "3"]));
}

#[test]
fn format_comments() {
    let long = "x".repeat(2 * 1024);
    let stream =
        format!("data:1\r:\0\n:\r\ndata:2\n:{long}\rdata:3\n:data:fail\r:{long}\ndata:4\n\n");
    case(&stream, &messages(&["1\n2\n3\n4"]));
}

#[test]
fn format_data_before_final_empty_line() {
    case("retry:1000\ndata:test1\n\nid:test\ndata:test2", &messages(&["test1"]));
}

#[test]
fn format_field_data() {
    case("data:\n\ndata\ndata\n\ndata:test\n\n", &messages(&["", "\n", "test"]));
}

#[test]
fn format_field_event_empty() {
    case("event: \ndata:data\n\n", &messages(&["data"]));
}

#[test]
fn format_field_event() {
    case("event:test\ndata:x\n\ndata:x\n\n", &[("test", "x", ""), ("", "x", "")]);
}

#[test]
fn format_field_id() {
    case("id: …\nretry: 200\ndata: hello\n\n", &[("", "hello", "…")]);
}

#[test]
fn format_field_id_2() {
    let stream = "id: …\nretry: 200\ndata: hello\n\ndata: …\n\ndata: …\n\n";
    case(stream, &[("", "hello", "…"), ("", "…", "…"), ("", "…", "…")]);
}

#[test]
fn format_field_id_3() {
    let persists = "id: 1\ndata: 1\n\ndata: 2\n\nid: 2\ndata:3\n\ndata:4\n\n";
    case(persists, &[("", "1", "1"), ("", "2", "1"), ("", "3", "2"), ("", "4", "2")]);
    for reset in ["id:", "id"] {
        let resets = format!("id: 1\ndata: 1\n\n{reset}\ndata:2\n\ndata:3\n\n");
        case(&resets, &[("", "1", "1"), ("", "2", ""), ("", "3", "")]);
    }
}

#[test]
fn format_field_id_null() {
    for id in ["\0\0", "x\0", "\0x", "x\0x", " \0"] {
        case(&format!("id: {id}\nretry: 200\ndata: hello\n\n"), &messages(&["hello"]));
        case(&format!("id: 1\n\nid: {id}\ndata: hello\n\n"), &[("", "hello", "1")]);
    }
}

#[test]
fn format_field_parsing() {
    let stream = "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\r\
        data:\r\n data:32\ndata:4\n\n";
    case(stream, &messages(&["\0\n 2\n1\n3\n\n4"]));
}

#[test]
fn format_field_retry() {
    for retry in ["retry:03000", "retry:3000\nretry:1000x", "retry"] {
        case(&format!("{retry}\ndata:x\n\n"), &messages(&["x"]));
    }
}

#[test]
fn format_field_unknown() {
    let stream =
        "data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n";
    case(stream, &messages(&["test\n\ntest"]));
}

#[test]
fn format_leading_space() {
    case("data:\ttest\rdata: \ndata:test\n\n", &messages(&["\ttest\n\ntest"]));
}

#[test]
fn format_newlines() {
    case("data:test\r\ndata\ndata:test\r\n\r", &messages(&["test\n\ntest"]));
}

#[test]
fn format_null_character() {
    case("data:\0\n\n\n\n", &messages(&["\0"]));
}

#[test]
fn format_utf_8() {
    case("data:ok…\n\n", &messages(&["ok…"]));
}

#[test]
fn event_data() {
    let stream = "data:msg\ndata: msg\n\n:\nfalsefield:msg\n\nfalsefield:msg\nData:data\n\ndata\n\n\
        data:end\n\n";
    case(stream, &messages(&["msg\nmsg", "", "end"]));
}
