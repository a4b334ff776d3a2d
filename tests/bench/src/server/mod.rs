//! The process that is measured. It says where it listens, then answers each line on standard input
//! with what it has used so far, and ends when there are no more lines.

mod bare;
mod holdfast;
mod instant;
mod paced;

use std::io::Write as _;

use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;

pub(crate) use self::bare::{REPLY_PATH, WAIT_PATH};
pub(crate) use self::instant::Instantly;
pub(crate) use self::paced::TOKEN;
use crate::arguments::{Kind, Serve};
use crate::failure::{Context as _, Result};
use crate::process;

/// Open files of a server that ten thousand wait on.
const OPEN_FILES: u64 = 10_500;

/// What a server has used since it began.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Used {
    /// Resident memory, in KiB, now.
    pub(crate) resident: u64,
    /// Time of the processors, in seconds.
    pub(crate) cpu: f64,
    /// Syncs of the disk.
    pub(crate) syncs: u64,
}

/// Serves as told.
pub(crate) fn run(serve: &Serve) -> Result<()> {
    process::raise_open_files(OPEN_FILES)?;
    // As the product's own.
    let runtime = tokio::runtime::Runtime::new().doing("start any threads")?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.doing("listen on loopback")?;
        let address = listener.local_addr().doing("listen on loopback")?;
        match serve.kind {
            Kind::Holdfast => holdfast::run(serve, listener, || say(address)).await,
            kind => {
                let serving = tokio::spawn(bare::serve(kind, serve.body, listener));
                say(address)?;
                let answered = answer(|| 0).await;
                serving.abort();
                answered
            }
        }
    })
}

fn say(word: impl std::fmt::Display) -> Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{word}").and_then(|()| output.flush()).doing("write to standard output")
}

/// Answers lines until there are no more.
async fn answer(syncs: impl Fn() -> u64) -> Result<()> {
    while spawn_blocking(next_line).await.doing("read standard input")?? {
        let used =
            Used { resident: process::resident()?, cpu: process::cpu_seconds()?, syncs: syncs() };
        say(serde_json::to_string(&used).doing("write JSON")?)?;
    }
    Ok(())
}

fn next_line() -> Result<bool> {
    let read = std::io::stdin().read_line(&mut String::new()).doing("read standard input")?;
    Ok(read > 0)
}
