//! The real server, as a process: started, killed, started again on the same data.
//!
//! The binary is the one that `HOLDFAST_BIN` names, so that no stale one is ever tested. Each start
//! has its own data folder and an environment without keys; the process dies with its [`Holdfast`].

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::PATIENCE;
use crate::client::Request;
use crate::mock::MockProvider;

/// Between two looks at whether it is ready.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How a Holdfast is started.
#[derive(Clone, Debug, Default)]
pub struct Start {
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    is_unheard: bool,
}

impl Start {
    /// As a newcomer would: no provider named.
    pub fn plain() -> Start {
        Start::default()
    }

    /// With the mock provider as its model server.
    pub fn with_mock(mock: &MockProvider) -> Start {
        Start::with_provider_at(&mock.url())
    }

    /// With whatever listens at that URL, if anything does, as its model server.
    pub fn with_provider_at(url: &str) -> Start {
        Start::plain()
            .argument("--provider", "openai")
            .argument("--provider-url", url)
            .argument("--model", "mock")
    }

    /// Adds a flag with a value.
    #[must_use]
    pub fn argument(mut self, flag: &str, value: &str) -> Start {
        self.arguments.extend([flag.to_owned(), value.to_owned()]);
        self
    }

    /// Adds a variable to its environment, which has none but `PATH` and its own folders.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Start {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Nobody reads its standard error: what it writes there fails.
    #[must_use]
    pub const fn unheard(mut self) -> Start {
        self.is_unheard = true;
        self
    }

    /// Starts it and waits until it is ready.
    ///
    /// # Panics
    /// If it does not, with what it said on standard error.
    pub async fn start(self) -> Holdfast {
        self.start_in(tempfile::tempdir()).await
    }

    /// Starts it as the handbook says to restore a backup: with the file as the archive in an empty
    /// data folder.
    ///
    /// # Panics
    /// If it cannot be put there, or does not start, with what it said on standard error.
    pub async fn restored(self, backup: &Path) -> Holdfast {
        let folder = tempfile::tempdir().and_then(|folder| {
            let data = folder.path().join("data");
            std::fs::create_dir(&data)?;
            std::fs::copy(backup, data.join("holdfast.db"))?;
            Ok(folder)
        });
        self.start_in(folder).await
    }

    async fn start_in(self, folder: std::io::Result<TempDir>) -> Holdfast {
        let folder = folder.unwrap_or_else(|error| panic!("no folder: {error}"));
        let mut holdfast = Holdfast {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            start: self,
            folder,
            stderr: Arc::default(),
            child: None,
        };
        holdfast.restart().await;
        holdfast
    }

    /// Starts it where it must refuse to, on this data folder, and waits until it has ended.
    ///
    /// # Panics
    /// If it does not end.
    pub async fn refused(self, data: &Path) -> Ended {
        let home = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder: {error}"));
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        self.command(listen, data, home.path()).ended().await
    }

