//! The process of `chromedriver`, on an ephemeral port.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::SEEN_WITHIN;

/// A running chromedriver. It is killed when dropped.
#[derive(Debug)]
pub(super) struct Driver {
    port: u16,
    _child: Child,
}

impl Driver {
    pub(super) async fn start() -> Driver {
        let mut child = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| {
                panic!("no chromedriver (Debian: chromium and chromium-driver): {error}")
            });
        let stdout = child.stdout.take();
        let mut lines =
            BufReader::new(stdout.unwrap_or_else(|| unreachable!("piped above"))).lines();
        let port = timeout(SEEN_WITHIN, async {
            while let Ok(Some(line)) = lines.next_line().await {
                let port = line
                    .split_once("started successfully on port ")
                    .and_then(|(_, port)| port.trim_end_matches('.').parse().ok());
                if port.is_some() {
                    return port;
                }
            }
            None
        });
        let port = port.await.ok().flatten();
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let port = port.unwrap_or_else(|| panic!("chromedriver names no port"));
        Driver { port, _child: child }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

/// The main process of a Chromium. It is killed when dropped, and its others end with it; killing
/// its driver would orphan it.
#[derive(Debug)]
pub(super) struct Chromium(pub(super) Pid);

impl Drop for Chromium {
    fn drop(&mut self) {
        // After a session's proper end it is gone already.
        let _ = kill_process(self.0, Signal::KILL);
    }
}
