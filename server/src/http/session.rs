//! `GET api/v1/session`.

use std::fmt::Write as _;

use axum::Json;
use axum::extract::State;
use holdfast_protocol::{Limits, Principal, RecoveryPolicy, Session};
use sha2::{Digest as _, Sha256};

use super::Site;
use super::caller::Caller;
use crate::page;

pub(super) async fn read(State(site): State<Site>, _: Caller) -> Json<Session> {
    let site = &*site.0;
    Json(Session {
        signed_in: true,
        principal: Principal { name: "local".to_owned() },
        owner: site.owner.clone(),
        limits: Limits::default(),
        models: site.provider.models(),
        offers: site.offers.borrow().clone(),
        recovery: RecoveryPolicy::default(),
        build: site.build.clone(),
    })
}

/// Opaque, and another one whenever the page is another: a page that sees it change may say so.
pub(super) fn build() -> String {
    let index = page::find("").map_or(&[][..], |asset| asset.identity);
    let digest =
        Sha256::new().chain_update(env!("CARGO_PKG_VERSION")).chain_update(index).finalize();
    let mut build = String::new();
    for byte in digest.iter().take(6) {
        // Writing to a string cannot fail.
        let _ = write!(build, "{byte:02x}");
    }
    build
}
