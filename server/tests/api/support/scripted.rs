//! A provider whose every call is in the test's hands.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use holdfast::provider::{Call, Generated, Piece, Provider, ProviderError, Usage};
use holdfast_protocol::{FailureCode, Finish, Model, ModelState, Route};
use tokio::sync::{Mutex as AsyncMutex, mpsc};

/// Answers a question at once, unless it says “hold”: then the test speaks through [`Held`].
pub(crate) struct Scripted {
    in_process: AtomicBool,
    calls: Mutex<Vec<Call>>,
    held: mpsc::UnboundedSender<Held>,
    holding: AsyncMutex<mpsc::UnboundedReceiver<Held>>,
}

enum Do {
    Hand(Piece),
    End(Result<Generated, ProviderError>),
    Panic,
}

/// A call that waits for what the test says. Dropping it leaves the call hanging.
pub(crate) struct Held {
    commands: mpsc::UnboundedSender<Do>,
}

impl Scripted {
    pub(crate) fn new() -> Self {
        let (held, holding) = mpsc::unbounded_channel();
        Self {
            in_process: AtomicBool::new(false),
            calls: Mutex::default(),
            held,
            holding: AsyncMutex::new(holding),
        }
    }

    /// From now on it is one of those that cannot bill.
    pub(crate) fn be_in_process(&self) {
        self.in_process.store(true, Ordering::Relaxed);
    }

    /// Every call so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// How often the ask of this id was paid for.
    pub(crate) fn calls_of(&self, id: &str) -> usize {
        self.calls().iter().filter(|call| call.idempotency_key == id).count()
    }

    /// The next call that is held.
    pub(crate) async fn held(&self) -> Held {
        self.holding.lock().await.recv().await.unwrap()
    }
}

impl Held {
    pub(crate) fn say(&self, text: &str) {
        self.commands.send(Do::Hand(Piece::Text(text.to_owned()))).ok().unwrap();
    }

    pub(crate) fn think(&self, text: &str) {
        self.commands.send(Do::Hand(Piece::Reasoning(text.to_owned()))).ok().unwrap();
    }

    /// A sign of life without text.
    pub(crate) fn live(&self) {
        self.commands.send(Do::Hand(Piece::Life)).ok().unwrap();
    }

    pub(crate) fn end(&self) {
        let usage = Usage { input_tokens: Some(7), output_tokens: Some(11) };
        let generated =
            Generated { model: Some("scripted-1".to_owned()), finish: Some(Finish::Stop), usage };
        self.commands.send(Do::End(Ok(generated))).ok().unwrap();
    }

    pub(crate) fn end_with(&self, text: &str) {
        self.say(text);
        self.end();
    }

    pub(crate) fn fail(&self, error: ProviderError) {
        self.commands.send(Do::End(Err(error))).ok().unwrap();
    }

    pub(crate) fn panic(&self) {
        self.commands.send(Do::Panic).ok().unwrap();
    }

    /// Resolves when the call is hung up on.
    pub(crate) async fn hung_up(&self) {
        self.commands.closed().await;
    }
}

pub(crate) fn error(code: FailureCode, called: bool) -> ProviderError {
    ProviderError {
        code,
        message: "The model server said no.".to_owned(),
        retryable: true,
        called,
        usage: Usage::default(),
    }
}

#[async_trait]
impl Provider for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn models(&self) -> Vec<Model> {
        vec![Model {
            name: "scripted-1".to_owned(),
            provider: "scripted".to_owned(),
            state: ModelState::Ready,
            default: true,
        }]
    }

    fn is_in_process(&self) -> bool {
        self.in_process.load(Ordering::Relaxed)
    }

    fn route(&self) -> Route {
        Route::Provider
    }

    async fn generate(
        &self,
        call: &Call,
        pieces: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Generated, ProviderError> {
        self.calls.lock().unwrap().push(call.clone());
        if !call.question().contains("hold") {
            pieces(Piece::Text(format!("Answer to {}", call.question())));
            return Ok(Generated::default());
        }
        let (commands, mut todo) = mpsc::unbounded_channel();
        self.held.send(Held { commands }).ok().unwrap();
        while let Some(next) = todo.recv().await {
            match next {
                Do::Hand(piece) => pieces(piece),
                Do::End(end) => return end,
                Do::Panic => panic!("the provider panicked, as the test wants it"),
            }
        }
        std::future::pending().await
    }
}
