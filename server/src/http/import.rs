//! `POST api/v1/import`.

use std::time::Duration;

use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse as _, Response};
use holdfast_protocol::limits::{IMPORT_BODY_BYTES, WAIT_SECONDS_MOST};
use holdfast_protocol::{Code, ImportReport};
use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Site;
use super::body;
use super::caller::Caller;
use super::problem::{Fault, Result};
use crate::conversations::Importing;
use crate::journal::{Imported, JournalError};

/// How long to wait for whoever imports already, and for each part of a file to be written.
const PATIENCE: Duration = Duration::from_secs(WAIT_SECONDS_MOST as u64);

pub(super) async fn import(
    State(site): State<Site>,
    File { caller, value, importing }: File,
) -> Result<axum::Json<ImportReport>> {
    let imported =
        site.0.conversations.import(importing, caller.principal, value, PATIENCE).await?;
    let Imported { created, unchanged, conflicts } =
        imported.map_err(|error| Fault::new(Code::InvalidField, error.to_string()))?;
    Ok(axum::Json(ImportReport { created, unchanged, conflicts }))
}

/// A file, and whoever sent it. A JSON body like any other, save that it is read where others are served
/// meanwhile, and only while nobody else's is.
pub(super) struct File {
    caller: Caller,
    value: Value,
    importing: Importing,
}

impl FromRequest<Site> for File {
    type Rejection = Response;

    async fn from_request(request: Request, site: &Site) -> std::result::Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let bytes = body::read(&parts.headers, body, IMPORT_BODY_BYTES).await?;
        let parsed = parsed(site, bytes).await;
        let (value, importing) = parsed.map_err(Fault::into_response)?;
        let caller = Caller::of(&parts, site).map_err(Fault::into_response)?;
        Ok(Self { caller, value, importing })
    }
}

async fn parsed(site: &Site, bytes: Vec<u8>) -> Result<(Value, Importing)> {
    let busy = "Another file is being imported; try again in a moment.";
    let importing = timeout(PATIENCE, site.0.conversations.importing()).await;
    let importing = importing.map_err(|_| Fault::new(Code::RateLimited, busy))??;
    // It goes along: whoever leaves meanwhile leaves a file that is still being read.
    let parsing = spawn_blocking(move || Ok((body::parse(&bytes)?, importing)));
    let lost = |_| JournalError::Unavailable("the server is going down".to_owned());
    parsing.await.map_err(lost)?
}
