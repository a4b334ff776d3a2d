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
/// How long a client may take no byte of a reply, in milliseconds: then it counts as gone, or one that
/// has only stopped reading would be kept until it went. Who comes back looks the answer up.
#[cfg(target_os = "linux")]
const STALLED: u32 = 60_000;
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
    set_up(&stream);
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

/// What the system is told about a connection. Where it does not listen, only those are worse off who read
/// slowly or not at all.
fn set_up(stream: &TcpStream) {
    // Replies are written whole: there is nothing to gather.
    let _ = stream.set_nodelay(true);
    let _ = set_socket_send_buffer_size(stream, SEND_BUFFER);
    // It counts from the last byte that was taken, also where the client says that it has no room.
    #[cfg(target_os = "linux")]
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, STALLED);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use rustix::net::sockopt::tcp_user_timeout;

    use super::*;

    #[tokio::test]
    async fn who_takes_nothing_for_a_minute_counts_as_gone() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        set_up(&server);
        assert_eq!(tcp_user_timeout(&server).unwrap(), STALLED);
        assert!(server.nodelay().unwrap());
        drop(client);
    }
}
