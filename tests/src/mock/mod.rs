//! A model server that can be told to misbehave: `OpenAI`'s streamed chat completions on an ephemeral
//! loopback port.
//!
//! It logs every call by its `Idempotency-Key`, so that a test can say how often a question was
//! paid for, and whether a cancelled call was hung up on. What it says is a [`Script`], chosen by a
//! marker in the question, else taken from a queue, else a plain answer. It is a tool of the tests
//! and no provider of the product.

mod call;
mod script;
mod serve;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::watched::{Gates, Log};

pub use call::{Call, Ended};
pub use script::{Script, Step, counted_words};

/// A running mock provider. It stops when dropped.
#[derive(Debug)]
pub struct MockProvider {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: JoinHandle<()>,
}

/// What the connections of one provider share.
#[derive(Debug, Default)]
struct Shared {
    log: Log<Call>,
    gates: Gates,
    scripts: Mutex<Scripts>,
}

#[derive(Debug, Default)]
struct Scripts {
    by_marker: Vec<(String, Script)>,
    queue: VecDeque<Script>,
    otherwise: Option<Script>,
}

impl MockProvider {
    /// Starts one on an ephemeral loopback port.
    pub async fn start() -> io::Result<MockProvider> {
        MockProvider::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    /// Starts one at an address; port 0 picks a port.
    pub async fn bind(address: SocketAddr) -> io::Result<MockProvider> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::<Shared>::default();
        let acceptor = tokio::spawn(serve::accept(listener, Arc::clone(&shared)));
        Ok(MockProvider { address, shared, acceptor })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL that `OpenAI`'s clients are given, `/v1` included.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Answers every question that contains `marker` by `script`. The latest marker wins.
    pub fn on(&self, marker: &str, script: Script) {
        self.scripts().by_marker.push((marker.to_owned(), script));
    }

    /// Answers the next question without a known marker by `script`, once.
    pub fn next(&self, script: Script) {
        self.scripts().queue.push_back(script);
    }

    /// Answers by `script` whatever has neither a marker nor a place in the queue.
    pub fn otherwise(&self, script: Script) {
        self.scripts().otherwise = Some(script);
    }

    /// Opens a gate ([`Step::Gate`]) for good: every script waiting at it goes on.
    pub fn open(&self, gate: &str) {
        self.shared.gates.open(gate);
    }

    /// Every request so far that was not for the list of models, in order of arrival. Those for an
    /// unknown address are among them, with that address as their `path`: a redirect that was
    /// followed shows itself here.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.log.all()
    }

    /// The calls made under one `Idempotency-Key`.
    pub fn calls_of(&self, key: &str) -> Vec<Call> {
        let mut calls = self.calls();
        calls.retain(|call| call.key.as_deref() == Some(key));
        calls
    }

    /// Waits until the log fulfils a condition and returns it then.
    ///
    /// # Panics
    /// If that takes longer than 20 s, with `what` and the log.
    pub async fn wait(&self, what: &str, condition: impl Fn(&[Call]) -> bool) -> Vec<Call> {
        self.shared.log.wait(what, condition).await
    }

    fn scripts(&self) -> MutexGuard<'_, Scripts> {
        self.shared.scripts()
    }
}

impl Drop for MockProvider {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

impl Shared {
    fn scripts(&self) -> MutexGuard<'_, Scripts> {
        // A test that panicked while holding the lock has failed already.
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn script_for(&self, question: &str) -> Script {
        let mut scripts = self.scripts();
        let marked = scripts
            .by_marker
            .iter()
            .rev()
            .find(|(marker, _)| question.contains(marker.as_str()))
            .map(|(_, script)| script.clone());
        marked
            .or_else(|| scripts.queue.pop_front())
            .or_else(|| scripts.otherwise.clone())
            .unwrap_or_else(|| Script::answer(&format!("The answer to “{question}”.")))
    }
}
