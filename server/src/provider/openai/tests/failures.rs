//! Replies that are none, and what becomes of the text before them.

use holdfast_protocol::FailureCode::{
    self, AnswerTooLarge, ProviderEmpty, ProviderFailed, ProviderRejected, ProviderThrottled,
    ProviderTimeout,
};
use holdfast_protocol::limits::ANSWER_BYTES;

use super::*;

/// Asks, and asserts that it failed like this after exactly one request.
async fn fails(steps: Vec<Step>, text: &str, code: FailureCode, words: &str) -> ProviderError {
    let mock = Mock::new(steps).await;
    let (heard, end) = ask(&provider(&mock)).await;
    let error = end.expect_err(words);
    assert_eq!((heard.as_str(), error.code), (text, code), "{error}");
    assert!(error.message.contains(words), "{error}");
    assert!(error.called, "{error}");
    assert!(!error.message.contains(KEY), "{error}");
    assert_eq!(mock.seen().connections, 1, "{error}");
    error
}

#[tokio::test]
async fn a_refusal_is_quoted() {
    for (status, code, retryable) in [
        ("400 Bad Request", ProviderRejected, false),
        ("401 Unauthorized", ProviderRejected, false),
        ("404 Not Found", ProviderRejected, false),
        ("408 Request Timeout", ProviderTimeout, true),
        ("429 Too Many Requests", ProviderThrottled, true),
        ("500 Internal Server Error", ProviderFailed, true),
        ("503 Service Unavailable", ProviderFailed, true),
    ] {
        let body = r#"{"error": {"message": "It is \u0007so", "code": null}}"#;
        let sent = reply(status, "Retry-After: 7\r\n", body);
        let error = fails(vec![Step::send(sent)], "", code, ": It is so.").await;
        assert_eq!(error.retryable, retryable, "{error}");
        assert_eq!(error.message.contains("wait 7 seconds"), retryable, "{error}");
    }
}

#[tokio::test]
async fn a_gateways_page_is_not_quoted() {
    let sent = reply("502 Bad Gateway", "Content-Type: text/html\r\n", "<html>nginx</html>");
    let error = fails(vec![Step::send(sent)], "", ProviderFailed, "(502).").await;
    assert!(!error.message.contains("nginx"), "{error}");
}

