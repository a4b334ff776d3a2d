//! The fault proxy's side of a connection: read one request, let its fault fall, relay the rest.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{Exchange, Fate, Fault, Reply, Route, Shared};
use crate::wire::{Connection, Head};

/// A connection that says nothing for so long is closed. Browsers open some ahead of need, and
/// would silently repeat a request that is cut on one of those.
const IDLE: Duration = Duration::from_millis(250);

/// Time for the client to take up what was relayed before the reset overtakes it.
const UPTAKE: Duration = Duration::from_millis(30);

/// As much of a reply's body as the log keeps.
const KEPT: usize = 256 * 1024;

/// Accepts until the proxy is dropped; its connections end with it.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        connections.spawn(async move { serve(Connection::new(socket), &shared).await });
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(mut client: Connection, shared: &Shared) {
    // So that a cut line is a reset wherever this function happens to be.
    client.reset_when_dropped();
    let received = tokio::select! {
        // In this order: on a line that is cut, nothing is read even if it is there.
        biased;
        () = shared.cut() => return,
        received = receive(&mut client, shared) => received,
    };
    let request = match received {
        Ok(Some(request)) => request,
        Ok(None) => return client.close().await,
        Err(_) => return,
    };
    let number = request.log(shared);
    let fate = tokio::select! {
        biased;
        () = shared.cut() => Fate::LineCut,
        fate = exchange(&mut client, shared, number, &request) => match fate {
            Ok(()) => Fate::Relayed,
            Err(fate) => fate,
        },
    };
    if fate == Fate::Relayed {
        note_end(shared, number, fate);
        client.close().await;
    } else {
        client.reset();
        note_end(shared, number, fate);
    }
}

/// A request that has arrived whole, with the fault that falls on it.
struct Request {
    route: Route,
    head: Head,
    body: Vec<u8>,
    fault: Option<Fault>,
}

async fn receive(client: &mut Connection, shared: &Shared) -> io::Result<Option<Request>> {
    shared.pass().await;
    match timeout(IDLE, client.first_byte()).await {
        Ok(Ok(true)) => {}
        Ok(Err(error)) => return Err(error),
        Ok(Ok(false)) | Err(_) => return Ok(None),
    }
    let Some(head) = client.request_head().await? else {
        return Ok(None);
    };
    let body = client.body(&head, false);
    let body = client.whole(body).await?;
    shared.pass().await;
    let route = Route::of(&head.method, head.path());
    let fault = shared.fault_for(route, &head.target, &body);
    Ok(Some(Request { route, head, body, fault }))
}

impl Request {
    fn log(&self, shared: &Shared) -> usize {
        shared.log.push(|number| Exchange {
            number,
            route: self.route,
            method: self.head.method.clone(),
            target: self.head.target.clone(),
            headers: self.head.headers.clone(),
            body: String::from_utf8_lossy(&self.body).into_owned(),
            began: Instant::now(),
            fault: self.fault.clone(),
            forwarded: false,
            upstream_status: None,
            status: None,
            relayed: Vec::new(),
            ended: None,
            ended_after: None,
        })
    }

