#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use holdfast_protocol::Finish;
use proptest::prelude::*;
use serde_json::json;

use super::*;

#[derive(Debug, Default, PartialEq, Eq)]
struct Heard {
    text: String,
    reasoning: String,
}

fn read<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> (Heard, Result<Generated, Fault>) {
    let mut heard = Heard::default();
    let mut answer = Answer::new();
    let mut pieces = |piece| match piece {
        Piece::Life => panic!("only who reads the connection hears that"),
        Piece::Text(text) => {
            assert!(!text.is_empty());
            heard.text.push_str(&text);
        }
        Piece::Reasoning(text) => {
            assert!(!text.is_empty());
            heard.reasoning.push_str(&text);
        }
    };
    for part in parts {
        match answer.push(part, &mut pieces) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => break,
            Err(fault) => return (heard, Err(fault)),
        }
    }
    let end = answer.close(&mut pieces);
    (heard, end)
}

fn whole(body: &str) -> (Heard, Result<Generated, Fault>) {
    read([body.as_bytes()])
}

fn text(text: &str) -> Heard {
    Heard { text: text.to_owned(), ..Heard::default() }
}

fn events(chunks: &[Value]) -> String {
    chunks
        .iter()
        .flat_map(|chunk| ["data: ".to_owned(), chunk.to_string(), "\n\n".to_owned()])
        .collect()
}

fn delta(content: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": null}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn generated(finish: Option<Finish>) -> Generated {
    Generated { finish, ..Generated::default() }
}

#[test]
fn a_stream_as_the_hosted_api_sends_it() {
    let stream = concat!(
        r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m-1","system_fingerprint":"f","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}"#,
        "\n\n",
        r#"data: {"id":"c","model":"m-1","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}],"usage":null}"#,
        "\n\n",
        r#"data: {"id":"c","model":"m-1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}],"usage":null}"#,
        "\n\n",
        r#"data: {"id":"c","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}"#,
        "\n\n",
        r#"data: {"id":"c","model":"m-1","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":2,"total_tokens":13}}"#,
        "\n\n",
        "data: [DONE]\n\n",
    );
    let usage = Usage { input_tokens: Some(11), output_tokens: Some(2) };
    let expected = Generated { model: Some("m-1".to_owned()), finish: Some(Finish::Stop), usage };
    assert_eq!(whole(stream), (text("Hello"), Ok(expected)));
}

#[test]
fn done_and_finish_each_end_an_answer() {
    let stop = Ok(generated(Some(Finish::Stop)));
    let body = events(&[delta("a"), finish("stop")]);
    assert_eq!(whole(&body), (text("a"), stop.clone()));
    assert_eq!(whole(&format!("{body}data: [DONE]\n\n")), (text("a"), stop.clone()));
    assert_eq!(whole(&format!("{body}data: [DONE]")), (text("a"), stop));
    let body = events(&[delta("a")]);
    assert_eq!(whole(&format!("{body}data:[DONE]\n\n")), (text("a"), Ok(generated(None))));
    let cut = Ok(generated(Some(Finish::Length)));
    assert_eq!(whole(&events(&[delta("a"), finish("length")])), (text("a"), cut));
    let unknown = Ok(generated(None));
    assert_eq!(whole(&events(&[delta("a"), finish("because")])), (text("a"), unknown));
}

#[test]
fn an_end_without_either_is_a_broken_stream_and_the_text_stays() {
    assert_eq!(whole(&events(&[delta("a"), delta("b")])), (text("ab"), Err(Fault::Ended)));
    let zero = json!({"choices": [{"delta": {"content": "a"}, "finish_reason": 0}]});
    assert_eq!(whole(&events(&[zero])), (text("a"), Err(Fault::Ended)));
    for body in ["", "\n\n", "\u{feff}", ": keep-alive\n\n", "data: {}\n\n"] {
        assert_eq!(whole(body), (text(""), Err(Fault::Ended)), "{body:?}");
    }
}

#[test]
fn the_last_event_counts_without_its_blank_line_but_only_whole() {
    let last = json!({"choices": [{"delta": {"content": "b"}, "finish_reason": "stop"}]});
    let body = format!("{}data: {last}", events(&[delta("a")]));
    assert_eq!(whole(&body), (text("ab"), Ok(generated(Some(Finish::Stop)))));
    for cut in 1..=last.to_string().len() {
        assert_eq!(whole(&body[..body.len() - cut]), (text("a"), Err(Fault::Ended)), "{cut}");
    }
}

#[test]
fn what_is_after_done_is_not_read() {
    let body = format!("{}data: [DONE]\n\n{}<html>", events(&[delta("a")]), events(&[delta("b")]));
    for cut in 0..=body.len() {
        let heard = read([&body.as_bytes()[..cut], &body.as_bytes()[cut..]]);
        assert_eq!(heard, (text("a"), Ok(generated(None))), "{cut}");
    }
}

