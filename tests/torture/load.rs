//! Clients that keep a server busy: they ask, look, repeat, cancel and try again, and believe what they
//! are told. Not here: what goes wrong meanwhile.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;

use crate::ask::Ask;
use crate::ledger::Ledger;
use crate::talk::Talk;

/// How long answers are, in words: a question asks for one of these.
pub(crate) const WORDS: [usize; 4] = [3, 10, 40, 300];

/// Clients at work.
#[derive(Default)]
pub(crate) struct Clients(JoinSet<()>);

impl Clients {
    pub(crate) fn start(
        load: &Load,
        count: usize,
        server: &impl Talk,
        ledger: &Arc<Ledger>,
        chance: &mut Rng,
    ) -> Self {
        let mut clients = Self::default();
        for _ in 0..count {
            let ledger = Arc::clone(ledger);
            clients.0.spawn(load.clone().go_on(server.clone(), ledger, chance.fork()));
        }
        clients
    }

    /// Passes on what a client has found wrong.
    pub(crate) fn complain(&mut self) {
        while let Some(ended) = self.0.try_join_next() {
            told(ended);
        }
    }

    /// Stops them wherever they are.
    pub(crate) async fn stop(mut self) {
        self.0.abort_all();
        while let Some(ended) = self.0.join_next().await {
            told(ended);
        }
    }
}

fn told(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && let Ok(panic) = error.try_into_panic()
    {
        resume_unwind(panic);
    }
}

/// What one client does.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// Where it asks.
    pub(crate) conversations: Vec<String>,
    /// The most between two things that it does.
    pub(crate) pause: Duration,
}

impl Load {
    /// Goes on until it is stopped.
    async fn go_on(self, server: impl Talk, ledger: Arc<Ledger>, mut chance: Rng) {
        let most = u64::try_from(self.pause.as_micros()).unwrap();
        loop {
            sleep(Duration::from_micros(chance.u64(0..most))).await;
            let known = ledger.any(&mut chance);
            let (before, reply) = match (chance.u8(..10), known) {
                (0..5, _) | (_, None) => {
                    let ask = self.question(&mut chance);
                    let before = ledger.sent(&ask);
                    let brings = chance.bool();
                    let reply = match chance.u8(..8) {
                        0 => server.cancel(&ask, brings).await,
                        _ => server.ask(&ask, chance.u64(..2)).await,
                    };
                    (before, reply)
                }
                (5, Some(entry)) => {
                    let before = ledger.sent(&entry.ask);
                    let reply = server.ask(&entry.ask, 0).await;
                    (before, reply)
                }
                (6, Some(entry)) => {
                    let reply = server.cancel(&entry.ask, false).await;
                    (entry, reply)
                }
                (7, Some(entry)) => {
                    let again = entry.ask.retry(&mut chance);
                    let before = ledger.sent(&again);
                    let reply = server.ask(&again, 0).await;
                    (before, reply)
                }
                (_, Some(entry)) => {
                    let reply = server.look_up(&entry.ask, chance.u64(..3)).await;
                    (entry, reply)
                }
            };
            if let Some(reply) = reply {
                ledger.told_since(&before, reply.status, &reply.json);
            }
        }
    }

    fn question(&self, chance: &mut Rng) -> Ask {
        let conversation = chance.choice(&self.conversations).unwrap();
        let words = chance.choice(WORDS).unwrap();
        let question = format!("What is {} — ß? In {words} words.", chance.u32(..));
        Ask::new(chance, conversation, &question)
    }
}
