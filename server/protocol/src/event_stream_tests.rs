#![expect(clippy::indexing_slicing, reason = "tests")]

use proptest::prelude::*;

use super::*;

const BOUND: usize = 64;

fn read<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Event>, Result<Option<Event>, ReadError>) {
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
fn an_id_stays_until_the_next_one() {
    let (events, _) = read([b"data: a\n\nid: 1\ndata: b\n\ndata: c\n\nid: 2\n\ndata: d\n\n\
        id\n\ndata: e\n\n" as &[u8]]);
    let ids: Vec<_> = events.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids, ["", "1", "1", "2", ""]);
}

#[test]
fn every_line_is_a_sign_of_life_and_a_comment_is_no_event() {
    let mut reader = Reader::new(BOUND);
    let mut events = Vec::new();
    for (bytes, lines) in [(b":" as &[u8], 0), (b" ping\r", 1), (b"\n\n", 2), (b": x\ry", 3)] {
        assert_eq!(reader.push(bytes, &mut events), Ok(()));
        assert_eq!(reader.lines(), lines, "after {bytes:?}");
    }
    assert_eq!(events, []);
}

#[test]
fn a_media_type_is_one_whatever_its_parameters() {
    // format-mime-*.any.js of the web platform tests.
    for (content_type, is_one) in [
        ("text/event-stream", true),
        ("Text/Event-Stream ;charset=windows-1252", true),
        ("text/event-stream;", true),
        ("text/event-stream;x=bogus", true),
        ("x bogus", false),
        ("text/event-stream-x", false),
        ("text/html", false),
        ("", false),
    ] {
        assert_eq!(is_event_stream(content_type), is_one, "{content_type:?}");
    }
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
    for bytes in
        [b"data: \xff\n\n" as &[u8], b"data: \xf0\x9f\x8c\n\n", b": \xc0\x80\n", b"\xed\xa0\x80\n"]
    {
        assert_eq!(read([bytes]).1, Err(ReadError::NotUtf8), "{bytes:?}");
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
        assert_eq!(read([stream.as_bytes()]).1, Err(ReadError::TooLong), "{stream:?}");
    }
}

#[test]
fn an_event_without_its_blank_line_is_handed_over_apart() {
    for stream in ["data: a\n\ndata: b\n", "data: a\n\ndata: b"] {
        let (events, end) = read([stream.as_bytes()]);
        assert_eq!(events.len(), 1);
        assert_eq!(
            end,
            Ok(Some(Event { name: String::new(), data: "b".to_owned(), id: String::new() }))
        );
    }
    assert_eq!(read([b"data: a\n\ndata: \xf0\x9f" as &[u8]]).1, Ok(None));
}

/// Bytes that are dense in everything that could go wrong at a cut.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        4 => prop::sample::select(vec!["data: ", "data:", "data", "event: e", ": c", "id: 1", "id", "id: 2\0", "retry: 5", ":"]),
        6 => prop::sample::select(vec!["\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n"]),
        3 => prop::sample::select(vec!["a", "é", "世", "🌍", "\u{feff}", "\0", " "]),
        1 => Just("xxxxxxxxxxxxxxxx"),
    ]
    .prop_map(|token| token.as_bytes().to_vec());
    let broken = prop::sample::select(vec![vec![0xff], vec![0xf0, 0x9f], vec![0xed, 0xa0, 0x80]]);
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
    fn any_cutting_gives_the_same_events(
        stream in stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|ends| &stream[ends[0]..ends[1]]);
        prop_assert_eq!(read(pieces), read([stream.as_slice()]));
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