#[tokio::test]
async fn the_key_is_not_quoted() {
    let body = format!(r#"{{"error": {{"message": "Bad key {KEY} or sk-abcdefgh"}}}}"#);
    let sent = reply("401 Unauthorized", "", &body);
    fails(vec![Step::send(sent)], "", ProviderRejected, "Bad key [key] or [key].").await;
    let event = format!("data: {{\"error\": \"no {KEY}\"}}\n\n");
    let sent = format!("{HEAD}{event}");
    fails(vec![Step::send(sent)], "", ProviderFailed, "reports an error: no [key].").await;
}

#[tokio::test]
async fn a_refusal_without_end_is_not_read_to_its_end() {
    let head = "HTTP/1.1 500 Internal Server Error\r\n\r\n";
    let flood = Step::Repeat(vec![b'x'; 8192], Duration::ZERO);
    fails(vec![Step::send(head), flood], "", ProviderFailed, "(500): xxx").await;
    let mock = Mock::new(vec![Step::send(head), Step::Hang]).await;
    let provider = hurried(&mock, |timeouts| timeouts.aside = MOMENT);
    assert_eq!(ask(&provider).await.1.unwrap_err().code, ProviderFailed);
}

#[tokio::test]
async fn a_web_page_is_no_answer() {
    let sent = reply("200 OK", "Content-Type: text/html\r\n", "<!doctype html><p>Sign in");
    fails(vec![Step::send(sent)], "", ProviderFailed, "a web page instead of an answer").await;
}

#[tokio::test]
async fn a_stream_that_ends_in_the_middle_keeps_its_text() {
    let sent = format!("{HEAD}{}", delta("half"));
    let error = fails(vec![Step::send(&sent)], "half", ProviderFailed, "in the middle").await;
    assert!(error.retryable);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let part = delta("half");
    let cut = format!("{chunked}{:x}\r\n{part}\r\n", part.len());
    fails(vec![Step::send(cut)], "half", ProviderFailed, "broke in mid answer").await;
    let short = format!("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n{part}");
    fails(vec![Step::send(short)], "half", ProviderFailed, "broke in mid answer").await;
}

#[tokio::test]
async fn a_stream_that_breaks_keeps_its_text() {
    let mock =
        Mock::new(vec![Step::send(format!("{HEAD}{}", delta("half"))), Step::Gate, Step::Reset])
            .await;
    let mut heard = String::new();
    let mut pieces = |piece| {
        if let Piece::Text(text) = piece {
            heard.push_str(&text);
            // A reset overtakes bytes that have not been read yet.
            mock.open();
        }
    };
    let error = provider(&mock).generate(&call(), &mut pieces).await.unwrap_err();
    assert_eq!((heard.as_str(), error.code), ("half", ProviderFailed));
    assert!(error.message.contains("broke in mid answer"), "{error}");
}

#[tokio::test]
async fn bytes_that_are_not_utf8_are_never_shown() {
    let mut sent = format!("{HEAD}{}", delta("good")).into_bytes();
    sent.extend_from_slice(b"data: {\"choices\":[{\"delta\":{\"content\":\"\xf0\x9f\"}}]}\n\n");
    sent.extend_from_slice(format!("{FINISH}\n\n{DONE}").as_bytes());
    fails(vec![Step::Send(sent)], "good", ProviderFailed, "not UTF-8").await;
}

#[tokio::test]
async fn an_error_in_mid_stream_stands_beside_the_text() {
    let error = r#"data: {"error":{"message":"CUDA out of memory","code":500}}"#;
    let sent = format!("{HEAD}{}{error}\n\n{FINISH}\n\n{DONE}", delta("half"));
    fails(vec![Step::send(sent)], "half", ProviderFailed, "CUDA out of memory").await;
}

#[tokio::test]
async fn usage_is_kept_when_an_answer_fails() {
    let usage = r#"data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#;
    let sent = format!("{HEAD}{}{usage}\n\n", delta("half"));
    let error = fails(vec![Step::send(sent)], "half", ProviderFailed, "in the middle").await;
    assert_eq!((error.usage.input_tokens, error.usage.output_tokens), (Some(3), Some(4)));
}

#[tokio::test]
async fn a_blank_answer_is_none() {
    let sent = format!("{HEAD}{}{FINISH}\n\n{DONE}", delta(" \n"));
    fails(vec![Step::send(sent)], " \n", ProviderEmpty, "answered with nothing").await;
}

#[tokio::test]
async fn an_answer_without_end_is_bounded() {
    let flood = Step::Repeat(delta(&"x".repeat(100_000)).into_bytes(), Duration::ZERO);
    let mock = Mock::new(vec![Step::send(HEAD), flood]).await;
    let (text, end) = ask(&provider(&mock)).await;
    assert_eq!(end.unwrap_err().code, AnswerTooLarge);
    assert!((ANSWER_BYTES..=ANSWER_BYTES + 100_000).contains(&text.len()), "{}", text.len());
    mock.until(|seen| seen.hung_up == 1).await;

    let flood = Step::Repeat(vec![b'x'; 8192], Duration::ZERO);
    fails(vec![Step::send(HEAD), flood], "", ProviderFailed, "larger than is read").await;
}

#[tokio::test]
async fn a_head_that_is_none_is_a_failure() {
    for sent in [
        "SSH-2.0-OpenSSH_9.2\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nbroken".to_owned(),
        format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(200)),
        format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(2_000_000)),
        String::new(),
    ] {
        let begin: String = sent.chars().take(30).collect();
        let error =
            fails(vec![Step::send(&sent)], "", ProviderFailed, "without a proper answer").await;
        assert!(error.retryable, "{begin}");
    }
}

#[tokio::test]
async fn a_compressed_answer_was_not_asked_for() {
    let sent = reply("200 OK", "Content-Encoding: gzip\r\n", "\u{1f}");
    fails(vec![Step::send(sent)], "", ProviderFailed, "compressed").await;
}

#[tokio::test]
async fn a_call_that_is_given_up_hangs_up() {
    let text = format!("{HEAD}{}", delta("half"));
    for steps in [vec![Step::Hang], vec![Step::send(text), Step::Hang]] {
        let mock = Mock::new(steps).await;
        let provider = provider(&mock);
        let (call, mut ignored) = (call(), |_| {});
        let call = provider.generate(&call, &mut ignored);
        assert!(timeout(MOMENT, call).await.is_err(), "how long to wait is not its business");
        mock.until(|seen| seen.hung_up == 1).await;
    }
}
