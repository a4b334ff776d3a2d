//! Requests about asks, from the effect that wants one to the events that tell what came of it.

use holdfast_protocol::following::Followed;
use holdfast_protocol::reply::Exchange;
use holdfast_recovery::{Event, ExchangeId, Sending};
use leptos::leptos_dom::helpers::request_animation_frame;

use super::Driver;
use crate::net::{self, Abort, Ended, lock};
use crate::task;

impl Driver {
    pub(super) fn send(&'static self, sending: Sending) {
        let abort = Abort::after(sending.deadline);
        let exchange = sending.exchange;
        self.exchanges.borrow_mut().push((exchange, abort.clone()));
        task::spawn(async move {
            // Only the tab that follows an ask lets the server wait: seven tabs that wait would use
            // up all the connections that HTTP/1.1 browsers open.
            let guard =
                if sending.is_long() { lock::follow(sending.request_id).await } else { None };
            let ended = if sending.kind == Exchange::Events && guard.is_some() {
                net::events(&sending, &abort, &|followed| self.followed(exchange, followed)).await
            } else {
                let wait = if guard.is_some() { sending.wait } else { 0 };
                Ended::Said(net::exchange(&sending, wait, &abort).await)
            };
            drop(guard);
            self.tell_followed();
            if self.take_exchange(exchange).is_some() {
                match ended {
                    Ended::Said(verdict) => self.feed(Event::Received { exchange, verdict }),
                    Ended::Buffered => self.feed(Event::Buffered(exchange)),
                    Ended::Told => {}
                }
            }
        });
    }

    /// Tells the first piece a stream brings at once, and keeps those that follow close behind for the
    /// next frame: more often there is nothing to see of them.
    fn followed(&'static self, exchange: ExchangeId, followed: Followed) {
        let is_end = matches!(followed, Followed::Outcome(_));
        let mut brought = self.brought.borrow_mut();
        let joined =
            brought.last_mut().is_some_and(|(of, last)| *of == exchange && join(last, &followed));
        if !joined {
            brought.push((exchange, followed));
        }
        drop(brought);
        let awaits_frame = self.awaits_frame.replace(true);
        if is_end || !awaits_frame {
            self.tell_followed();
        }
        if !awaits_frame {
            self.tell_in_frames();
        }
    }

    /// Tells what was brought once a frame, for as long as something is.
    fn tell_in_frames(&'static self) {
        request_animation_frame(move || {
            let goes_on = !self.brought.borrow().is_empty();
            self.awaits_frame.set(goes_on);
            if goes_on {
                self.tell_followed();
                self.tell_in_frames();
            }
        });
    }

    fn tell_followed(&'static self) {
        for (exchange, followed) in self.brought.take() {
            self.feed(Event::Followed { exchange, followed });
        }
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

/// Makes one of two pieces, where the second goes on where the first ends.
fn join(last: &mut Followed, next: &Followed) -> bool {
    match (last, next) {
        (Followed::Delta { offset, text }, Followed::Delta { offset: at, text: more })
            if *offset + text.len() as u64 == *at =>
        {
            text.push_str(more);
            true
        }
        (Followed::Reasoning { text }, Followed::Reasoning { text: more }) => {
            text.push_str(more);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(offset: u64, text: &str) -> Followed {
        Followed::Delta { offset, text: text.to_owned() }
    }

    fn thought(text: &str) -> Followed {
        Followed::Reasoning { text: text.to_owned() }
    }

    #[test]
    fn pieces_are_one_where_they_join_and_only_there() {
        let mut last = delta(3, "é");
        assert!(join(&mut last, &delta(5, "a")));
        for other in [delta(3, "é"), delta(5, "b"), delta(7, "c"), thought("d")] {
            assert!(!join(&mut last, &other), "{other:?}");
        }
        assert_eq!(last, delta(3, "éa"));
        let mut last = thought("First, ");
        assert!(join(&mut last, &thought("look.")) && !join(&mut last, &delta(0, "a")));
        assert_eq!(last, thought("First, look."));
    }
}
