//! Ending a request: because it takes too long, or because nobody wants its reply any more.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use holdfast_recovery::Millis;
use leptos::leptos_dom::helpers::{TimeoutHandle, set_timeout_with_handle};
use web_sys::{AbortController, AbortSignal};

/// A handle on one request.
#[derive(Clone)]
pub(crate) struct Abort(Rc<Inner>);

struct Inner {
    controller: Option<AbortController>,
    aborted: Cell<bool>,
    timed_out: Cell<bool>,
    deadline: Cell<Option<TimeoutHandle>>,
}

impl Abort {
    /// A handle that ends the request by itself after so many milliseconds.
    pub(crate) fn after(deadline: Millis) -> Self {
        let abort = Self(Rc::new(Inner {
            controller: AbortController::new().ok(),
            aborted: Cell::new(false),
            timed_out: Cell::new(false),
            deadline: Cell::new(None),
        }));
        abort.extend(deadline);
        abort
    }

    /// So many milliseconds more, from now.
    pub(crate) fn extend(&self, deadline: Millis) {
        self.finish();
        let late = self.clone();
        let timer = set_timeout_with_handle(
            move || {
                late.0.timed_out.set(true);
                late.abort();
            },
            Duration::from_millis(deadline),
        );
        self.0.deadline.set(timer.ok());
    }

    /// Ends the request now.
    pub(crate) fn abort(&self) {
        self.0.aborted.set(true);
        if let Some(controller) = &self.0.controller {
            controller.abort();
        }
        self.finish();
    }

    /// The request has ended: its deadline is of no interest any more.
    pub(crate) fn finish(&self) {
        if let Some(timer) = self.0.deadline.take() {
            timer.clear();
        }
    }

    /// Whether it was ended before it could begin.
    pub(crate) fn is_aborted(&self) -> bool {
        self.0.aborted.get()
    }

    /// Whether it was patience that ended it.
    pub(crate) fn timed_out(&self) -> bool {
        self.0.timed_out.get()
    }

    pub(super) fn signal(&self) -> Option<AbortSignal> {
        self.0.controller.as_ref().map(AbortController::signal)
    }
}
