//! The API over HTTP, and the page beside it.
//!
//! One file a resource. A handler reads: extract, authorise, one call, typed reply. Here belong
//! methods, headers, statuses, the order of checks and what a client may learn of a failure. Not
//! here: what becomes of an ask (`runs`), what the page is made of (`page`), sockets (`serve`).
//!
//! *Architecture invariant:* dropping a handler's future at any point, as happens when a client goes
//! away, changes nothing but that exchange.

mod accept;
mod answer;
mod ask;
mod body;
mod caller;
mod conversations;
mod events;
mod fallback;
mod frame;
mod guard;
mod health;
mod ids;
mod import;
mod language;
mod problem;
mod query;
mod requests;
mod session;
mod wait;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use holdfast_protocol::Owner;
use tokio::sync::watch;

pub use guard::PublicUrl;

use self::frame::Frame;

use crate::conversations::Conversations;
use crate::journal::{Journal, PrincipalId};
use crate::provider::Provider;
use crate::runs::{Phase, Runs};

/// What the handlers share.
#[derive(Clone)]
pub struct Site(Arc<Shared>);

struct Shared {
    runs: Runs,
    conversations: Conversations,
    provider: Arc<dyn Provider>,
    phase: watch::Receiver<Phase>,
    principal: PrincipalId,
    owner: Owner,
    public_url: Option<PublicUrl>,
    offers: watch::Receiver<Vec<String>>,
    build: String,
}

impl Site {
    /// A site over these runs, without sign-in: for the local owner alone.
    pub fn new(
        runs: Runs,
        conversations: Conversations,
        journal: &dyn Journal,
        provider: Arc<dyn Provider>,
        public_url: Option<PublicUrl>,
        offers: watch::Receiver<Vec<String>>,
    ) -> Self {
        Self(Arc::new(Shared {
            phase: runs.phase(),
            principal: journal.local_principal(),
            owner: journal.local_owner(),
            conversations,
            runs,
            provider,
            public_url,
            offers,
            build: session::build(),
        }))
    }
}

/// Every route there is. Paths are relative to wherever a proxy mounts the server.
pub fn router(site: Site) -> Router {
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/api/v1/ask", post(ask::submit))
        .route("/api/v1/requests/{request_id}", get(requests::look_up))
        .route("/api/v1/requests/{request_id}/events", get(events::follow))
        .route("/api/v1/requests/{request_id}/cancel", post(requests::cancel))
        .route("/api/v1/conversations", get(conversations::list))
        .route(
            "/api/v1/conversations/{id}",
            get(conversations::read).patch(conversations::change).delete(conversations::delete),
        )
        .route("/api/v1/conversations/{id}/restore", post(conversations::restore))
        .route("/api/v1/conversations/{id}/export", get(conversations::export))
        .route("/api/v1/import", post(import::import))
        .route("/api/v1/session", get(session::read))
        .fallback(fallback::page)
        .method_not_allowed_fallback(fallback::other_method)
        .layer(Frame(site.clone()))
        .with_state(site)
}
