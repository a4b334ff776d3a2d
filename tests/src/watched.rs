//! What a test can wait for: a log that grows, and gates that it opens.
//!
//! Both exist so that no test sleeps: it waits for what must happen, with a bound, and says what it
//! waited for when that bound is passed.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use tokio::sync::watch;

/// How long a test waits for something that takes milliseconds when all is well.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A log of things that happened, in order.
#[derive(Debug)]
pub(crate) struct Log<T>(watch::Sender<Vec<T>>);

impl<T> Default for Log<T> {
    fn default() -> Log<T> {
        Log(watch::Sender::new(Vec::new()))
    }
}

impl<T: Clone + Debug> Log<T> {
    /// Adds an entry, made from its number.
    pub(crate) fn push(&self, entry: impl FnOnce(usize) -> T) -> usize {
        let mut number = 0;
        self.0.send_modify(|entries| {
            number = entries.len();
            entries.push(entry(number));
        });
        number
    }

    /// Changes the entry of that number.
    pub(crate) fn amend(&self, number: usize, change: impl FnOnce(&mut T)) {
        self.0.send_modify(|entries| {
            if let Some(entry) = entries.get_mut(number) {
                change(entry);
            }
        });
    }

    /// All entries so far.
    pub(crate) fn all(&self) -> Vec<T> {
        self.0.borrow().clone()
    }

    /// Waits until the entries fulfil a condition and returns them then; panics with `what` and the
    /// entries when that takes longer than [`PATIENCE`].
    pub(crate) async fn wait(&self, what: &str, condition: impl Fn(&[T]) -> bool) -> Vec<T> {
        let reached = tokio::time::timeout(PATIENCE, self.until(condition)).await;
        reached.unwrap_or_else(|_| panic!("never seen: {what}; what was seen: {:#?}", self.all()))
    }

    /// Waits for as long as it takes.
    pub(crate) async fn until(&self, condition: impl Fn(&[T]) -> bool) -> Vec<T> {
        let mut entries = self.0.subscribe();
        match entries.wait_for(|all| condition(all)).await {
            Ok(all) => all.clone(),
            // The sender lives as long as `self`.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Gates by name; closed until opened, and then open for good.
#[derive(Debug)]
pub(crate) struct Gates(watch::Sender<BTreeSet<String>>);

impl Default for Gates {
    fn default() -> Gates {
        Gates(watch::Sender::new(BTreeSet::new()))
    }
}

impl Gates {
    /// Opens a gate: whoever waits at it, or comes to it later, goes on.
    pub(crate) fn open(&self, name: &str) {
        self.0.send_modify(|open| _ = open.insert(name.to_owned()));
    }

    /// Waits at a gate.
    pub(crate) async fn pass(&self, name: &str) {
        // The sender lives as long as `self`, so this cannot fail.
        let _ = self.0.subscribe().wait_for(|open| open.contains(name)).await;
    }
}
