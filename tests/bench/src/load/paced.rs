//! Fetching at a set pace. A reply that is late makes the next request late, not rare: its time counts
//! from when it was due, so that one slow reply is seen as often as clients would have met it.
//!
//! Threads, because a runtime's timers are coarser than what is measured.

use std::thread;
use std::time::{Duration, Instant};

use super::Seen;
use super::connection::Blocking;
use super::fetching::{check, requests};
use crate::arguments::Load;
use crate::failure::{Failure, Result};

pub(super) fn run(load: &Load) -> Result<Seen> {
    let requests = requests(load);
    let clients = u32::try_from(load.clients).unwrap_or(u32::MAX);
    let pace = Duration::from_secs(1) * clients / load.rate.unwrap_or(1).max(1);
    let begun = Instant::now();
    let end = begun + Duration::from_millis(load.millis);
    let clients: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                // Evenly apart from one another.
                let first = begun + pace * client / clients;
                let requests = &requests;
                scope.spawn(move || keep_pace(load, requests, first, pace, end))
            })
            .collect();
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(Failure::new("a client panicked"))));
        joined.collect::<Result<_>>()
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let body = clients.iter().map(|(_, body)| *body).max().unwrap_or_default();
    Seen::of(clients.into_iter().flat_map(|(times, _)| times).collect(), seconds, body)
}

fn keep_pace(
    load: &Load,
    requests: &[Vec<u8>],
    first: Instant,
    pace: Duration,
    end: Instant,
) -> Result<(Vec<f64>, usize)> {
    let mut connection = Blocking::open(load.address)?;
    let (mut times, mut body) = (Vec::new(), 0);
    let mut due = first;
    while due < end
        && let Some(request) = fastrand::choice(requests)
    {
        let early = due.saturating_duration_since(Instant::now());
        // Waking late is this client's fault; being held up by the reply before is the server's.
        let begun = if early.is_zero() {
            due
        } else {
            thread::sleep(early);
            Instant::now()
        };
        body = check(&connection.exchange(request)?)?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
        due += pace;
    }
    Ok((times, body))
}
