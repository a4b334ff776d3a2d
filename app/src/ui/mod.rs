//! The screen. The folders mirror it: header, notices, conversation, turn, composer.
//!
//! Here: components, which read signals and hand what a person does to the driver. Not here: any
//! state that outlives a component.

#![expect(unreachable_pub, reason = "what the component macro makes of a function is public")]

mod app;
pub(crate) mod composer;
mod conversation;
pub(crate) mod focus;
mod header;
mod icon;
mod instructions;
mod notices;
mod part;
pub(crate) mod scroll;
pub(crate) mod shelf;
mod status;
mod turn;

use leptos::mount::mount_to;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast as _;

use self::conversation::Conversation;
use self::notices::Notices;
use crate::driver::Driver;
use crate::screen::{Drawn, Screen};

/// What a component needs: the signals to read, and whom to tell what a person did.
#[derive(Clone, Copy)]
pub(crate) struct Page {
    pub(crate) screen: &'static Screen,
    pub(crate) driver: &'static SendWrapper<Driver>,
}

/// All that is drawn of conversations: the later part of the page.
pub(crate) const VIEWING: Drawn = Drawn { beside: shelf::draw, within: chat };

fn chat() -> AnyView {
    view! {
        <Notices />
        <Conversation />
    }
    .into_any()
}

/// Puts the page into the document, for good.
pub(crate) fn mount() {
    let document = document();
    let root = document.get_element_by_id("app").and_then(|root| root.dyn_into().ok());
    let Some(root) = root.or_else(|| document.body()) else { return };
    // What stands there is for the time before the page is up.
    root.set_text_content(None);
    mount_to(root, app::App).forget();
    composer::focus_if_there_is_a_mouse();
}
