//! The page: a viewer of what the server keeps.
//!
//! - `ui` draws the screen, one component a file, in folders that mirror it;
//! - `screen` holds what is drawn, as signals; `text` holds every word;
//! - `shelf` is the list of conversations, and what is done with one as a whole;
//! - `driver` drives `holdfast-recovery`: events in, effects out;
//! - `later` fetches the part of the page that is needed only once there is something to see;
//! - `net` and `storage` carry out effects; `markdown` reads answers.
//!
//! *Architecture invariants:* the page decides nothing about an ask, recovery does. Nothing is sent
//! before its pointer is stored. No text becomes HTML.

mod clock;
mod driver;
mod fault;
mod field;
mod ids;
mod json;
mod later;
mod markdown;
mod net;
mod route;
mod screen;
mod shelf;
mod storage;
mod task;
mod text;
mod ui;

fn main() {
    fault::install();
    ui::mount();
    fault::say_alive();
}