    /// What Holdfast is sent: the same request, on a connection of its own.
    fn bytes(&self) -> Vec<u8> {
        let mut head = self.head.clone();
        head.remove("keep-alive");
        head.remove("transfer-encoding");
        head.set("Connection", "close");
        if !self.body.is_empty() {
            head.set("Content-Length", &self.body.len().to_string());
        }
        let mut bytes = head.encode();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

async fn exchange(
    client: &mut Connection,
    shared: &Shared,
    number: usize,
    request: &Request,
) -> Result<(), Fate> {
    match &request.fault {
        Some(Fault::CutBeforeForward) => return Err(Fate::Cut),
        Some(Fault::Instead(reply)) => return make_up(client, shared, number, reply).await,
        Some(Fault::Silence(pause)) => {
            unless_left(client, sleep(*pause)).await?;
            return Err(Fate::Cut);
        }
        Some(Fault::DelayRequest(pause)) => unless_left(client, sleep(*pause)).await?,
        Some(Fault::HoldRequest(gate)) => unless_left(client, shared.gates.pass(gate)).await?,
        Some(Fault::LateRequest(gate)) => shared.gates.pass(gate).await,
        _ => {}
    }
    let bytes = request.bytes();
    let mut upstream = connect(shared.upstream()).await?;
    if request.fault == Some(Fault::CutInRequest) {
        let missing = (request.body.len() / 2).max(1);
        let part = bytes.len() - missing;
        upstream.reset_when_dropped();
        send(&mut upstream, bytes.get(..part).unwrap_or_default()).await?;
        return Err(Fate::Cut);
    }
    send(&mut upstream, &bytes).await?;
    shared.log.amend(number, |exchange| exchange.forwarded = true);
    match request.fault {
        Some(Fault::CutAfterForward) => {
            upstream.reset();
            return Err(Fate::Cut);
        }
        Some(Fault::Duplicate) => _ = tokio::spawn(twin(shared.upstream(), bytes)),
        _ => {}
    }
    let reply = match request.fault {
        Some(Fault::LateRequest(_)) => upstream.reply_head().await,
        _ => unless_left(client, upstream.reply_head()).await?,
    };
    let reply = reply.map_err(|_| Fate::UpstreamLeft)?;
    shared.log.amend(number, |exchange| {
        exchange.upstream_status = Some(reply.status);
    });
    unless_left(client, shared.pass()).await?;
    match &request.fault {
        Some(Fault::CutBeforeReply) => return Err(Fate::Cut),
        Some(Fault::SilenceAfterForward(pause)) => {
            unless_left(client, sleep(*pause)).await?;
            return Err(Fate::Cut);
        }
        Some(Fault::DelayReply(pause)) => unless_left(client, sleep(*pause)).await?,
        Some(Fault::HoldReply(gate)) => unless_left(client, shared.gates.pass(gate)).await?,
        Some(Fault::Replace(made_up)) => return make_up(client, shared, number, made_up).await,
        _ => {}
    }
    let headless = request.head.method == "HEAD";
    match request.fault {
        Some(Fault::Truncate(most)) => {
            relay_whole(client, &mut upstream, shared, number, reply, most).await
        }
        Some(Fault::Blob) => {
            relay_whole(client, &mut upstream, shared, number, reply, usize::MAX).await
        }
        Some(Fault::HeadThenBlob) => {
            relay_held_back(client, &mut upstream, shared, number, reply).await
        }
        _ => relay(client, &mut upstream, shared, number, reply, request, headless).await,
    }
}

/// Relays a reply as it comes.
async fn relay(
    client: &mut Connection,
    upstream: &mut Connection,
    shared: &Shared,
    number: usize,
    mut reply: Head,
    request: &Request,
    headless: bool,
) -> Result<(), Fate> {
    let mut body = upstream.body(&reply, headless);
    let (most, endless) = match request.fault {
        Some(Fault::CutBody(most)) => (most, true),
        Some(Fault::EndBody(most)) => (most, false),
        Some(Fault::CutBeforeEnd) => (usize::MAX, true),
        _ => (usize::MAX, false),
    };
    let pause = match request.fault {
        Some(Fault::Drip(pause)) => Some(pause),
        _ => None,
    };
    // Without its last chunk, a chunked body has visibly no end, wherever it is cut; and with it, it
    // has one anywhere.
    let chunked = endless || most < usize::MAX || body.length().is_none();
    if chunked {
        reply.remove("content-length");
        reply.set("Transfer-Encoding", "chunked");
    }
    send_head(client, shared, number, reply).await?;
    let mut relayed = 0;
    loop {
        let piece = unless_left(client, upstream.piece(&mut body))
            .await?
            .map_err(|_| Fate::UpstreamLeft)?;
        unless_left(client, shared.pass()).await?;
        let Some(mut piece) = piece else { break };
        piece.truncate(most - relayed);
        relayed += piece.len();
        note_relayed(shared, number, &piece);
        let size = pause.map_or(piece.len().max(1), |_| 1);
        for part in piece.chunks(size) {
            let sent =
                if chunked { client.send_chunk(part).await } else { client.send(part).await };
            sent.map_err(|_| Fate::ClientLeft)?;
            if let Some(pause) = pause {
                unless_left(client, sleep(pause)).await?;
            }
        }
        if relayed == most {
            break;
        }
    }
    if endless {
        unless_left(client, sleep(UPTAKE)).await?;
        return Err(Fate::Cut);
    }
    if chunked {
        let sent = client.send_last_chunk().await;
        sent.map_err(|_| Fate::ClientLeft)?;
    }
    Ok(())
}

/// Relays a reply once it is complete, or so many bytes of it as though they were all.
async fn relay_whole(
    client: &mut Connection,
    upstream: &mut Connection,
    shared: &Shared,
    number: usize,
    mut reply: Head,
    most: usize,
) -> Result<(), Fate> {
    let body = upstream.body(&reply, false);
    let mut whole =
        unless_left(client, upstream.whole(body)).await?.map_err(|_| Fate::UpstreamLeft)?;
    whole.truncate(most);
    reply.remove("transfer-encoding");
    reply.set("Content-Length", &whole.len().to_string());
    send_head(client, shared, number, reply).await?;
    note_relayed(shared, number, &whole);
    client.send(&whole).await.map_err(|_| Fate::ClientLeft)
}

/// Relays a reply's head at once, and its body once it is complete.
async fn relay_held_back(
    client: &mut Connection,
    upstream: &mut Connection,
    shared: &Shared,
    number: usize,
    mut reply: Head,
) -> Result<(), Fate> {
    let body = upstream.body(&reply, false);
    reply.remove("content-length");
    reply.set("Transfer-Encoding", "chunked");
    send_head(client, shared, number, reply).await?;
    let whole = unless_left(client, upstream.whole(body)).await?.map_err(|_| Fate::UpstreamLeft)?;
    note_relayed(shared, number, &whole);
    client.send_chunk(&whole).await.map_err(|_| Fate::ClientLeft)?;
    client.send_last_chunk().await.map_err(|_| Fate::ClientLeft)
}

/// Sends a reply of the proxy's own.
async fn make_up(
    client: &mut Connection,
    shared: &Shared,
    number: usize,
    reply: &Reply,
) -> Result<(), Fate> {
    let mut head = Head { status: reply.status, headers: reply.headers.clone(), ..Head::default() };
    head.set("Content-Length", &reply.body.len().to_string());
    send_head(client, shared, number, head).await?;
    note_relayed(shared, number, &reply.body);
    client.send(&reply.body).await.map_err(|_| Fate::ClientLeft)
}

async fn send_head(
    client: &mut Connection,
    shared: &Shared,
    number: usize,
    mut head: Head,
) -> Result<(), Fate> {
    head.remove("keep-alive");
    head.set("Connection", "close");
    shared.log.amend(number, |exchange| exchange.status = Some(head.status));
    let sent = client.send(&head.encode()).await;
    sent.map_err(|_| Fate::ClientLeft)
}

async fn connect(upstream: SocketAddr) -> Result<Connection, Fate> {
    let socket = TcpStream::connect(upstream).await;
    socket.map(Connection::new).map_err(|_| Fate::UpstreamLeft)
}

async fn send(upstream: &mut Connection, bytes: &[u8]) -> Result<(), Fate> {
    // A server may refuse a body after its head and close; its reply can still be read then.
    match upstream.send(bytes).await {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Fate::UpstreamLeft),
        _ => Ok(()),
    }
}

/// Forwards a request a second time and reads its reply to the end, for nobody.
async fn twin(upstream: SocketAddr, bytes: Vec<u8>) {
    let Ok(mut upstream) = connect(upstream).await else {
        return;
    };
    if send(&mut upstream, &bytes).await.is_ok()
        && let Ok(reply) = upstream.reply_head().await
    {
        let body = upstream.body(&reply, false);
        // What it says is the other one's business.
        let _ = upstream.whole(body).await;
    }
}

/// Does something unless the client leaves first. A client that has only closed its sending side
/// counts as gone, as it does for most proxies.
async fn unless_left<T>(client: &mut Connection, work: impl Future<Output = T>) -> Result<T, Fate> {
    tokio::select! {
        biased;
        done = work => Ok(done),
        () = client.closed() => Err(Fate::ClientLeft),
    }
}

fn note_relayed(shared: &Shared, number: usize, bytes: &[u8]) {
    shared.log.amend(number, |exchange| {
        let room = KEPT.saturating_sub(exchange.relayed.len()).min(bytes.len());
        let kept = bytes.get(..room).unwrap_or_default();
        exchange.relayed.extend_from_slice(kept);
    });
}

fn note_end(shared: &Shared, number: usize, fate: Fate) {
    shared.log.amend(number, |exchange| {
        exchange.ended = Some(fate);
        exchange.ended_after = Some(exchange.began.elapsed());
    });
}
