//! What every experiment needs: where to put archives, how long to measure, how to say what is done.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::arguments::{Kind, Run};
use crate::child::Server;
use crate::failure::{Context as _, Result};
use crate::report::Progress;

/// One run of the benchmark.
pub(crate) struct Bench<'a> {
    run: &'a Run,
    pub(crate) progress: Progress,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(run: &'a Run) -> Self {
        Self { run, progress: Progress::begin() }
    }

    /// How often each side has its turn.
    pub(crate) const fn rounds(&self) -> usize {
        if self.run.quick { 3 } else { 7 }
    }

    /// How long a turn is, in milliseconds.
    pub(crate) const fn millis(&self) -> u64 {
        if self.run.quick { 500 } else { 2000 }
    }

    /// One number in a whole run, another in a quick one.
    pub(crate) const fn either<T: Copy>(&self, whole: T, quick: T) -> T {
        if self.run.quick { quick } else { whole }
    }

    /// The program of the peer, if there is one.
    pub(crate) fn peer(&self) -> Option<&Path> {
        self.run.peer.as_deref()
    }

    /// The provider that first tokens are measured with, if it is not to be made up.
    pub(crate) const fn provider(&self) -> Option<SocketAddr> {
        self.run.provider
    }

    /// Where archives are kept.
    pub(crate) fn folder(&self) -> Result<&'a Path> {
        std::fs::create_dir_all(&self.run.folder).doing("make the bench's folder")?;
        Ok(&self.run.folder)
    }

    /// A folder on the same disk that is gone afterwards.
    pub(crate) fn fresh(&self) -> Result<TempDir> {
        TempDir::with_prefix_in("fresh-", self.folder()?).doing("make a folder to measure in")
    }
}

/// The flags of a Holdfast that is started.
#[derive(Clone, Debug)]
pub(crate) struct Holdfast(Vec<OsString>);

impl Holdfast {
    pub(crate) fn on(folder: &Path) -> Self {
        Self(vec!["--folder".into(), PathBuf::from(folder).into()])
    }

    pub(crate) fn side_by_side(mut self, conversations: usize) -> Self {
        self.0.extend(["--side-by-side".into(), conversations.to_string().into()]);
        self
    }

    pub(crate) fn unsynced(mut self) -> Self {
        self.0.push("--unsynced".into());
        self
    }

    pub(crate) fn silent(mut self) -> Self {
        self.0.push("--silent".into());
        self
    }

    /// Answers with so many tokens, one every so often.
    pub(crate) fn paced(mut self, tokens: usize, every: Duration) -> Self {
        let millis = every.as_millis().to_string();
        self.0.extend(["--tokens".into(), tokens.to_string().into()]);
        self.0.extend(["--token-millis".into(), millis.into()]);
        self
    }

    pub(crate) fn start(self) -> Result<Server> {
        Server::start(Kind::Holdfast, self.0)
    }
}

/// Starts a server that does nothing, with replies of so many bytes.
pub(crate) fn bare(kind: Kind, body: usize) -> Result<Server> {
    Server::start(kind, ["--body".into(), body.to_string().into()])
}
