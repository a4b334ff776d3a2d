//! Holdfast, assembled as `holdfast serve` assembles it, with a provider that takes no time.

use std::sync::Arc;
use std::time::Duration;

use holdfast::app::{App, Parts};
use holdfast::clock::SystemClock;
use holdfast::journal::Journal as _;
use holdfast::journal::sqlite::SqliteJournal;
use holdfast::provider::Provider;
use holdfast::serve::connections;
use holdfast_tests::disk::system::{Syncs, count};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

use super::instant::Instantly;
use super::paced::Paced;
use crate::archive;
use crate::arguments::Serve;
use crate::failure::{Context as _, Result};

/// How long open exchanges may take to end.
const GOODBYE: Duration = Duration::from_secs(1);

/// Opens the archive, listens, and answers lines. `listening` is called once it takes asks.
pub(super) async fn run(
    serve: &Serve,
    listener: TcpListener,
    listening: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let syncs = if serve.unsynced { Syncs::Skipped } else { Syncs::Done };
    let folder = serve.folder.as_deref().doing("open an archive: no --folder was named")?;
    let journal = SqliteJournal::open(&archive::options(folder, syncs));
    let journal = Arc::new(journal.doing("open the archive")?);
    let provider: Arc<dyn Provider> = match serve.tokens {
        Some(tokens) => {
            Arc::new(Paced { tokens, every: Duration::from_millis(serve.token_millis) })
        }
        None => Arc::new(Instantly { is_silent: serve.silent }),
    };
    let mut parts = Parts::new(Arc::clone(&journal) as _, provider, Arc::new(SystemClock));
    if let Some(side_by_side) = serve.side_by_side {
        parts.settings.side_by_side = side_by_side;
    }
    let app = App::start(parts);
    let (stop, stopping) = watch::channel(false);
    let serving = tokio::spawn(connections::serve(listener, app.router(), stopping));
    app.ready().await;
    listening()?;
    super::answer(|| count(syncs)).await?;
    app.abort().await;
    stop.send_replace(true);
    // Whoever still holds a connection is about to be ended too.
    let _ = timeout(GOODBYE, serving).await;
    journal.close().await;
    Ok(())
}