#[test]
fn fields_may_be_missing_null_or_of_another_type() {
    let body = format!(
        ": ping\n\nevent: ping\ndata: {{}}\n\ndata:\n\ndata: null\n\nid: 1\nretry: 5\n\n{}data: [DONE]\n\n",
        events(&[
            json!({"choices": null, "model": 7, "usage": []}),
            json!({"choices": [], "error": null}),
            json!({"choices": [{}]}),
            json!({"choices": [{"delta": null}]}),
            json!({"choices": [{"delta": {"role": "assistant", "content": null}}]}),
            json!({"choices": [{"delta": {"content": [{"type": "text", "text": "a"}]}}], "x": {"y": [1]}}),
            json!({"choices": [{"delta": {"content": "b"}, "finish_reason": ""}], "usage": {"prompt_tokens": 5}}),
            json!({"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}),
            json!({"choices": [{"message": {"content": "ab"}}], "usage": {"completion_tokens": 6}}),
        ])
    );
    let usage = Usage { input_tokens: Some(5), output_tokens: Some(6) };
    assert_eq!(whole(&body), (text("ab"), Ok(Generated { usage, ..Generated::default() })));
}

#[test]
fn a_stream_of_messages_is_a_stream() {
    let message = |content: &str| json!({"choices": [{"message": {"content": content}}]});
    let body = events(&[message("a"), message("b"), finish("stop")]);
    assert_eq!(whole(&body), (text("ab"), Ok(generated(Some(Finish::Stop)))));
}

#[test]
fn reasoning_is_handed_over_apart() {
    let body = events(&[
        json!({"choices": [{"delta": {"reasoning_content": "hm", "content": null}}]}),
        json!({"choices": [{"delta": {"reasoning": "m"}}]}),
        delta("a"),
        finish("stop"),
    ]);
    let heard = Heard { text: "a".to_owned(), reasoning: "hmm".to_owned() };
    assert_eq!(whole(&body), (heard, Ok(generated(Some(Finish::Stop)))));
}

#[test]
fn a_whole_reply_is_an_answer_too() {
    let reply = json!({
        "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "a", "reasoning_content": "r"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    });
    let usage = Usage { input_tokens: Some(1), output_tokens: Some(2) };
    let expected = Generated { model: Some("m".to_owned()), finish: Some(Finish::Stop), usage };
    let heard = Heard { text: "a".to_owned(), reasoning: "r".to_owned() };
    for body in [format!("{reply}"), format!("\u{feff}\r\n {reply:#}\n")] {
        let (now, end) = whole(&body);
        assert_eq!((&now, end), (&heard, Ok(expected.clone())), "{body}");
    }
    let bare = json!({"choices": [{"message": {"content": "a"}}]}).to_string();
    assert_eq!(whole(&bare), (text("a"), Ok(generated(None))));
    for cut in 1..bare.len() {
        assert_eq!(whole(&bare[..cut]), (text(""), Err(Fault::Ended)), "{cut}");
    }
}

#[test]
fn what_is_no_chat_completion_is_told_apart() {
    for (body, fault) in [
        ("<!DOCTYPE html><html>", Fault::Html),
        ("\n  <html>", Fault::Html),
        (r#"{"status": "ok"}"#, Fault::NotChat),
        ("[1]", Fault::NotChat),
        ("{\"message\":{}}\n{\"done\":true}\n", Fault::NotJson),
        ("{nonsense", Fault::NotJson),
        ("data: nonsense\n\n", Fault::NotJson),
        ("data: \"text\"\n\n", Fault::NotChat),
        ("data: 7\n\n", Fault::NotChat),
        ("data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\n\n", Fault::NotJson),
    ] {
        assert_eq!(whole(body), (text(""), Err(fault)), "{body:?}");
    }
    assert_eq!(whole("Not found\n"), (text(""), Err(Fault::Ended)));
    let deep = format!("data: {}\n\n", "[".repeat(100_000));
    assert_eq!(whole(&deep), (text(""), Err(Fault::NotJson)));
}

#[test]
fn an_error_is_an_error_wherever_it_stands() {
    let reported = |words: &str| Err(Fault::Reported(words.to_owned()));
    let body = events(&[delta("a"), json!({"error": {"message": "out of memory", "code": 500}})]);
    assert_eq!(whole(&body), (text("a"), reported("out of memory")));
    let body = format!("{}event: error\ndata: {{\"message\": \"m\"}}\n\n", events(&[delta("a")]));
    assert_eq!(whole(&body), (text("a"), reported("m")));
    assert_eq!(whole(r#"{"error": {"message": "m"}}"#), (text(""), reported("m")));
    assert_eq!(whole(r#"[{"error": {"code": 400}}]"#), (text(""), reported("")));
    assert_eq!(whole(&events(&[json!({"error": "m", "choices": []})])), (text(""), reported("m")));
}

#[test]
fn white_space_is_no_answer_and_thinking_is_none_either() {
    for content in ["", " ", "\n\t\u{a0}\u{3000}"] {
        let body = events(&[delta(content), finish("stop")]);
        let end = Err(Fault::Blank(Some(End::Known(Finish::Stop))));
        assert_eq!(whole(&body), (text(content), end));
    }
    let body = events(&[json!({"choices": [{"delta": {"reasoning": "r"}}]}), finish("length")]);
    assert_eq!(whole(&body).1, Err(Fault::Blank(Some(End::Known(Finish::Length)))));
    assert_eq!(whole(&events(&[finish("tool_calls")])).1, Err(Fault::Blank(Some(End::Tool))));
    assert_eq!(whole("data: [DONE]\n\n").1, Err(Fault::Blank(None)));
    assert_eq!(whole(r#"{"choices": []}"#).1, Err(Fault::Blank(None)));
}

#[test]
fn bytes_that_are_not_utf8_end_it_with_the_text_so_far() {
    let good = events(&[delta("a")]);
    let bad = b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n";
    let end = events(&[finish("stop")]);
    assert_eq!(read([good.as_bytes(), bad, end.as_bytes()]), (text("a"), Err(Fault::NotUtf8)));
    let document = b"{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}";
    assert_eq!(read([document as &[u8]]), (text(""), Err(Fault::NotUtf8)));
}

#[test]
fn bounds_hold() {
    let long = format!("data: {}", "x".repeat(EVENT_BYTES));
    assert_eq!(whole(&long).1, Err(Fault::Oversized));
    assert_eq!(whole(&" ".repeat(BLANK_BYTES + 1)).1, Err(Fault::Oversized));
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(DOCUMENT_BYTES));
    assert_eq!(whole(&large).1, Err(Fault::Oversized));

    let piece = "x".repeat(500_000);
    let full =
        events(&[delta(&piece), delta(&piece), delta(&piece), delta(&piece), finish("stop")]);
    let (heard, end) = whole(&full);
    assert_eq!((heard.text.len(), end), (ANSWER_BYTES, Ok(generated(Some(Finish::Stop)))));
    let (heard, end) = whole(&events(&[
        delta(&piece),
        delta(&piece),
        delta(&piece),
        delta(&piece),
        delta("y"),
        delta("z"),
    ]));
    assert_eq!((heard.text.len(), end), (ANSWER_BYTES + 1, Err(Fault::TooLarge)));
}

/// Bodies of every kind, most of them sound, some broken.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let content =
        prop::sample::select(vec!["a", "é", "世界", "🌍", " ", "\n", "\u{feff}", "\"", "\\"]);
    let chunk = prop_oneof![
        8 => content.prop_map(delta),
        2 => content_of("reasoning_content"),
        1 => Just(finish("stop")),
        1 => Just(json!({"choices": [], "usage": {"prompt_tokens": 1}})),
        1 => Just(json!({"error": {"message": "m"}})),
    ];
    let line_end = prop::sample::select(vec!["\n", "\r\n", "\r"]);
    let event =
        (chunk, line_end).prop_map(|(chunk, end)| format!("data: {chunk}{end}{end}").into_bytes());
    let other = prop::sample::select(vec![
        b": ping\n\n".to_vec(),
        b"data: [DONE]\n\n".to_vec(),
        b"data: \xff\n\n".to_vec(),
        b"data: {\n\n".to_vec(),
        b"event: error\ndata: {}\n\n".to_vec(),
    ]);
    let stream = prop::collection::vec(prop_oneof![12 => event, 1 => other], 0..8)
        .prop_map(|events| events.concat());
    let document = prop::collection::vec(any::<char>(), 0..20).prop_map(|chars| {
        let content: String = chars.into_iter().collect();
        json!({"choices": [{"message": {"content": content}}]}).to_string().into_bytes()
    });
    let start = prop::sample::select(vec!["", "", "\u{feff}", "\n", "\u{feff}\r\n "]);
    (start, prop_oneof![4 => stream, 1 => document])
        .prop_map(|(start, body)| [start.as_bytes(), &body].concat())
}

fn content_of(name: &'static str) -> impl Strategy<Value = Value> {
    "[a-z]{1,5}".prop_map(move |content| json!({"choices": [{"delta": {name: content}}]}))
}

proptest! {
    #[test]
    fn every_cut_in_two_reads_the_same(body in body()) {
        let expected = read([body.as_slice()]);
        for cut in 0..=body.len() {
            prop_assert_eq!(&read([&body[..cut], &body[cut..]]), &expected, "cut at {}", cut);
        }
    }

    #[test]
    fn byte_by_byte_reads_the_same(body in body()) {
        prop_assert_eq!(read(body.chunks(1)), read([body.as_slice()]));
    }

    #[test]
    fn any_bytes_are_survived(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let (_, end) = read([body.as_slice()]);
        prop_assert!(end.is_err() || body.starts_with(b"{"), "{:?}", end);
    }

    #[test]
    fn a_stream_cut_anywhere_never_completes_before_its_end(words in prop::collection::vec("[a-z ]{1,6}", 1..6)) {
        let mut chunks: Vec<_> = words.iter().map(|word| delta(word)).collect();
        chunks.push(finish("stop"));
        let body = events(&chunks);
        let full = words.concat();
        let last = body.rfind("}\n\n").unwrap();
        for cut in 0..=last {
            let (heard, end) = read([&body.as_bytes()[..cut]]);
            prop_assert!(full.starts_with(&heard.text));
            prop_assert_eq!(end, Err(Fault::Ended), "cut at {}", cut);
        }
    }
}
