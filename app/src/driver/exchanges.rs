//! Requests about asks, from the effect that wants one to the event that tells what came of it.

use holdfast_recovery::{Event, ExchangeId, Sending};

use super::Driver;
use crate::net::{self, Abort, lock};
use crate::task;

impl Driver {
    pub(super) fn send(&'static self, sending: Sending) {
        let abort = Abort::after(sending.deadline);
        self.exchanges.borrow_mut().push((sending.exchange, abort.clone()));
        task::spawn(async move {
            // Only the tab that follows an ask lets the server wait: seven tabs that wait would use
            // up all the connections that HTTP/1.1 browsers open.
            let guard = match sending.wait {
                0 => None,
                _ => lock::follow(sending.request_id).await,
            };
            let wait = if guard.is_some() { sending.wait } else { 0 };
            let verdict = net::exchange(&sending, wait, &abort).await;
            drop(guard);
            let exchange = sending.exchange;
            if self.take_exchange(exchange).is_some() {
                self.feed(Event::Received { exchange, verdict });
            }
        });
    }

    pub(super) fn abort(&self, exchange: ExchangeId) {
        if let Some(abort) = self.take_exchange(exchange) {
            abort.abort();
        }
    }

    /// Ends the interest in a reply. `None` if there was none any more.
    fn take_exchange(&self, exchange: ExchangeId) -> Option<Abort> {
        let mut exchanges = self.exchanges.borrow_mut();
        let at = exchanges.iter().position(|(id, _)| *id == exchange)?;
        Some(exchanges.swap_remove(at).1)
    }
}
