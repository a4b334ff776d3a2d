//! Accepting connections, and ending them.

use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// How long a connection may stay without a whole request head, idle or in the middle of one.
const HEAD: Duration = Duration::from_secs(25);
/// How much of a reply waits for a client that does not read, and how long a request head may be, about,
/// in bytes.
const BUFFER: usize = 64 * 1024;
/// The same in the system's hands, which would else take megabytes for each who does not read.
const SEND_BUFFER: usize = 256 * 1024;
/// How long to wait when the system has no more file descriptors.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// Serves connections until `stopping`; then takes no more, lets open exchanges end, and returns.
pub async fn serve(listener: TcpListener, router: Router, mut stopping: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // An error means that the process ends without a word: all the same.
            _ = stopping.wait_for(|stop| *stop) => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(connection(stream, router.clone(), stopping.clone()));
            }
            Err(error) => {
                // The peer may have left already; or there are too many connections.
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(EXHAUSTED).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn connection(stream: TcpStream, router: Router, mut stopping: watch::Receiver<bool>) {
    // Replies are written whole: there is nothing to gather. A failure only makes them slower.
    let _ = stream.set_nodelay(true);
    // A failure costs memory, and only with many who do not read.
    let _ = set_socket_send_buffer_size(&stream, SEND_BUFFER);
    // Pinned where it is made: moved, it would be held twice as long as it lasts.
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(BUFFER)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
    );
    let stop = async { _ = stopping.wait_for(|stop| *stop).await };
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = stop => None,
    };
    let ended = if let Some(ended) = ended {
        ended
    } else {
        connection.as_mut().graceful_shutdown();
        connection.await
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}
