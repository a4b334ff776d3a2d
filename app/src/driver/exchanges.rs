//! Requests about asks, from the effect that wants one to the event that tells what came of it.

use std::rc::Rc;

use holdfast_recovery::{Event, ExchangeId, Sending};

use super::Driver;
use crate::net::{self, Abort, lock};

impl Driver {
    pub(super) fn send(self: &Rc<Self>, sending: Sending) {
        let abort = Abort::after(sending.deadline);
        self.exchanges.borrow_mut().insert(sending.exchange, abort.clone());
        let driver = Rc::clone(self);
        wasm_bindgen_futures::spawn_local(async move {
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
            let wanted = driver.exchanges.borrow_mut().remove(&exchange).is_some();
            if wanted {
                driver.feed(Event::Received { exchange, verdict });
            }
        });
    }

    pub(super) fn abort(&self, exchange: ExchangeId) {
        let abort = self.exchanges.borrow_mut().remove(&exchange);
        if let Some(abort) = abort {
            abort.abort();
        }
    }
}
