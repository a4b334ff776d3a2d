//! The processes that `run` starts: each is this program in another part, and ends with its handle.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::arguments::Kind;
use crate::failure::{Context as _, Failure, Result};
use crate::load::{Seen, Waiting};
use crate::server::Used;

/// How long a child that was told to end may take.
const GOODBYE: Duration = Duration::from_secs(10);

/// A child that talks in lines.
struct Talker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Talker {
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .doing("start a part of the benchmark")?;
        let input = child.stdin.take();
        let output = child.stdout.take().doing("listen to a part of the benchmark")?;
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.output.read_line(&mut line).doing("listen to a part of the benchmark")? {
            0 => Err(Failure::new("a part of the benchmark ended early; it has said why above")),
            _ => Ok(line),
        }
    }

    fn json<T: DeserializeOwned>(&mut self) -> Result<T> {
        serde_json::from_str(&self.line()?).doing("understand a part of the benchmark")
    }

    fn ask<T: DeserializeOwned>(&mut self) -> Result<T> {
        let input = self.input.as_mut().doing("talk to a part that was told to end")?;
        input.write_all(b"\n").doing("talk to a part of the benchmark")?;
        self.json()
    }
}

impl Drop for Talker {
    fn drop(&mut self) {
        drop(self.input.take());
        let begun = Instant::now();
        while begun.elapsed() < GOODBYE {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                _ => return,
            }
        }
        // It has had its time; a failure means that it is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn this_program() -> Result<Command> {
    Ok(Command::new(std::env::current_exe().doing("find this program")?))
}

/// A server that is measured.
pub(crate) struct Server {
    talker: Talker,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts one, and returns once it accepts connections.
    pub(crate) fn start<I>(kind: Kind, flags: I) -> Result<Self>
    where
        I: IntoIterator<Item = OsString>,
    {
        let kind = match kind {
            Kind::Holdfast => "holdfast",
            Kind::Bare => "bare",
            Kind::AxumServe => "axum-serve",
            Kind::Hyper => "hyper",
        };
        let mut command = this_program()?;
        command.args(["serve", "--kind", kind]).args(flags);
        let mut talker = Talker::start(&mut command)?;
        let address = talker.line()?.trim().parse().doing("learn where a server listens")?;
        Ok(Self { talker, address })
    }

    /// What it has used so far.
    pub(crate) fn used(&mut self) -> Result<Used> {
        self.talker.ask()
    }
}

/// Those who ask a server, in a process of their own.
pub(crate) struct Load<'a> {
    address: SocketAddr,
    work: &'a str,
    flags: Vec<String>,
}

impl<'a> Load<'a> {
    pub(crate) fn of(server: &Server, work: &'a str) -> Self {
        Self { address: server.address, work, flags: Vec::new() }
    }

    pub(crate) fn with(mut self, flag: &str, value: &dyn Display) -> Self {
        self.flags.extend([flag.to_owned(), value.to_string()]);
        self
    }

    pub(crate) fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// Runs them to their end.
    pub(crate) fn run(self) -> Result<Seen> {
        self.start()?.json()
    }

    /// Starts those who wait, and returns once all of them do.
    pub(crate) fn wait(self) -> Result<Waiters> {
        let mut talker = self.start()?;
        let Waiting { .. } = talker.json()?;
        Ok(Waiters { _talker: talker })
    }

    fn start(self) -> Result<Talker> {
        let mut command = this_program()?;
        let address = self.address.to_string();
        command.args(["load", "--work", self.work, "--address", &address]).args(self.flags);
        Talker::start(&mut command)
    }
}

/// Clients that wait until this is dropped.
pub(crate) struct Waiters {
    _talker: Talker,
}
