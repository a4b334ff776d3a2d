//! A server with its provider, and asks to put to it. What every test says, said once.

use holdfast_tests::client::{Answer, Request};
use holdfast_tests::mock::MockProvider;
use holdfast_tests::server::{Holdfast, Start};
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// A server that asks a mock provider.
pub(crate) struct Api {
    pub(crate) mock: MockProvider,
    pub(crate) holdfast: Holdfast,
}

/// The body of an ask, with ids of its own.
#[derive(Clone, Debug)]
pub(crate) struct Ask(Map<String, Value>);

/// A new id as the page makes them.
pub(crate) fn new_id() -> String {
    Uuid::now_v7().to_string()
}

impl Ask {
    /// An ask in a conversation of its own.
    pub(crate) fn new(question: &str) -> Ask {
        Ask(Map::new())
            .with("request_id", new_id())
            .with("conversation_id", new_id())
            .with("question", question)
    }

    /// Another ask in the conversation of this one.
    pub(crate) fn then(&self, question: &str) -> Ask {
        Ask::new(question).with("conversation_id", self.conversation())
    }

    /// The same with another value in a field.
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Ask {
        self.0.insert(field.to_owned(), value.into());
        self
    }

    /// The same without a field.
    pub(crate) fn without(mut self, field: &str) -> Ask {
        self.0.remove(field);
        self
    }

    pub(crate) fn id(&self) -> &str {
        self.0["request_id"].as_str().unwrap()
    }

    pub(crate) fn conversation(&self) -> &str {
        self.0["conversation_id"].as_str().unwrap()
    }

    pub(crate) fn body(&self) -> Value {
        Value::Object(self.0.clone())
    }
}

impl Api {
    /// Starts both.
    pub(crate) async fn start() -> Api {
        Api::start_with(|start| start).await
    }

    /// Starts both, the server with more flags or variables.
    pub(crate) async fn start_with(settings: impl FnOnce(Start) -> Start) -> Api {
        let mock = MockProvider::start().await.unwrap();
        let holdfast = settings(Start::with_mock(&mock)).start().await;
        Api { mock, holdfast }
    }

    pub(crate) fn request(&self, method: &str, target: &str) -> Request {
        Request::new(self.holdfast.address(), method, target)
    }

    pub(crate) async fn get(&self, target: &str) -> Answer {
        self.request("GET", target).send().await.unwrap()
    }

    /// The request of an ask, to be changed or sent.
    pub(crate) fn asking(&self, ask: &Ask) -> Request {
        self.request("POST", "/api/v1/ask").header("Prefer", "wait=0").json(&ask.body())
    }

    /// Submits an ask and does not wait for its answer.
    pub(crate) async fn ask(&self, ask: &Ask) -> Answer {
        self.asking(ask).send().await.unwrap()
    }

    /// Submits an ask and waits until it has settled; gives the outcome.
    pub(crate) async fn ask_and_settle(&self, ask: &Ask) -> Value {
        let answer = self.ask(ask).await;
        assert!([200, 202].contains(&answer.status()), "not accepted: {}", answer.text());
        self.settled(ask).await
    }

    /// The request of a lookup, to be changed or sent.
    pub(crate) fn looking_up(&self, ask: &Ask) -> Request {
        let (id, conversation) = (ask.id(), ask.conversation());
        self.request("GET", &format!("/api/v1/requests/{id}?conversation_id={conversation}"))
    }

    pub(crate) async fn look_up(&self, ask: &Ask) -> Answer {
        self.looking_up(ask).send().await.unwrap()
    }

    /// Looks up, waiting, until the ask has settled; gives the outcome.
    pub(crate) async fn settled(&self, ask: &Ask) -> Value {
        self.outcome_when(ask, "settled", |outcome| outcome["status"] != "pending").await
    }

    /// Looks up until the outcome fulfils a condition, and gives it.
    pub(crate) async fn outcome_when(
        &self,
        ask: &Ask,
        what: &str,
        condition: impl Fn(&Value) -> bool,
    ) -> Value {
        let mut last = Value::Null;
        let deadline = std::time::Instant::now() + holdfast_tests::PATIENCE;
        while std::time::Instant::now() < deadline {
            // A long poll ends when the ask settles; anything before that is looked for again.
            let answer = self.looking_up(ask).send().await.unwrap();
            last = answer.json();
            if condition(&last) {
                return last;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("never {what}: {last:#}");
    }

    pub(crate) fn cancelling(&self, ask: &Ask) -> Request {
        self.request("POST", &format!("/api/v1/requests/{}/cancel", ask.id()))
            .json(&json!({"conversation_id": ask.conversation()}))
    }

    pub(crate) async fn cancel(&self, ask: &Ask) -> Answer {
        self.cancelling(ask).send().await.unwrap()
    }

    pub(crate) async fn conversation(&self, id: &str) -> Answer {
        self.get(&format!("/api/v1/conversations/{id}")).await
    }

    /// How often the provider was called for this ask.
    pub(crate) fn calls(&self, ask: &Ask) -> usize {
        self.mock.calls_of(ask.id()).len()
    }

    /// Waits until the provider was called for this ask.
    pub(crate) async fn called(&self, ask: &Ask) {
        let id = ask.id().to_owned();
        self.mock
            .wait(&format!("a call for {id}"), |calls| {
                calls.iter().any(|call| call.key.as_deref() == Some(id.as_str()))
            })
            .await;
    }
}

/// Asserts that a reply is a problem as § 1 has it, with this status and code.
#[track_caller]
pub(crate) fn assert_problem(answer: &Answer, status: u16, code: &str) {
    let text = answer.text();
    assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{text}");
    assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{text}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{text}");
    let problem = answer.json();
    assert_eq!(problem["status"], status, "{text}");
    for member in ["type", "title", "detail"] {
        assert!(problem[member].as_str().is_some_and(|member| !member.is_empty()), "{text}");
    }
    let waits = matches!(status, 429 | 503) && code != "budget_exhausted";
    assert_eq!(answer.header("retry-after").is_some(), waits, "{text}");
}

/// Asserts that a reply carries an outcome with the ids of this ask, and gives it.
#[track_caller]
pub(crate) fn outcome(answer: &Answer, status: u16, ask: &Ask) -> Value {
    let text = answer.text();
    assert_eq!(answer.status(), status, "{text}");
    assert_eq!(answer.header("content-type"), Some("application/json"), "{text}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{text}");
    let outcome = answer.json();
    assert_eq!(outcome["request_id"], ask.id(), "{text}");
    assert_eq!(outcome["conversation_id"], ask.conversation(), "{text}");
    assert_eq!(outcome["status"] == "pending", status == 202, "{text}");
    outcome
}
