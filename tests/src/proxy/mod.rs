//! A line that can be cut: an HTTP/1.1 proxy in front of Holdfast.
//!
//! It relays everything unchanged but for what its [`Rule`]s say, and for the whole line's state
//! ([`Line`]). One exchange a connection, closed at its end, so that a cut is attributable: a
//! browser silently repeats a request whose *reused* connection was reset, and a fault would then
//! be seen by nobody. Every exchange is logged with the fault that fell on it, so that a test can
//! assert that its fault happened, and where.

mod exchange;
mod relay;
mod rule;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::watched::{Gates, Log};

pub use exchange::{Exchange, Fate};
pub use rule::{Fault, Reply, Route, Rule};

/// The state of the whole line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Everything passes.
    Up,
    /// Every open connection is cut, and every new one at once.
    Cut,
    /// Nothing passes and nothing closes: bytes stay where they are until the line is up again.
    Silent,
}

/// A running fault proxy. It stops, and its connections are cut, when dropped.
#[derive(Debug)]
pub struct FaultProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: JoinHandle<()>,
}

/// What the connections of one proxy share.
#[derive(Debug)]
struct Shared {
    log: Log<Exchange>,
    gates: Gates,
    line: watch::Sender<Line>,
    upstream: Mutex<SocketAddr>,
    rules: Mutex<Vec<Rule>>,
}

impl FaultProxy {
    /// Starts one on an ephemeral loopback port, in front of `upstream`.
    pub async fn start(upstream: SocketAddr) -> io::Result<FaultProxy> {
        FaultProxy::bind(SocketAddr::from(([127, 0, 0, 1], 0)), upstream).await
    }

    /// Starts one at an address (port 0 picks a port), in front of `upstream`.
    pub async fn bind(listen: SocketAddr, upstream: SocketAddr) -> io::Result<FaultProxy> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            log: Log::default(),
            gates: Gates::default(),
            line: watch::Sender::new(Line::Up),
            upstream: Mutex::new(upstream),
            rules: Mutex::default(),
        });
        let acceptor = tokio::spawn(relay::accept(listener, Arc::clone(&shared)));
        Ok(FaultProxy { address, shared, acceptor })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL, with a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Sends new exchanges elsewhere: Holdfast has started again on another port.
    pub fn point_at(&self, upstream: SocketAddr) {
        *lock(&self.shared.upstream) = upstream;
    }

    /// Adds a rule. Where several match, the first added that is not used up takes the exchange.
    pub fn rule(&self, rule: Rule) {
        lock(&self.shared.rules).push(rule);
    }

    /// Forgets all rules.
    pub fn clear_rules(&self) {
        lock(&self.shared.rules).clear();
    }

    /// Changes the state of the whole line.
    pub fn line(&self, line: Line) {
        self.shared.line.send_replace(line);
    }

    /// Opens a gate of [`Fault::HoldRequest`] or [`Fault::HoldReply`].
    pub fn open(&self, gate: &str) {
        self.shared.gates.open(gate);
    }

    /// Every exchange so far, in order of arrival.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.shared.log.all()
    }

    /// The exchanges of one route.
    pub fn exchanges_on(&self, route: Route) -> Vec<Exchange> {
        let mut exchanges = self.exchanges();
        exchanges.retain(|exchange| exchange.route == route);
        exchanges
    }

    /// Waits until the log fulfils a condition and returns it then.
    ///
    /// # Panics
    /// If that takes longer than [`crate::PATIENCE`], with `what` and the log.
    pub async fn wait(&self, what: &str, condition: impl Fn(&[Exchange]) -> bool) -> Vec<Exchange> {
        self.shared.log.wait(what, condition).await
    }

    /// Waits for as long as it takes until the log fulfils a condition and returns it then.
    pub async fn until(&self, condition: impl Fn(&[Exchange]) -> bool) -> Vec<Exchange> {
        self.shared.log.until(condition).await
    }

    /// Waits until a fault has fallen on an exchange of that route and done its work; returns that
    /// exchange.
    ///
    /// # Panics
    /// If that takes longer than [`crate::PATIENCE`].
    pub async fn struck(&self, route: Route) -> Exchange {
        let is_it = |exchange: &&Exchange| {
            exchange.route == route && exchange.fault.is_some() && exchange.ended.is_some()
        };
        let what = format!("a fault on {route:?}");
        let exchanges = self.wait(&what, |exchanges| exchanges.iter().any(|e| is_it(&e))).await;
        let found = exchanges.into_iter().find(|e| is_it(&e));
        found.unwrap_or_else(|| unreachable!("just seen"))
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

impl Shared {
    fn upstream(&self) -> SocketAddr {
        *lock(&self.upstream)
    }

    fn fault_for(&self, route: Route, target: &str, body: &[u8]) -> Option<Fault> {
        lock(&self.rules)
            .iter_mut()
            .find_map(|rule| rule.takes(route, target, body).then(|| rule.fault.clone()))
    }

    /// Waits while the line is silent.
    async fn pass(&self) {
        // The sender lives as long as `self`, so this cannot fail.
        let _ = self.line.subscribe().wait_for(|line| *line != Line::Silent).await;
    }

    /// Waits for the line to be cut.
    async fn cut(&self) {
        let _ = self.line.subscribe().wait_for(|line| *line == Line::Cut).await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A test that panicked while holding the lock has failed already.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
