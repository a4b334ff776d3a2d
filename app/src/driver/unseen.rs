//! Answers that arrive while nobody looks: counted in the document's title and, if the person has
//! allowed that, told by a notification. Looking makes them seen.

use holdfast_recovery::Announcement;
use wasm_bindgen::{JsCast as _, JsValue, closure::Closure};
use web_sys::{Notification, NotificationOptions, NotificationPermission};

use super::{Driver, signs};
use crate::{task, text};

impl Driver {
    /// Something is announced: perhaps an answer, perhaps to nobody.
    pub(super) fn arrived(&self, announcement: Announcement) {
        let is_end = matches!(
            announcement,
            Announcement::Completed | Announcement::Recovered | Announcement::Failed
        );
        if is_end && !signs::is_visible() {
            self.unseen.set(self.unseen.get() + 1);
            self.name_document();
            notify(match announcement {
                Announcement::Failed => text::QUESTION_FAILED,
                _ => text::ANSWER_ARRIVED,
            });
        }
    }

    /// Somebody looks.
    pub(super) fn looked_at(&self) {
        if self.unseen.replace(0) > 0 {
            self.name_document();
        }
    }
}

/// Whether a person could be asked, and has not been yet. Browsers have notifications on https and
/// loopback alone.
pub(crate) fn may_ask() -> bool {
    exists() && Notification::permission() == NotificationPermission::Default
}

/// Asks; only a person's own click may lead here.
pub(crate) fn ask(then: impl Fn() + 'static) {
    if let Ok(asked) = Notification::request_permission() {
        task::spawn(async move {
            let _ = wasm_bindgen_futures::JsFuture::from(asked).await;
            then();
        });
    }
}

fn exists() -> bool {
    js_sys::Reflect::has(&leptos::prelude::window(), &"Notification".into()).unwrap_or(false)
}

fn notify(what: &str) {
    if !exists() || Notification::permission() != NotificationPermission::Granted {
        return;
    }
    // Phones let only a service worker do so; there the title has to be enough.
    let options = NotificationOptions::new();
    // One for all tabs that follow the same answer: the last takes the place of the others.
    options.set_tag(what);
    if let Ok(notification) = Notification::new_with_options(what, &options) {
        let shown = notification.clone();
        let look: JsValue = Closure::once_into_js(move || {
            let _ = leptos::prelude::window().focus();
            shown.close();
        });
        notification.set_onclick(look.dyn_ref());
    }
}
