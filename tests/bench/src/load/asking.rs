//! Asking: each client asks, waits for the outcome, and asks again.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use uuid::Uuid;

use super::Seen;
use super::connection::{Connection, post};
use crate::arguments::Load;
use crate::failure::{Failure, Result};
use crate::{archive, ids};

pub(super) async fn run(load: &Load) -> Result<Seen> {
    let begun = Instant::now();
    let end = begun + Duration::from_millis(load.millis);
    let clients = (0..load.clients).map(|_| client(load, end));
    let clients = try_join_all(clients).await?;
    let seconds = begun.elapsed().as_secs_f64();
    let body = clients.iter().map(|(_, body)| *body).max().unwrap_or_default();
    Seen::of(clients.into_iter().flat_map(|(times, _)| times).collect(), seconds, body)
}

async fn client(load: &Load, end: Instant) -> Result<(Vec<f64>, usize)> {
    let mut connection = Connection::open(load.address).await?;
    let (mut times, mut body) = (Vec::new(), 0);
    let mut conversation = Uuid::nil();
    for turn in 0.. {
        if turn % ids::TURNS == 0 {
            conversation = ids::fresh();
        }
        let begun = Instant::now();
        if begun >= end {
            break;
        }
        body = ask(&mut connection, conversation, turn).await?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    Ok((times, body))
}

/// Asks one question and returns the size of the reply, which must be the completed outcome.
async fn ask(connection: &mut Connection, conversation: Uuid, turn: u64) -> Result<usize> {
    let (request, question) = (ids::fresh(), archive::question(turn));
    let body = format!(
        r#"{{"request_id":"{request}","conversation_id":"{conversation}","question":"{question}"}}"#
    );
    let reply = connection.exchange(&post("/api/v1/ask", &body, None)).await?;
    let outcome: serde_json::Value = serde_json::from_slice(reply.body).unwrap_or_default();
    let word = |name: &str| outcome.get(name).and_then(serde_json::Value::as_str);
    let is_its_own = word("request_id") == Some(&*request.to_string());
    if reply.status == 200 && is_its_own && word("status") == Some("completed") {
        return Ok(reply.body.len());
    }
    let body = String::from_utf8_lossy(reply.body);
    Err(Failure::new(format!("an ask got {}: {body}", reply.status)))
}
