//! Whoever asks a server. On one thread, so that it takes no more of the machine than one client
//! would; its HTTP is only as much as it takes to know that every reply was the right one.

mod asking;
mod connection;
mod fetching;
mod following;
mod paced;
mod waiting;

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::arguments::{Load, Work};
use crate::failure::{Context as _, Result};
use crate::process;
use crate::rounds::quantile;

/// Open files of ten thousand who wait.
const OPEN_FILES: u64 = 10_500;

/// What was seen.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// How many exchanges ended well; one that did not would have ended everything.
    pub(crate) exchanges: u64,
    /// How long it all took, in seconds.
    pub(crate) seconds: f64,
    /// The median time of one, in milliseconds.
    pub(crate) p50: f64,
    /// The time that one in a hundred exceeds, in milliseconds.
    pub(crate) p99: f64,
    /// The body of the last reply, in bytes.
    pub(crate) body: usize,
}

/// All wait.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) clients: usize,
}

impl Seen {
    /// Of the times of all exchanges, in milliseconds.
    fn of(mut times: Vec<f64>, seconds: f64, body: usize) -> Result<Self> {
        let p50 = quantile(&mut times, 0.5).doing("exchange anything in the time given")?;
        let p99 = quantile(&mut times, 0.99).unwrap_or(p50);
        Ok(Self { exchanges: times.len() as u64, seconds, p50, p99, body })
    }

    /// Exchanges a second.
    pub(crate) fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a count of a few seconds")]
        let exchanges = self.exchanges as f64;
        exchanges / self.seconds
    }
}

/// Asks as told.
pub(crate) fn run(load: &Load) -> Result<()> {
    process::raise_open_files(OPEN_FILES)?;
    if load.rate.is_some() {
        return say(&paced::run(load)?);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.doing("start a runtime")?.block_on(async {
        match load.work {
            Work::Ask => say(&asking::run(load).await?),
            Work::Fetch => say(&fetching::run(load).await?),
            Work::Follow => say(&following::run(load).await?),
            Work::Wait => waiting::run(load).await,
        }
    })
}

fn say(word: &impl Serialize) -> Result<()> {
    println!("{}", serde_json::to_string(word).doing("write JSON")?);
    Ok(())
}

/// Whether a server says that it takes asks.
pub(crate) fn is_ready(address: SocketAddr) -> Result<bool> {
    let mut connection = connection::Blocking::open(address)?;
    Ok(connection.exchange(&connection::get("/readyz", None))?.status == 200)
}
