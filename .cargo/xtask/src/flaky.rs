//! `run --flaky`: Holdfast behind a line that fails, so that anyone can watch an answer being cut
//! off and recovered. The line and the slow model server are tools of the tests; this starts them
//! in order, says what to try, and stops all of them together.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::failure::{Context as _, Failure, Result};
use crate::workspace::Workspace;

/// Where the page is opened; `--listen` among the flags for `serve` moves it.
const LISTEN: &str = "127.0.0.1:8787";

/// Runs until Ctrl-C, or until one of the parts ends.
pub(crate) fn run(
    workspace: &Workspace,
    [holdfast, flaky]: &[PathBuf; 2],
    serve: &[String],
) -> Result<()> {
    let (stop, stopped) = mpsc::channel();
    ctrlc::set_handler(move || {
        // Nobody listens any more only when this is ending anyway.
        let _ = stop.send(());
    })
    .doing("listen for Ctrl-C")?;
    let flags = Flags::new(serve);
    let data = Scratch::new()?;

    let mut model = workspace.command(flaky);
    model.args(["--mock", "127.0.0.1:0"]);
    let (mut model, model_url) = start(&mut model, "the slow model server", "mock provider on ")?;
    let mut server = workspace.command(holdfast);
    server.args(["serve", "--listen", "127.0.0.1:0"]).args(&flags.others);
    if !flags.names_data {
        server.arg("--data").arg(data.path());
    }
    if !flags.names_provider {
        server.args(["--provider", "openai", "--model", "slow", "--provider-url", &model_url]);
    }
    let (mut server, upstream) = start(&mut server, "Holdfast", "listening on ")?;
    let mut line = workspace.command(flaky);
    line.args(["--upstream", &upstream, "--listen", &flags.listen]);
    let (mut line, page) = start(&mut line, "the bad line", "listening on ")?;

    println!("{}", what_to_try(&page));
    loop {
        match stopped.recv_timeout(Duration::from_millis(200)) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        for part in [&mut model, &mut server, &mut line] {
            part.check()?;
        }
    }
}

fn what_to_try(page: &str) -> String {
    format!(
        "
Holdfast is behind a bad line at {page} (Ctrl-C stops everything).
Try this:
  1. Open the address and ask anything. The line is cut when the question has arrived, and again in
     mid answer; this terminal says when.
  2. Watch the page: it says that the connection is lost, asks what became of your question, and
     shows the whole answer, although its connection never lasted that long.
  3. Ask again, and reload the page or close the tab while the answer is being written.
"
    )
}

/// The flags for `serve`, as far as they matter here.
#[derive(Debug, PartialEq, Eq)]
struct Flags {
    listen: String,
    names_data: bool,
    names_provider: bool,
    others: Vec<String>,
}

impl Flags {
    fn new(serve: &[String]) -> Self {
        let mut flags = Self {
            listen: LISTEN.to_owned(),
            names_data: false,
            names_provider: false,
            others: Vec::new(),
        };
        let mut serve = serve.iter();
        while let Some(flag) = serve.next() {
            let name = flag.split('=').next().unwrap_or(flag);
            flags.names_data |= name == "--data";
            flags.names_provider |= name == "--provider";
            if let Some(address) = flag.strip_prefix("--listen=") {
                address.clone_into(&mut flags.listen);
            } else if flag == "--listen" {
                // Without an address the line says what is wrong, as serve would.
                flags.listen = serve.next().cloned().unwrap_or_default();
            } else {
                flags.others.push(flag.clone());
            }
        }
        flags
    }
}

/// A part that runs until this is dropped.
#[derive(Debug)]
struct Part {
    name: &'static str,
    child: Child,
}

impl Part {
    fn check(&mut self) -> Result<()> {
        match self.child.try_wait().doing("see whether all parts still run")? {
            None => Ok(()),
            Some(status) => Err(Failure::new(format!("{} ended: {status}", self.name))),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It may have ended by itself; there is nobody left to tell of anything else.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a part and returns what its line that begins with `prefix` says next.
fn start(command: &mut Command, name: &'static str, prefix: &str) -> Result<(Part, String)> {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .doing(format_args!("start {name}"))?;
    let mut part = Part { name, child };
    let output = part.child.stdout.take().map(BufReader::new);
    let mut output = output.ok_or_else(|| Failure::new(format!("{name} has no output")))?;
    let mut line = String::new();
    while output.read_line(&mut line).doing(format_args!("start {name}"))? > 0 {
        if let Some(address) = line.trim_end().strip_prefix(prefix) {
            let address = address.to_owned();
            drain(output);
            return Ok((part, address));
        }
        line.clear();
    }
    part.child.wait().doing(format_args!("start {name}"))?;
    Err(Failure::new(format!("{name} did not start; what it said is above")))
}

/// Reads on, so that a part never waits for room in a pipe.
fn drain(mut output: impl Read + Send + 'static) {
    std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
}

/// An archive to play with, gone at the end.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("holdfast-flaky-{}", std::process::id()));
        fs::create_dir_all(&dir).doing(format_args!("create {}", dir.display()))?;
        Ok(Self(dir))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover in the temporary folder harms nobody.
        let _ = fs::remove_dir_all(self.path());
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn flags(serve: &[&str]) -> Flags {
        Flags::new(&serve.iter().map(|&flag| flag.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn moves_the_address_to_the_line() {
        assert_eq!(flags(&[]).listen, LISTEN);
        for serve in [
            &["--listen", "127.0.0.1:0", "--drain", "1"][..],
            &["--drain", "1", "--listen=127.0.0.1:0"],
        ] {
            let flags = flags(serve);
            assert_eq!(flags.listen, "127.0.0.1:0");
            assert_eq!(flags.others, ["--drain", "1"]);
        }
    }

    #[test]
    fn leaves_what_the_user_named() {
        assert!(!flags(&["--provider-url", "x"]).names_provider);
        assert!(flags(&["--provider", "notes"]).names_provider);
        assert!(flags(&["--provider=notes"]).names_provider);
        assert!(flags(&["--data", "d"]).names_data);
        assert_eq!(flags(&["--data", "d"]).others, ["--data", "d"]);
    }

    #[test]
    fn a_part_that_does_not_start_is_one_sentence() {
        let failure = start(Command::new("sh").args(["-c", "exit 2"]), "it", "listening on ");
        assert_eq!(failure.unwrap_err().to_string(), "it did not start; what it said is above");
        let script = "echo hello; echo listening on http://here/; exec sleep 60";
        let (mut part, address) =
            start(Command::new("sh").args(["-c", script]), "it", "listening on ").unwrap();
        assert_eq!(address, "http://here/");
        assert!(part.check().is_ok());
    }
}
