//! What Holdfast is measured against: servers that do nothing but reply, or wait.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use bytes::Bytes;
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::arguments::Kind;

/// How long a wait is, as the longest poll of Holdfast.
const WAIT: Duration = Duration::from_secs(25);
/// Where waiting is done.
pub(crate) const WAIT_PATH: &str = "/wait";
/// Where a reply comes at once.
pub(crate) const REPLY_PATH: &str = "/reply";

/// Serves until aborted.
pub(super) async fn serve(kind: Kind, body: usize, listener: TcpListener) {
    let body = Bytes::from(vec![b'x'; body]);
    match kind {
        Kind::Hyper => hyper(body, listener).await,
        Kind::AxumServe => _ = axum::serve(listener, router(body)).await,
        Kind::Bare | Kind::Holdfast => {
            let (_going_on, stopping) = watch::channel(false);
            holdfast::serve::connections::serve(listener, router(body), stopping).await;
        }
    }
}

fn router(body: Bytes) -> Router {
    let reply = |body: Bytes| ([(header::CONTENT_TYPE, "application/json")], body).into_response();
    let at_once = body.clone();
    Router::new().route(REPLY_PATH, get(async move || reply(at_once.clone()))).route(
        WAIT_PATH,
        get(async move || {
            sleep(WAIT).await;
            reply(body.clone())
        }),
    )
}

async fn hyper(body: Bytes, listener: TcpListener) {
    loop {
        // Whoever asks has left, or will be told by their own failure.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let body = body.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let body = body.clone();
                async move {
                    if request.uri().path() == WAIT_PATH {
                        sleep(WAIT).await;
                    }
                    Ok::<_, Infallible>(hyper::Response::new(Full::new(body)))
                }
            });
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
