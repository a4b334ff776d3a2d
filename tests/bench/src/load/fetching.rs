//! Fetching as fast as replies come.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;

use super::Seen;
use super::connection::{Connection, Reply, get};
use crate::arguments::Load;
use crate::failure::{Failure, Result};
use crate::ids;

pub(super) async fn run(load: &Load) -> Result<Seen> {
    let begun = Instant::now();
    let end = begun + Duration::from_millis(load.millis);
    let requests = requests(load);
    let clients = try_join_all((0..load.clients).map(|_| client(load, &requests, end))).await?;
    let seconds = begun.elapsed().as_secs_f64();
    let body = clients.iter().map(|(_, body)| *body).max().unwrap_or_default();
    Seen::of(clients.into_iter().flat_map(|(times, _)| times).collect(), seconds, body)
}

/// The most requests that are prepared; beyond them, one is as random as the next.
const PREPARED: u64 = 20_000;

/// What is fetched: one path, or asks of a made archive at random.
pub(super) fn requests(load: &Load) -> Vec<Vec<u8>> {
    let lookup = |ask| get(&ids::lookup(ask, load.unkept), None);
    match &load.path {
        Some(path) => vec![get(path, None)],
        None if load.asks <= PREPARED => (0..load.asks).map(lookup).collect(),
        None => (0..PREPARED).map(|_| lookup(fastrand::u64(..load.asks))).collect(),
    }
}

async fn client(load: &Load, requests: &[Vec<u8>], end: Instant) -> Result<(Vec<f64>, usize)> {
    let mut connection = Connection::open(load.address).await?;
    let (mut times, mut body) = (Vec::new(), 0);
    while let Some(request) = fastrand::choice(requests) {
        let begun = Instant::now();
        if begun >= end {
            break;
        }
        body = check(&connection.exchange(request).await?)?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    Ok((times, body))
}

/// The size of the reply, which must be what was asked for.
pub(super) fn check(reply: &Reply<'_>) -> Result<usize> {
    if reply.status == 200 {
        return Ok(reply.body.len());
    }
    let body = String::from_utf8_lossy(reply.body);
    Err(Failure::new(format!("a fetch got {}: {body}", reply.status)))
}