    /// The process to be.
    fn command(&self, listen: SocketAddr, data: &Path, home: &Path) -> Command {
        let mut command = Command::new(binary());
        command.arg("serve");
        if !self.arguments.iter().any(|argument| argument == "--listen") {
            command.args(["--listen", &listen.to_string()]);
        }
        command
            .arg("--data")
            .arg(data)
            .args(&self.arguments)
            .alone(home)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Runs another command than `serve` to its end, in an environment that says nothing.
///
/// # Panics
/// If it does not end.
pub async fn run<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Ended {
    let home = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder: {error}"));
    let mut command = Command::new(binary());
    command.args(arguments).alone(home.path());
    command.ended().await
}

/// What all processes here have in common.
trait Alone {
    /// Without anything of the environment, and heard by nobody else.
    fn alone(&mut self, home: &Path) -> &mut Self;
    /// Waits for its end.
    fn ended(&mut self) -> impl Future<Output = Ended>;
}

impl Alone for Command {
    fn alone(&mut self, home: &Path) -> &mut Self {
        self.env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("RUST_BACKTRACE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
    }

    async fn ended(&mut self) -> Ended {
        let output = timeout(PATIENCE, self.output()).await;
        let output = output.unwrap_or_else(|_| panic!("holdfast was to end, and runs"));
        let output = output.unwrap_or_else(|error| panic!("holdfast cannot be run: {error}"));
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The exit code.
    pub code: Option<i32>,
    /// All of standard output.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
}

/// A Holdfast with its data folder; its process may be up or down.
#[derive(Debug)]
pub struct Holdfast {
    address: SocketAddr,
    start: Start,
    folder: TempDir,
    stderr: Arc<Mutex<String>>,
    child: Option<Child>,
}

impl Holdfast {
    /// Where it listens, also after a restart.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL, with a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Its data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// What it has said on standard error, over all its starts.
    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Kills it as a crash would: no signal handler runs.
    pub async fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Already dead is dead as well.
            let _ = child.kill().await;
        }
    }

    /// Its process.
    ///
    /// # Panics
    /// If it is not running.
    pub fn pid(&self) -> Pid {
        let pid = self.child.as_ref().and_then(Child::id).and_then(|id| {
            let id = i32::try_from(id).ok()?;
            Pid::from_raw(id)
        });
        pid.unwrap_or_else(|| panic!("holdfast is not running"))
    }

    /// Asks it to stop (SIGTERM) and does not wait.
    ///
    /// # Panics
    /// If it is not running.
    pub fn terminate(&self) {
        kill_process(self.pid(), Signal::TERM).unwrap_or_else(|error| panic!("no signal: {error}"));
    }

    /// Waits until it has ended by itself.
    ///
    /// # Panics
    /// If it is not running, or has not ended within 60 s.
    pub async fn ended(&mut self) -> ExitStatus {
        let mut child = self.child.take().unwrap_or_else(|| panic!("holdfast is not running"));
        match timeout(3 * PATIENCE, child.wait()).await {
            Ok(Ok(status)) => status,
            _ => panic!("holdfast does not end; it said:\n{}", self.stderr()),
        }
    }

    /// Starts it on the same data and the same port, and waits until it is ready.
    ///
    /// # Panics
    /// If it does not, with what it said on standard error.
    pub async fn restart(&mut self) {
        self.kill().await;
        let mut command = self.start.command(self.address, &self.data(), self.folder.path());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("{}: {error}", binary().display()));
        if let Some(stderr) = child.stderr.take().filter(|_| !self.start.is_unheard) {
            tokio::spawn(collect(stderr, Arc::clone(&self.stderr)));
        }
        let stdout = child.stdout.take();
        self.child = Some(child);
        let line = match stdout {
            Some(stdout) => timeout(PATIENCE, first_line(stdout)).await.ok().flatten(),
            None => None,
        };
        let address = line.as_deref().and_then(listening_on);
        self.address = address.unwrap_or_else(|| {
            panic!("holdfast does not start: it printed {line:?} and said:\n{}", self.stderr())
        });
        self.ready().await;
    }

    /// Waits until the journal is classified: until then everything but health is “starting”.
    async fn ready(&self) {
        let ready = async {
            let readyz = Request::new(self.address, "GET", "/readyz");
            while !readyz.send().await.is_ok_and(|answer| answer.status() == 200) {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        let ready = timeout(PATIENCE, ready).await;
        assert!(ready.is_ok(), "holdfast is never ready; it said:\n{}", self.stderr());
    }
}

impl Drop for Holdfast {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("holdfast said:\n{}", self.stderr());
        }
    }
}

/// The binary under test.
///
/// # Panics
/// If `HOLDFAST_BIN` does not name one.
pub fn binary() -> PathBuf {
    match std::env::var_os("HOLDFAST_BIN").map(PathBuf::from) {
        Some(path) if Path::is_file(&path) => path,
        _ => panic!("HOLDFAST_BIN must name the holdfast binary to test; `cargo xtask test` does"),
    }
}

/// Reads the address from `listening on http://ADDR:PORT/`.
fn listening_on(line: &str) -> Option<SocketAddr> {
    line.strip_prefix("listening on http://")?.strip_suffix('/')?.parse().ok()
}

async fn first_line(stdout: impl AsyncRead + Unpin + Send + 'static) -> Option<String> {
    let mut lines = BufReader::new(stdout).lines();
    let line = lines.next_line().await.ok().flatten();
    // Anything more it prints must not fill the pipe.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    line
}

async fn collect(mut stderr: impl AsyncRead + Unpin, said: Arc<Mutex<String>>) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut bytes).await {
        let text = String::from_utf8_lossy(bytes.get(..count).unwrap_or_default());
        said.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_promised_line_gives_an_address() {
        let address = SocketAddr::from(([127, 0, 0, 1], 8787));
        assert_eq!(listening_on("listening on http://127.0.0.1:8787/"), Some(address));
        assert_eq!(listening_on("Listening on http://127.0.0.1:8787/"), None);
        assert_eq!(listening_on("listening on http://127.0.0.1:8787"), None);
    }
}
