//! Running child processes: shown as they are, listened to, or watched in silence with a sign of
//! life. Not here: which.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Context as _, Failure, Result};

/// How often a watched child's progress is told.
const SIGN_OF_LIFE: Duration = Duration::from_secs(20);
/// How much of a watched child's output is shown when it fails.
const TAIL: usize = 30;

/// Runs the command with its output passed through; `doing` completes “could not …”.
pub(crate) fn show(doing: &str, command: &mut Command) -> Result<()> {
    succeeded(doing, command.status().doing(format_args!("{doing} ({})", program(command)))?)
}

/// As [`show`], and hands each line of standard output to `listen` as well.
pub(crate) fn listen(
    doing: &str,
    command: &mut Command,
    mut listen: impl FnMut(&str),
) -> Result<()> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .doing(format_args!("{doing} ({})", program(command)))?;
    if let Some(output) = child.stdout.take() {
        for line in lines(output) {
            println!("{line}");
            listen(&line);
        }
    }
    succeeded(doing, child.wait().doing(doing)?)
}

/// Runs the command and returns what it wrote to standard output.
pub(crate) fn read(doing: &str, command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .doing(format_args!("{doing} ({})", program(command)))?;
    succeeded(doing, output.status)?;
    String::from_utf8(output.stdout).doing(doing)
}

/// Runs a command that takes minutes: says every 20 seconds how far it is, and shows the end of its
/// output only if it fails.
pub(crate) fn watch(doing: &str, command: &mut Command) -> Result<()> {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .doing(format_args!("{doing} ({})", program(command)))?;
    let (sender, output) = mpsc::channel();
    if let Some(stream) = child.stdout.take() {
        forward(stream, sender.clone());
    }
    if let Some(stream) = child.stderr.take() {
        forward(stream, sender.clone());
    }
    drop(sender);

    let mut progress = Progress::default();
    let mut next = started + SIGN_OF_LIFE;
    loop {
        match output.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Ok(line) => progress.see(line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if Instant::now() >= next {
            println!("   {doing}: {} s, {}", started.elapsed().as_secs(), progress.tell());
            next += SIGN_OF_LIFE;
        }
    }
    let status = child.wait().doing(doing)?;
    if !status.success() {
        for line in &progress.tail {
            eprintln!("   {line}");
        }
        if progress.is_offline() {
            return Err(Failure::new(format!(
                "could not {doing}: its sources are not reachable; connect once, later runs need no network"
            )));
        }
    }
    succeeded(doing, status)
}

fn succeeded(doing: &str, status: ExitStatus) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("could not {doing}: {status}")))
}

fn program(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn lines(stream: impl Read) -> impl Iterator<Item = String> {
    // Bytes, not text: what a child prints need not be UTF-8, and is no reason to stop listening.
    BufReader::new(stream)
        .split(b'\n')
        .map_while(std::result::Result::ok)
        .map(|line| String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned())
}

fn forward(stream: impl Read + Send + 'static, sender: mpsc::Sender<String>) {
    thread::spawn(move || {
        for line in lines(stream) {
            // Nobody listens any more only when the watching thread is gone.
            if sender.send(line).is_err() {
                break;
            }
        }
    });
}

/// What a watched child has said so far.
#[derive(Debug, Default)]
struct Progress {
    compiled: usize,
    tail: VecDeque<String>,
}

impl Progress {
    fn see(&mut self, line: String) {
        if line.trim_start().starts_with("Compiling ") {
            self.compiled += 1;
        }
        if !line.trim().is_empty() {
            self.tail.push_back(line);
        }
        if self.tail.len() > TAIL {
            self.tail.pop_front();
        }
    }

    fn tell(&self) -> String {
        let last = self.tail.back().map_or("nothing said yet", |line| line.trim());
        if self.compiled == 0 {
            return last.to_owned();
        }
        format!("{last} ({})", self.compiled)
    }

    /// Whether the output reads like cargo's, rustup's or apt's without a network.
    fn is_offline(&self) -> bool {
        const SIGNS: [&str; 6] = [
            "Could not resolve",
            "Couldn't resolve",
            "Temporary failure resolving",
            "failed to download",
            "failed to query replaced source registry",
            "error sending request",
        ];
        self.tail.iter().any(|line| SIGNS.iter().any(|sign| line.contains(sign)))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn listens_to_every_line() {
        let mut heard = Vec::new();
        listen("listen", &mut shell("echo one; printf 'two\\377\\n'; printf three"), |line| {
            heard.push(line.to_owned());
        })
        .unwrap();
        assert_eq!(heard, ["one", "two\u{fffd}", "three"]);
    }

    #[test]
    fn a_failing_child_is_one_sentence() {
        let failure = listen("try it", &mut shell("exit 3"), |_| {}).unwrap_err();
        assert_eq!(failure.to_string(), "could not try it: exit status: 3");
        let failure = show("try it", &mut Command::new("no-such-program-here")).unwrap_err();
        let sentence = failure.to_string();
        assert!(sentence.starts_with("could not try it (no-such-program-here): "), "{sentence}");
    }

    #[test]
    fn says_when_the_network_is_missing() {
        let script = "echo 'Caused by: Could not resolve host: index.crates.io' >&2; exit 101";
        let failure = watch("install a tool", &mut shell(script)).unwrap_err();
        assert!(failure.to_string().contains("not reachable"), "{failure}");
        let failure = watch("install a tool", &mut shell("exit 101")).unwrap_err();
        assert_eq!(failure.to_string(), "could not install a tool: exit status: 101");
    }

    #[test]
    fn tells_how_far_a_build_is() {
        let mut progress = Progress::default();
        assert_eq!(progress.tell(), "nothing said yet");
        progress.see("    Updating crates.io index".to_owned());
        assert_eq!(progress.tell(), "Updating crates.io index");
        progress.see("   Compiling libc v0.2.1".to_owned());
        progress.see("   Compiling syn v2.0.1".to_owned());
        progress.see(String::new());
        assert_eq!(progress.tell(), "Compiling syn v2.0.1 (2)");
    }
}
