//! The command line: of people (`run`), and of the processes that `run` starts.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

/// Measures Holdfast; `cargo xtask bench` builds and runs this.
#[derive(Debug, Parser)]
pub(crate) enum Arguments {
    /// Measure, and print both sides of every ratio.
    Run(Run),
    /// Be what is measured, until standard input ends.
    Serve(Serve),
    /// Be whoever asks it, and print what was seen as JSON.
    Load(Load),
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Fewer rounds, shorter ones, smaller archives: to see whether it works.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only this experiment; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Where archives are put: on the disk that is to be measured. Those that take long to make are
    /// kept there.
    #[arg(long, default_value = "target/bench")]
    pub(crate) folder: PathBuf,
    /// The program that makes the same asks with another crate.
    #[arg(long)]
    pub(crate) peer: Option<PathBuf>,
    /// Where a model server listens that first tokens are measured with, in place of one that waits a
    /// fifth of a second and makes them up.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) provider: Option<SocketAddr>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// What to be.
    #[arg(long, value_enum)]
    pub(crate) kind: Kind,
    /// Holdfast's data folder.
    #[arg(long)]
    pub(crate) folder: Option<PathBuf>,
    /// How many conversations run side by side.
    #[arg(long)]
    pub(crate) side_by_side: Option<usize>,
    /// Never sync the disk.
    #[arg(long)]
    pub(crate) unsynced: bool,
    /// Never answer: asks stay under way.
    #[arg(long)]
    pub(crate) silent: bool,
    /// Answer with so many tokens, one at a time …
    #[arg(long)]
    pub(crate) tokens: Option<usize>,
    /// … so many milliseconds apart.
    #[arg(long, default_value_t = 10)]
    pub(crate) token_millis: u64,
    /// The size of a bare reply's body.
    #[arg(long, default_value_t = 0)]
    pub(crate) body: usize,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Holdfast: its router, its journal, its connections, and a provider that takes no time.
    Holdfast,
    /// An axum handler that does nothing, behind Holdfast's connections.
    Bare,
    /// The same behind `axum::serve`.
    AxumServe,
    /// A hyper service that does nothing, without axum.
    Hyper,
}

#[derive(Debug, Args)]
pub(crate) struct Load {
    /// What to do.
    #[arg(long, value_enum)]
    pub(crate) work: Work,
    /// Whom to ask.
    #[arg(long)]
    pub(crate) address: SocketAddr,
    /// How many connections.
    #[arg(long, default_value_t = 1)]
    pub(crate) clients: usize,
    /// How many follow each ask.
    #[arg(long, default_value_t = 0)]
    pub(crate) watchers: usize,
    /// How long, in milliseconds.
    #[arg(long, default_value_t = 1000)]
    pub(crate) millis: u64,
    /// How many exchanges a second are begun in all, whatever became of the earlier ones; without it
    /// each connection begins one when the last has ended.
    #[arg(long)]
    pub(crate) rate: Option<u32>,
    /// Which asks of a made archive are looked up: the first so many …
    #[arg(long, default_value_t = 0)]
    pub(crate) asks: u64,
    /// … each from its offset 0, which nobody keeps at hand …
    #[arg(long)]
    pub(crate) unkept: bool,
    /// … or what is fetched instead.
    #[arg(long)]
    pub(crate) path: Option<String>,
}

/// What whoever asks can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Work {
    /// Ask, and wait for the outcome.
    Ask,
    /// Fetch: a path, or asks of a made archive, chosen at random.
    Fetch,
    /// Ask once each, and follow it to its end.
    Follow,
    /// Wait for what does not come, until standard input ends.
    Wait,
}
