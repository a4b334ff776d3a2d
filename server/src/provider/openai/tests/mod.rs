//! The provider against a server of which every byte is the test's.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

mod answers;
mod connections;
mod failures;
mod listing;
mod mock;

use std::time::Duration;

use holdfast_protocol::{Finish, ModelState};
use tokio::time::timeout;

use self::mock::{Mock, PATIENCE, Step};
use super::{Config, OpenAi, Timeouts};
use crate::provider::{
    Call, Generated, Message, Piece, Provider as _, ProviderError, Role, Secret,
};

const KEY: &str = "topsecret-0123456789";
const IDEMPOTENCY_KEY: &str = "018f0000-0000-7000-8000-000000000001";

/// The head of a reply that ends with its connection.
const HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
const FINISH: &str = r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
const DONE: &str = "data: [DONE]\n\n";

/// An event with a piece of text.
fn delta(text: &str) -> String {
    format!(
        "data: {}\n\n",
        serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}}]})
    )
}

/// The whole of a good reply.
fn answer(text: &str) -> String {
    format!("{HEAD}{}{FINISH}\n\n{DONE}", delta(text))
}

/// A reply with a body of known length.
fn reply(status: &str, fields: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{fields}\r\n{body}", body.len())
}

fn config(mock: &Mock) -> Config {
    Config {
        url: Some(mock.url()),
        model: Some("m".to_owned()),
        key: Secret::new(KEY),
        ..Config::default()
    }
}

fn provider(mock: &Mock) -> OpenAi {
    OpenAi::new(config(mock)).unwrap()
}

/// A provider that is in a hurry in one respect.
fn hurried(mock: &Mock, hurry: impl FnOnce(&mut Timeouts)) -> OpenAi {
    let mut config = config(mock);
    hurry(&mut config.timeouts);
    OpenAi::new(config).unwrap()
}

fn call() -> Call {
    Call {
        idempotency_key: IDEMPOTENCY_KEY.to_owned(),
        model: None,
        messages: vec![Message { role: Role::User, content: "Why?".to_owned() }],
        language: None,
    }
}

/// The text that was handed over, and the end.
async fn ask(provider: &OpenAi) -> (String, Result<Generated, ProviderError>) {
    let mut heard = String::new();
    let mut pieces = |piece| {
        if let Piece::Text(text) = piece {
            heard.push_str(&text);
        }
    };
    let end = timeout(PATIENCE, provider.generate(&call(), &mut pieces)).await;
    (heard, end.expect("every call ends"))
}

async fn ask_mock(steps: Vec<Step>) -> (String, Result<Generated, ProviderError>) {
    ask(&provider(&Mock::new(steps).await)).await
}

/// An end by the model that was asked for, as no reply of the mock names one.
fn stopped() -> Generated {
    stopped_as(Some("m"))
}

fn stopped_as(model: Option<&str>) -> Generated {
    let model = model.map(str::to_owned);
    Generated { model, finish: Some(Finish::Stop), ..Generated::default() }
}

fn state(provider: &OpenAi) -> ModelState {
    provider.models()[0].state
}

const MOMENT: Duration = Duration::from_millis(100);
