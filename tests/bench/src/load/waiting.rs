//! Waiting for what does not come: long polls that lie there.

use tokio::task::spawn_blocking;

use super::connection::{Connection, get, post};
use super::{Waiting, say};
use crate::arguments::Load;
use crate::failure::{Context as _, Failure, Result};
use crate::ids;

/// The longest wait there is, in seconds.
const WAIT: u32 = 25;
/// How many pending asks are waited for, each in its own conversation.
const ASKS: usize = 100;
/// How many begin at once: fewer than fit into the server's backlog.
const AT_ONCE: usize = 100;

pub(super) async fn run(load: &Load) -> Result<()> {
    let requests = match &load.path {
        Some(path) => vec![get(path, Some(WAIT))],
        None => ask(load).await?,
    };
    let mut connections = Vec::with_capacity(load.clients);
    for (client, request) in (0..load.clients).zip(requests.iter().cycle()) {
        let mut connection = Connection::open(load.address).await?;
        connection.send(request).await?;
        connections.push(connection);
        if client % AT_ONCE == AT_ONCE - 1 {
            // The server takes a breath with every whole exchange it ends.
            Connection::open(load.address).await?.exchange(&get("/healthz", None)).await?;
        }
    }
    say(&Waiting { clients: connections.len() })?;
    let ended = spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    ended.await.doing("wait for the end")?.doing("read standard input")?;
    // A reply by now would have come to somebody who waits no more.
    for connection in &connections {
        if connection.has_come() {
            return Err(Failure::new("somebody who was to wait got a reply"));
        }
    }
    Ok(())
}

/// Asks what will not be answered, and returns how to wait for it.
async fn ask(load: &Load) -> Result<Vec<Vec<u8>>> {
    let mut connection = Connection::open(load.address).await?;
    let mut waits = Vec::new();
    for _ in 0..ASKS {
        let (request, conversation) = (ids::fresh(), ids::fresh());
        let body = format!(
            r#"{{"request_id":"{request}","conversation_id":"{conversation}","question":"?"}}"#
        );
        let post = post("/api/v1/ask", &body, Some(0));
        let reply = connection.exchange(&post).await?;
        if reply.status != 202 {
            return Err(Failure::new(format!("an ask that stays under way got {}", reply.status)));
        }
        let path = format!("/api/v1/requests/{request}?conversation_id={conversation}");
        waits.push(get(&path, Some(WAIT)));
    }
    Ok(waits)
}
