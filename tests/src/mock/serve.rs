//! The mock provider's side of a connection: read a call, log it, play its script.
//!
//! One call a connection: what is written and who hung up can then be told apart without doubt.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::call::question_of;
use super::script::event_bytes;
use super::{Call, Ended, Script, Shared, Step};
use crate::wire::{Connection, Head};

/// Accepts until the provider is dropped; its connections end with it.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            // A client that leaves before its request is whole has made no call.
            let _ = serve(Connection::new(socket), &shared).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(mut connection: Connection, shared: &Shared) -> io::Result<()> {
    let Some(head) = connection.request_head().await? else {
        return Ok(());
    };
    let body = connection.body(&head, false);
    let body = connection.whole(body).await?;
    match (head.method.as_str(), head.path()) {
        ("GET", "/v1/models") => {
            let list = json!({"object": "list", "data": [
                {"id": "mock", "object": "model", "created": 1_700_000_000, "owned_by": "tests"},
            ]});
            reply(&mut connection, 200, &[], list.to_string().as_bytes()).await?;
            connection.close().await;
            Ok(())
        }
        ("POST", "/v1/chat/completions") => {
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let question = question_of(&body);
            let script = if body.get("stream") == Some(&Value::Bool(true)) {
                shared.script_for(&question)
            } else {
                Script::refuse(400, "this mock only streams")
            };
            let number = log(shared, &head, question, body);
            play(connection, shared, number, script).await;
            Ok(())
        }
        _ => {
            let number = log(shared, &head, String::new(), Value::Null);
            play(connection, shared, number, Script::refuse(404, "no such")).await;
            Ok(())
        }
    }
}

fn log(shared: &Shared, head: &Head, question: String, body: Value) -> usize {
    shared.log.push(|number| Call {
        number,
        path: head.path().to_owned(),
        key: head.header("idempotency-key").map(str::to_owned),
        question,
        body,
        headers: head.headers.clone(),
        began: Instant::now(),
        written: 0,
        ended: None,
        ended_after: None,
    })
}

async fn play(mut connection: Connection, shared: &Shared, number: usize, script: Script) {
    let mut stream = false;
    for step in script.steps {
        if matches!(step, Step::Reset) {
            note_end(shared, number, Ended::Reset);
            connection.reset();
            return;
        }
        if run(&mut connection, shared, number, &mut stream, step).await.is_err() {
            note_end(shared, number, Ended::ClientClosed);
            return;
        }
    }
    if stream && connection.send_last_chunk().await.is_err() {
        note_end(shared, number, Ended::ClientClosed);
        return;
    }
    note_end(shared, number, Ended::Played);
    connection.close().await;
}

/// Runs one step; an error means that the client has left.
async fn run(
    connection: &mut Connection,
    shared: &Shared,
    number: usize,
    stream: &mut bool,
    step: Step,
) -> io::Result<()> {
    let sends = matches!(step, Step::Head | Step::Event(_) | Step::Raw(_) | Step::Drip(..));
    if sends && !std::mem::replace(stream, true) {
        let head = Head {
            status: 200,
            headers: vec![
                ("Content-Type".into(), "text/event-stream".into()),
                ("Transfer-Encoding".into(), "chunked".into()),
                ("Connection".into(), "close".into()),
            ],
            ..Head::default()
        };
        connection.send(&head.encode()).await?;
    }
    match step {
        Step::Wait(pause) => unless_closed(connection, tokio::time::sleep(pause)).await,
        Step::Gate(name) => unless_closed(connection, shared.gates.pass(&name)).await,
        Step::Hang => unless_closed(connection, std::future::pending()).await,
        Step::Head | Step::Reset => Ok(()),
        Step::Reply(status, headers, body) => {
            reply(connection, status, &headers, &body).await?;
            note_written(shared, number, body.len());
            Ok(())
        }
        Step::Event(event) => write(connection, shared, number, &event_bytes(&event)).await,
        Step::Raw(bytes) => write(connection, shared, number, &bytes).await,
        Step::Drip(bytes, piece, pause) => {
            for piece in bytes.chunks(piece.max(1)) {
                write(connection, shared, number, piece).await?;
                unless_closed(connection, tokio::time::sleep(pause)).await?;
            }
            Ok(())
        }
    }
}

async fn write(
    connection: &mut Connection,
    shared: &Shared,
    number: usize,
    bytes: &[u8],
) -> io::Result<()> {
    connection.send_chunk(bytes).await?;
    note_written(shared, number, bytes.len());
    Ok(())
}

async fn unless_closed(
    connection: &mut Connection,
    pause: impl Future<Output = ()>,
) -> io::Result<()> {
    tokio::select! {
        () = pause => Ok(()),
        () = connection.closed() => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}

async fn reply(
    connection: &mut Connection,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
) -> io::Result<()> {
    let mut head = Head { status, headers: headers.to_vec(), ..Head::default() };
    if head.header("content-type").is_none() {
        head.set("Content-Type", "application/json");
    }
    head.set("Content-Length", &body.len().to_string());
    head.set("Connection", "close");
    let mut bytes = head.encode();
    bytes.extend_from_slice(body);
    connection.send(&bytes).await
}

fn note_written(shared: &Shared, number: usize, bytes: usize) {
    shared.log.amend(number, |call| call.written += bytes);
}

fn note_end(shared: &Shared, number: usize, ended: Ended) {
    shared.log.amend(number, |call| {
        call.ended = Some(ended);
        call.ended_after = Some(call.began.elapsed());
    });
}
