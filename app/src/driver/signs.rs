//! What the browser says about the line and the page: online, visible, shown again, awake.

use std::time::Duration;

use holdfast_recovery::{Event, Millis, Nudge};
use leptos::leptos_dom::helpers::set_interval;
use leptos::prelude::*;
use wasm_bindgen::{JsCast as _, closure::Closure};
use web_sys::{EventTarget, PageTransitionEvent, StorageEvent, VisibilityState};

use super::Driver;
use crate::{clock, storage};

const TICK: Duration = Duration::from_secs(1);
/// A tick that comes later than this means that the machine, or the page, was asleep.
const WAKING_GAP: Millis = 4_000;

/// Whether the page can be seen.
pub(super) fn is_visible() -> bool {
    document().visibility_state() != VisibilityState::Hidden
}

/// Whether the browser says it has a network. It is often wrong when it says yes, hardly ever when
/// it says no.
pub(super) fn is_online() -> bool {
    window().navigator().on_line()
}

/// Listens for as long as the page lives.
pub(super) fn listen(driver: &'static Driver) {
    let (window, document) = (window(), document());
    on(&window, "online", driver, |driver, _| {
        driver.screen.online.set(true);
        driver.nudge(Nudge::Online);
    });
    on(&window, "offline", driver, |driver, _| {
        driver.screen.online.set(false);
        driver.feed(Event::WentOffline);
    });
    on(&document, "visibilitychange", driver, |driver, _| {
        if is_visible() {
            driver.looked_at();
            // Hidden, its timers were slowed down: the long gap before the next tick is no sleep.
            driver.ticked_at.set(clock::now());
            driver.nudge(Nudge::Visible);
        } else {
            driver.put_away();
        }
    });
    on(&window, "pageshow", driver, |driver, event| {
        // The first one belongs to the start.
        if event.dyn_into().is_ok_and(|event: PageTransitionEvent| event.persisted()) {
            driver.nudge(Nudge::PageShow);
            // Some browsers do not say so again on the way back.
            if is_visible() {
                driver.nudge(Nudge::Visible);
            }
        }
    });
    // A held lock or an open request would keep the page out of the back-forward cache.
    on(&window, "pagehide", driver, |driver, _| driver.put_away());
    on(&document, "freeze", driver, |driver, _| driver.put_away());
    on(&document, "resume", driver, |driver, _| driver.nudge(Nudge::Woke));
    on(&window, "hashchange", driver, |driver, _| driver.moved());
    on(&window, "popstate", driver, |driver, _| driver.moved());
    on(&window, "storage", driver, |driver, event| driver.other_tab(&event));
    tick(driver);
}

fn on(
    target: &EventTarget,
    name: &str,
    driver: &'static Driver,
    handle: fn(&'static Driver, web_sys::Event),
) {
    let listener = Closure::<dyn Fn(web_sys::Event)>::new(move |event| handle(driver, event));
    let _ = target.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref());
    listener.forget();
}

fn tick(driver: &'static Driver) {
    set_interval(
        move || {
            let now = clock::now();
            let gap = now.saturating_sub(driver.ticked_at.replace(now));
            if driver.is_waiting() {
                driver.screen.now.set(now);
            }
            // A hidden page's timers are slowed down; that is no sleep, and no reason to look.
            if gap > WAKING_GAP && is_visible() {
                driver.nudge(Nudge::Woke);
            }
        },
        TICK,
    );
}

impl Driver {
    fn nudge(&'static self, nudge: Nudge) {
        self.feed(Event::Nudged(nudge));
        self.screen.nudges.update(|count| *count += 1);
        self.look_at_view_again();
    }

    /// The page may not come back: keep what is only in memory, let go of what is shared.
    fn put_away(&'static self) {
        self.keep_draft();
        self.feed(Event::Hidden);
    }

    /// A question that is offered here was settled, or got accepted, in the tab it came from.
    fn other_tab(&'static self, event: &web_sys::Event) {
        let Some(event) = event.dyn_ref::<StorageEvent>() else { return };
        let gone = event.new_value().is_none();
        let request_id = event.key().and_then(|key| storage::is_mirror_key(&key));
        if let Some(request_id) = request_id.filter(|_| gone)
            && self.book.borrow().is_never_sent(request_id)
        {
            self.feed(Event::CheckedAgain(request_id));
        }
    }
}
