//! Where bytes go, where they do not, and what closes a connection.

use std::sync::Arc;

use holdfast_protocol::FailureCode::{
    ProviderFailed, ProviderRejected, ProviderRequired, ProviderUnreachable,
};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::*;

/// An address where nobody listens.
async fn vacant() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn where_nobody_listens_nothing_was_called() {
    let url = vacant().await;
    let config =
        Config { url: Some(url.clone()), model: Some("m".to_owned()), ..Config::default() };
    let provider = OpenAi::new(config).unwrap();
    assert_eq!(state(&provider), ModelState::Ready);
    let error = ask(&provider).await.1.unwrap_err();
    assert_eq!((error.code, error.called, error.retryable), (ProviderUnreachable, false, true));
    assert_eq!(
        error.message,
        format!("The model server at {url} cannot be reached: the connection was refused.")
    );
    assert_eq!(state(&provider), ModelState::Unreachable);
}

#[tokio::test]
async fn a_provider_that_is_back_is_ready() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    let config = Config {
        url: Some(format!("http://{addr}")),
        model: Some("m".to_owned()),
        ..Config::default()
    };
    let provider = OpenAi::new(config).unwrap();
    assert!(ask(&provider).await.1.is_err());
    let _mock = Mock::at(addr, |_| vec![Step::send(answer("a"))]).await;
    assert_eq!(ask(&provider).await.1, Ok(stopped()));
    assert_eq!(state(&provider), ModelState::Ready);
}

#[tokio::test]
async fn a_failed_handshake_sends_nothing_of_the_request() {
    let mock = Mock::serving(|_| vec![Step::send("HTTP/1.1 400 Bad Request\r\n\r\n")]).await;
    let url = format!("https://{}", mock.addr);
    let provider = OpenAi::new(Config { url: Some(url), ..config(&mock) }).unwrap();
    let error = ask(&provider).await.1.unwrap_err();
    assert_eq!((error.code, error.called), (ProviderUnreachable, false), "{error}");
    let seen = mock.until(|seen| seen.requests.len() == 1).await;
    assert!(seen.calls().is_empty() && !seen.requests[0].contains(KEY), "{seen:?}");
}

#[tokio::test]
async fn a_handshake_without_end_has_one() {
    let mock = Mock::serving(|_| vec![Step::Hang]).await;
    let mut config = Config { url: Some(format!("https://{}", mock.addr)), ..config(&mock) };
    config.timeouts.connect = MOMENT;
    let error = ask(&OpenAi::new(config).unwrap()).await.1.unwrap_err();
    assert_eq!((error.code, error.called), (ProviderUnreachable, false), "{error}");
    assert!(error.message.contains("no connection within"), "{error}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Mock::new(vec![Step::send(answer("stolen"))]).await;
    for status in [
        "301 Moved Permanently",
        "302 Found",
        "303 See Other",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ] {
        let fields = format!("Location: {}/v1/chat/completions\r\n", elsewhere.url());
        let mock = Mock::new(vec![Step::send(reply(status, &fields, ""))]).await;
        let (text, end) = ask(&provider(&mock)).await;
        let error = end.unwrap_err();
        assert_eq!((text.as_str(), error.code, error.called), ("", ProviderRejected, true));
        assert!(error.message.contains("redirects to another address"), "{error}");
        assert!(!error.message.contains(&elsewhere.addr.to_string()), "{error}");
        assert_eq!(mock.seen().connections, 1);
    }
    assert_eq!(elsewhere.seen().connections, 0);
}

#[tokio::test]
async fn a_call_is_never_repeated_on_a_connection_that_closes() {
    let mock = Mock::new(vec![]).await;
    let error = ask(&provider(&mock)).await.1.unwrap_err();
    assert_eq!((error.code, error.called), (ProviderFailed, true), "{error}");
    assert_eq!((mock.seen().connections, mock.seen().calls().len()), (1, 1));
}

#[tokio::test]
async fn every_call_has_a_connection_of_its_own() {
    let body = format!("{}{FINISH}\n\n{DONE}", delta("a"));
    let mock = Mock::new(vec![Step::send(reply("200 OK", "", &body)), Step::Hang]).await;
    let provider = provider(&mock);
    for calls in 1..=3 {
        assert_eq!(ask(&provider).await.1, Ok(stopped()));
        // The one before is closed, not kept.
        mock.until(|seen| seen.connections == calls && seen.hung_up == calls).await;
    }
}

/// Starts a call, drops its future when `until` says so, and asserts that the connection closes.
async fn dropping_hangs_up(steps: Vec<Step>, has_text: bool) {
    let mock = Mock::new(steps).await;
    let provider = Arc::new(provider(&mock));
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let task = tokio::spawn(async move {
        provider.generate(&call(), &mut |piece| sender.send(piece).unwrap()).await
    });
    while has_text && receiver.recv().await.unwrap() == Piece::Life {}
    let seen = mock.until(|seen| seen.calls().len() == 1).await;
    assert_eq!(seen.hung_up, 0);
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    mock.until(|seen| seen.hung_up == 1).await;
}

#[tokio::test]
async fn dropping_a_call_before_its_reply_hangs_up() {
    dropping_hangs_up(vec![Step::Hang], false).await;
}

#[tokio::test]
async fn dropping_a_call_in_mid_answer_hangs_up() {
    dropping_hangs_up(vec![Step::send(format!("{HEAD}{}", delta("half"))), Step::Hang], true).await;
}

#[tokio::test]
async fn dropping_a_call_while_text_pours_in_hangs_up() {
    let pour = Step::Repeat(delta("more").into_bytes(), Duration::from_millis(1));
    dropping_hangs_up(vec![Step::send(format!("{HEAD}{}", delta("half"))), pour], true).await;
}

#[tokio::test]
async fn the_hosted_api_is_not_called_without_a_key() {
    let provider =
        OpenAi::new(Config { model: Some("m".to_owned()), ..Config::default() }).unwrap();
    assert_eq!(state(&provider), ModelState::KeyMissing);
    let error = ask(&provider).await.1.unwrap_err();
    assert_eq!((error.code, error.called, error.retryable), (ProviderRequired, false, false));
    assert!(error.message.contains("HOLDFAST_PROVIDER_KEY"), "{error}");
}

#[tokio::test]
async fn a_key_that_cannot_be_sent_is_a_wrong_start() {
    let config = Config { key: Secret::new("two\nlines"), ..Config::default() };
    let error = OpenAi::new(config).unwrap_err().to_string();
    assert!(error.contains("cannot be sent") && !error.contains("lines"), "{error}");
    let config = Config { url: Some("nonsense".to_owned()), ..Config::default() };
    assert!(OpenAi::new(config).unwrap_err().to_string().contains("is not a URL"));
}

#[tokio::test]
async fn nothing_prints_the_key() {
    let mock = Mock::new(vec![]).await;
    let printed = format!("{:?} {:?}", config(&mock), provider(&mock));
    assert!(!printed.contains(KEY), "{printed}");
}
