//! Replies that are answers.

use serde_json::{Value, json};

use super::mock::header;
use super::*;

#[tokio::test]
async fn a_call_is_one_request_with_everything_in_it() {
    let mock = Mock::new(vec![Step::send(answer("Because."))]).await;
    assert_eq!(ask(&provider(&mock)).await, ("Because.".to_owned(), Ok(stopped())));

    let seen = mock.seen();
    assert_eq!((seen.connections, seen.requests.len()), (1, 1));
    let request = &seen.requests[0];
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert_eq!(header(request, "host"), Some(mock.addr.to_string().as_str()));
    assert_eq!(header(request, "idempotency-key"), Some(IDEMPOTENCY_KEY));
    assert_eq!(
        header(request, "user-agent"),
        Some(concat!("holdfast/", env!("CARGO_PKG_VERSION")))
    );
    assert_eq!(header(request, "authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(header(request, "content-type"), Some("application/json"));
    assert_eq!(header(request, "accept-encoding"), None);
    let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(
        body,
        json!({
            "model": "m",
            "messages": [{"role": "user", "content": "Why?"}],
            "stream": true,
            "stream_options": {"include_usage": true},
        })
    );
}

#[tokio::test]
async fn without_a_key_no_authorization_is_sent() {
    let mock = Mock::new(vec![Step::send(answer("a"))]).await;
    let provider = OpenAi::new(Config { key: None, ..config(&mock) }).unwrap();
    assert_eq!(ask(&provider).await.1, Ok(stopped()));
    assert_eq!(header(&mock.seen().requests[0], "authorization"), None);
}

#[tokio::test]
async fn an_answer_comes_byte_by_byte() {
    let (text, end) = ask_mock(vec![Step::Drip(answer("héllo 世界 🌍\u{301}").into_bytes())]).await;
    assert_eq!((text.as_str(), end), ("héllo 世界 🌍\u{301}", Ok(stopped())));
}

#[tokio::test]
async fn an_answer_comes_in_chunks_cut_anywhere() {
    let body = format!("{}{FINISH}\n\n{DONE}", delta("世界🌍"));
    let mut sent = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for part in body.as_bytes().chunks(7) {
        sent.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
        sent.extend_from_slice(part);
        sent.extend_from_slice(b"\r\n");
    }
    sent.extend_from_slice(b"0\r\n\r\n");
    assert_eq!(ask_mock(vec![Step::Send(sent)]).await, ("世界🌍".to_owned(), Ok(stopped())));
}

#[tokio::test]
async fn a_whole_reply_is_an_answer_too() {
    let body =
        json!({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}).to_string();
    let sent = reply("200 OK", "Content-Type: application/json\r\n", &body);
    assert_eq!(ask_mock(vec![Step::send(sent)]).await, ("a".to_owned(), Ok(stopped())));
}

#[tokio::test]
async fn done_alone_ends_an_answer() {
    let sent = format!("{HEAD}{}{DONE}", delta("a"));
    let (text, end) = ask_mock(vec![Step::send(sent), Step::Hang]).await;
    let end = end.map(|generated| (generated.model, generated.finish));
    assert_eq!((text.as_str(), end), ("a", Ok((Some("m".to_owned()), None))));
}

#[tokio::test]
async fn a_finished_answer_waits_for_nothing_and_fears_nothing() {
    let sent = format!("{HEAD}{}{FINISH}\n\n", delta("a"));
    for last in [Step::Hang, Step::Reset] {
        let mock = Mock::new(vec![Step::send(&sent), last]).await;
        let provider = hurried(&mock, |timeouts| timeouts.after_finish = MOMENT);
        assert_eq!(ask(&provider).await, ("a".to_owned(), Ok(stopped())));
    }
}

#[tokio::test]
async fn the_head_and_each_comment_are_signs_of_life_before_the_text() {
    let mock = Mock::serving(|_| {
        let mut steps = vec![Step::send(HEAD)];
        for _ in 0..3 {
            steps.extend([Step::Pause(MOMENT), Step::send(": alive\n\n")]);
        }
        steps.push(Step::Pause(MOMENT));
        steps.push(Step::send(format!("{}{FINISH}\n\n{DONE}", delta("a"))));
        steps
    })
    .await;
    let mut heard = Vec::new();
    let mut pieces = |piece| heard.push(piece);
    provider(&mock).generate(&call(), &mut pieces).await.unwrap();
    let signs = heard.iter().position(|piece| *piece != Piece::Life).unwrap();
    assert_eq!(heard[signs], Piece::Text("a".to_owned()));
    assert!(signs >= 5, "the head, three comments, and the bytes of the text: {heard:?}");
}
