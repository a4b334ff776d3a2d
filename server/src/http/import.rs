//! `POST api/v1/import`.

use std::time::Duration;

use axum::extract::State;
use holdfast_protocol::limits::IMPORT_BODY_BYTES;
use holdfast_protocol::{Code, ImportReport};
use tokio::time::Instant;

use super::Site;
use super::body::Json;
use super::problem::{Fault, Result};
use super::wait::Begun;
use crate::journal::Imported;

pub(super) async fn import(
    State(site): State<Site>,
    Json { caller, value }: Json<IMPORT_BODY_BYTES>,
) -> Result<axum::Json<ImportReport>> {
    // A file may have taken long to arrive: from now on.
    let until = Begun(Instant::now()).until(Duration::ZERO);
    let imported = site.0.conversations.import(caller.principal, value, until).await?;
    let Imported { created, unchanged, conflicts } =
        imported.map_err(|error| Fault::new(Code::InvalidField, error.to_string()))?;
    Ok(axum::Json(ImportReport { created, unchanged, conflicts }))
}
