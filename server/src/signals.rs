//! The signals that a process of Holdfast heeds. Not here: what it does about them.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask a process to end. Must be made in a runtime with I/O.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Heard so that it does not kill: a limit on the size of files is then a write that fails, which
    /// whoever writes knows how to live with.
    _file_too_large: Signal,
}

impl Signals {
    /// Heeds them from now on.
    ///
    /// # Errors
    /// If the operating system does not allow it.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _file_too_large: signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
        })
    }

    /// Resolves when the process is asked to end.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
