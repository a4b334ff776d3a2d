//! What the tests are made of.

mod app;
mod faulty;
mod reply;
mod scripted;
mod stream;

pub(crate) use app::{Spawned, ask, ask_in, get, id, post, spawn, spawn_threaded, spawn_with};
pub(crate) use faulty::Faulty;
pub(crate) use reply::Reply;
pub(crate) use scripted::{Held, Scripted, error};
pub(crate) use stream::{Stream, Told, events};
