//! What drives the writer, and how its groups are gathered.
//!
//! A sync of the disk costs the same for one command as for a hundred. While the writer syncs one
//! group the next one gathers; where many ask at once it then waits a moment longer, for as long as
//! more keep coming and never longer than the group before took to be written. Where nobody else is
//! about, there is nothing to wait for: a command alone is written at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::writer::{Command, Writer};

/// The most commands in one group.
const GROUP: usize = 512;
/// So many share a sync so well that to wait for more costs more than it saves.
const ENOUGH: usize = 24;
/// The longest that a group is kept open for others to join.
const PATIENCE_MOST: Duration = Duration::from_millis(1);
/// How long nobody may come before it is closed.
const STALL: Duration = Duration::from_micros(60);
/// How soon a disk that failed is tried again, where nothing else is to be written.
const AGAIN: Duration = Duration::from_millis(250);

/// What drives the pump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// A thread of its own; while it syncs one group, the next one gathers.
    Thread,
    /// A task on the current runtime, which it blocks: for simulations, where order must not depend
    /// on threads.
    Task,
}

/// The way to a driven writer.
pub(super) struct Driven {
    pub(super) commands: mpsc::Sender<Box<dyn Command>>,
    /// Resolves when the writer has ended and its lock is released.
    pub(super) ended: oneshot::Receiver<()>,
    /// Set to let the commands that wait go unwritten.
    pub(super) abandoned: Arc<AtomicBool>,
}

impl Drive {
    pub(super) fn start(self, mut writer: Writer) -> std::io::Result<Driven> {
        let (commands, mut queue) = mpsc::channel(GROUP);
        let (over, ended) = oneshot::channel();
        let abandoned = Arc::new(AtomicBool::new(false));
        let is_abandoned = Arc::clone(&abandoned);
        let mut write = move |queue: &Queue, group| {
            let abandoned = || is_abandoned.load(Ordering::Acquire);
            // A fault in the pump itself fails one group, not the writing of all others for ever.
            if !abandoned() && catch_unwind(AssertUnwindSafe(|| writer.pump(group))).is_err() {
                writer.be_in_doubt();
            }
            if queue.is_empty() && writer.owes() && !writer.is_in_doubt() && !abandoned() {
                writer.pump(Vec::new());
            }
            writer.is_in_doubt() && !abandoned()
        };
        match self {
            Self::Thread => {
                thread::Builder::new().name("journal".to_owned()).spawn(move || {
                    let mut company = Company::default();
                    let mut in_doubt = false;
                    while let Some(mut group) = next(&mut queue, in_doubt) {
                        drain(&mut queue, &mut group);
                        company.wait(&mut queue, &mut group);
                        let (begun, commands) = (Instant::now(), group.len());
                        in_doubt = write(&queue, group);
                        company.remember(commands, begun.elapsed());
                    }
                    drop(write);
                    let _ = over.send(());
                })?;
            }
            Self::Task => {
                tokio::spawn(async move {
                    let mut in_doubt = false;
                    loop {
                        let next = if in_doubt {
                            timeout(AGAIN, queue.recv()).await
                        } else {
                            Ok(queue.recv().await)
                        };
                        let mut group = match next {
                            Ok(Some(first)) => vec![first],
                            Ok(None) => break,
                            Err(_) => Group::new(),
                        };
                        drain(&mut queue, &mut group);
                        in_doubt = write(&queue, group);
                    }
                    drop(write);
                    let _ = over.send(());
                });
            }
        }
        Ok(Driven { commands, ended, abandoned })
    }
}

type Queue = mpsc::Receiver<Box<dyn Command>>;
type Group = Vec<Box<dyn Command>>;

/// The beginning of the next group: its first command, or nothing where it is time to try the disk
/// again. `None`: nobody will come any more.
fn next(queue: &mut Queue, in_doubt: bool) -> Option<Group> {
    if !in_doubt {
        return queue.blocking_recv().map(|first| vec![first]);
    }
    let begun = Instant::now();
    loop {
        match queue.try_recv() {
            Ok(first) => return Some(vec![first]),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) if begun.elapsed() >= AGAIN => return Some(Group::new()),
            Err(TryRecvError::Empty) => thread::sleep(AGAIN / 25),
        }
    }
}

/// Adds what has come, up to a whole group.
fn drain(queue: &mut Queue, group: &mut Group) {
    while group.len() < GROUP
        && let Ok(next) = queue.try_recv()
    {
        group.push(next);
    }
}

/// Whether others are about who may join a group, and how long it pays to wait for them.
#[derive(Debug, Default)]
struct Company {
    /// How many commands the group before had.
    last: usize,
    patience: Duration,
}

impl Company {
    /// Keeps a group open while others keep coming.
    fn wait(&self, queue: &mut Queue, group: &mut Group) {
        if self.last.max(group.len()) < 2 {
            return;
        }
        let begun = Instant::now();
        while group.len() < ENOUGH && begun.elapsed() < self.patience {
            let before = group.len();
            thread::sleep(STALL);
            drain(queue, group);
            if group.len() == before {
                break;
            }
        }
    }

    fn remember(&mut self, commands: usize, took: Duration) {
        self.last = commands;
        self.patience = took.min(PATIENCE_MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::super::writer::command;
    use super::*;

    /// A group of one, and another command that is about to join it.
    fn one_and_another() -> (Queue, Group) {
        let (commands, queue) = mpsc::channel(GROUP);
        let of = || command(|_| Ok(())).0;
        assert!(commands.try_send(of()).is_ok());
        (queue, vec![of()])
    }

    #[test]
    fn a_command_alone_does_not_wait_for_company() {
        let (mut queue, mut group) = one_and_another();
        let company = Company { last: 1, patience: Duration::from_hours(1) };
        company.wait(&mut queue, &mut group);
        assert_eq!(group.len(), 1);
    }

    #[test]
    fn where_there_was_company_a_group_waits_until_nobody_comes() {
        let (mut queue, mut group) = one_and_another();
        let company = Company { last: 2, patience: Duration::from_hours(1) };
        company.wait(&mut queue, &mut group);
        assert_eq!(group.len(), 2);
    }

    #[test]
    fn a_group_waits_no_longer_than_the_one_before_took() {
        let mut company = Company::default();
        company.remember(9, Duration::ZERO);
        let (mut queue, mut group) = one_and_another();
        company.wait(&mut queue, &mut group);
        assert_eq!(group.len(), 1);
        company.remember(9, Duration::from_hours(1));
        assert_eq!(company.patience, PATIENCE_MOST);
    }
}
