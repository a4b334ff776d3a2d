//! Who is calling, once that is known to be somebody who may.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::problem::Fault;
use super::{Site, guard};
use crate::journal::PrincipalId;

/// The principal behind a request. To have one is to have passed, in this order, the checks of
/// `Host`, of sign-in, and of the origin of a change.
pub(super) struct Caller {
    pub(super) principal: PrincipalId,
}

impl Caller {
    pub(super) fn of(parts: &Parts, site: &Site) -> Result<Self, Fault> {
        let public_url = site.0.public_url.as_ref();
        guard::check_host(parts, public_url)?;
        guard::check_origin(parts, public_url)?;
        Ok(Self { principal: site.0.principal })
    }
}

impl FromRequestParts<Site> for Caller {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Fault> {
        Self::of(parts, site)
    }
}
