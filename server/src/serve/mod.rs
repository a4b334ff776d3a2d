//! `holdfast serve`: the parts that only a real process has.
//!
//! Everything that can be wrong with a start is found out before anything is changed, and told in
//! one sentence. Then: sockets, signals, and an end that is honest about what runs.

pub mod connections;
mod offers;
mod provider;

use std::io::{IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tracing_subscriber::EnvFilter;

use crate::app::{App, Parts};
use crate::clock::SystemClock;
use crate::config::Config;
use crate::journal::sqlite::{Drive, Options, SqliteJournal};
use crate::journal::{Identity, Journal as _};
use crate::page;
use crate::runs::Settings;
use crate::signals::Signals;

/// How long open exchanges may take to end once nothing runs any more.
const GOODBYE: Duration = Duration::from_secs(3);

/// Serves until told to stop. The code says whether every answer was archived.
///
/// # Errors
/// The sentence of a wrong start. Nothing has been changed on disk.
pub fn run(config: Config) -> Result<ExitCode, String> {
    if page::IS_PLACEHOLDER {
        return Err(page::PLACEHOLDER_REFUSAL.to_owned());
    }
    log();
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| format!("cannot start any threads: {error}"))?;
    let ended = runtime.block_on(serve(config));
    // What still blocks a thread, as a disk can, does not keep the process.
    runtime.shutdown_background();
    ended
}

/// To standard error; never a question, an answer or a key.
fn log() {
    let filter = EnvFilter::try_from_env("HOLDFAST_LOG")
        .unwrap_or_else(|_| EnvFilter::new("warn,holdfast=info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // It would be said on standard error, by a panic where that cannot be written: a log on a full
        // disk must not take down what it is about.
        .log_internal_errors(false)
        .init();
}

async fn serve(config: Config) -> Result<ExitCode, String> {
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(|error| format!("cannot listen on {}: {error}", config.listen))?;
    let address = listener
        .local_addr()
        .map_err(|error| format!("cannot listen on {}: {error}", config.listen))?;
    let mut signals = Signals::new().map_err(|error| format!("cannot watch signals: {error}"))?;
    let provider = provider::build(&config)?;
    let opening = config.clone();
    let journal = tokio::select! {
        opened = tokio::task::spawn_blocking(move || open(&opening)) => {
            opened.map_err(|error| error.to_string())??
        }
        // It may be waiting for a backup to end.
        () = signals.next() => return Ok(ExitCode::SUCCESS),
    };
    let (offered, offers) = watch::channel(offers::keys(&config));
    offers::look_around(&config, address, offered);

    let app = App::start(Parts {
        journal: Arc::clone(&journal) as _,
        provider,
        clock: Arc::new(SystemClock),
        settings: Settings {
            limits: config.limits,
            system_prompt: config.system_prompt.clone(),
            ..Settings::default()
        },
        public_url: config.public_url.clone(),
        offers,
    });
    let (stop, stopping) = watch::channel(false);
    let connections = tokio::spawn(connections::serve(listener, app.router(), stopping));
    announce(address);

    signals.next().await;
    tracing::info!(patience = ?config.drain, "stopping: no new questions; running answers may end");
    let unarchived = app
        .drain(async {
            tokio::select! {
                () = sleep(config.drain) => {}
                () = signals.next() => {}
            }
        })
        .await;
    stop.send_replace(true);
    if timeout(GOODBYE, connections).await.is_err() {
        tracing::warn!("some connections did not end in time");
    }
    app.abort().await;
    // A disk that hangs does not keep the process.
    if timeout(GOODBYE, journal.close()).await.is_err() {
        tracing::warn!("the archive did not close in time");
    }
    if unarchived > 0 {
        tracing::error!(answers = unarchived, "stopped with answers that could not be archived");
    }
    Ok(ExitCode::from(u8::from(unarchived > 0)))
}

fn open(config: &Config) -> Result<Arc<SqliteJournal>, String> {
    let options = Options {
        folder: config.data.clone(),
        drive: Drive::Thread,
        identity: Identity::random(),
        vfs: None,
    };
    SqliteJournal::open(&options).map(Arc::new).map_err(|error| error.to_string())
}

/// The one line on standard output, for people and for whoever started the process.
fn announce(address: SocketAddr) {
    let mut output = std::io::stdout().lock();
    // Whoever closed it does not want to know.
    let _ = writeln!(output, "listening on http://{address}/").and_then(|()| output.flush());
}
