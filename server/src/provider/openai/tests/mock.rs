//! A model server made of bytes: every byte it sends, and when, is the test's.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::select;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// What has not come about by then never will.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// One step of a reply.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Sends these bytes at once.
    Send(Vec<u8>),
    /// Sends these bytes one by one.
    Drip(Vec<u8>),
    /// Sends these bytes again and again, at this pace, until the client hangs up.
    Repeat(Vec<u8>, Duration),
    /// Sends nothing for this long.
    Pause(Duration),
    /// Sends nothing until the test opens the gate.
    Gate,
    /// Sends nothing until the client hangs up.
    Hang,
    /// Ends the connection by a reset.
    Reset,
}

impl Step {
    pub(super) fn send(bytes: impl AsRef<[u8]>) -> Self {
        Self::Send(bytes.as_ref().to_vec())
    }
}

/// What the mock has seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Connections that were made.
    pub(super) connections: usize,
    /// What came over each, whether it was a request or not.
    pub(super) requests: Vec<String>,
    /// Connections that the client ended before the mock did.
    pub(super) hung_up: usize,
}

impl Seen {
    /// The requests for an answer.
    pub(super) fn calls(&self) -> Vec<&String> {
        self.requests.iter().filter(|request| request.starts_with("POST ")).collect()
    }
}

pub(super) struct Mock {
    pub(super) addr: SocketAddr,
    gate: Arc<Notify>,
    seen: watch::Receiver<Seen>,
    task: JoinHandle<()>,
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Mock {
    /// Replies to every request for an answer with these steps, and to others with 404.
    pub(super) async fn new(steps: Vec<Step>) -> Self {
        Self::serving(move |request| {
            if request.starts_with("POST ") {
                return steps.clone();
            }
            vec![Step::send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")]
        })
        .await
    }

    /// Replies to each request with the steps that `reply` gives it.
    pub(super) async fn serving(reply: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::at(SocketAddr::from(([127, 0, 0, 1], 0)), reply).await
    }

    /// The same, at this address.
    pub(super) async fn at(
        addr: SocketAddr,
        reply: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(addr).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let gate = Arc::new(Notify::new());
        let opened = Arc::clone(&gate);
        let (sender, seen) = watch::channel(Seen::default());
        let (sender, reply) = (Arc::new(sender), Arc::new(reply));
        let task = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                sender.send_modify(|seen| seen.connections += 1);
                let (sender, reply) = (Arc::clone(&sender), Arc::clone(&reply));
                let gate = Arc::clone(&opened);
                tokio::spawn(async move {
                    let request = String::from_utf8_lossy(&request(&mut stream).await).into_owned();
                    sender.send_modify(|seen| seen.requests.push(request.clone()));
                    if play(stream, reply(&request), &gate).await.is_err() {
                        sender.send_modify(|seen| seen.hung_up += 1);
                    }
                });
            }
        });
        Self { addr, gate, seen, task }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Opens the gate.
    pub(super) fn open(&self) {
        self.gate.notify_one();
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen.borrow().clone()
    }

    /// Waits until the mock has seen what `condition` asks for.
    pub(super) async fn until(&self, condition: impl FnMut(&Seen) -> bool) -> Seen {
        let mut seen = self.seen.clone();
        let met = timeout(PATIENCE, seen.wait_for(condition)).await;
        met.expect("the condition comes about").unwrap().clone()
    }
}

/// Reads a request with its body, or the greeting of something that is no HTTP.
async fn request(stream: &mut TcpStream) -> Vec<u8> {
    let mut request = Vec::new();
    loop {
        let mut part = [0; 4096];
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return request,
            Ok(read) => request.extend_from_slice(&part[..read]),
        }
        let text = String::from_utf8_lossy(&request);
        let whole = match text.split_once("\r\n\r\n") {
            Some((head, body)) => {
                let length = header(head, "content-length").map_or(0, |it| it.parse().unwrap());
                body.len() >= length
            }
            None => !request[0].is_ascii_alphabetic(),
        };
        if whole {
            return request;
        }
    }
}

/// Takes the steps, then ends the connection. An error: the client has ended it before.
async fn play(mut stream: TcpStream, steps: Vec<Step>, gate: &Notify) -> io::Result<()> {
    stream.set_nodelay(true)?;
    for step in steps {
        match step {
            Step::Send(bytes) => stream.write_all(&bytes).await?,
            Step::Drip(bytes) => {
                for byte in bytes {
                    stream.write_all(&[byte]).await?;
                    tokio::task::yield_now().await;
                }
            }
            Step::Repeat(bytes, pace) => loop {
                stream.write_all(&bytes).await?;
                select! {
                    () = sleep(pace) => {}
                    end = ended(&mut stream) => return end,
                }
            },
            Step::Pause(pause) => sleep(pause).await,
            Step::Gate => gate.notified().await,
            Step::Hang => return ended(&mut stream).await,
            Step::Reset => return stream.set_zero_linger(),
        }
    }
    stream.shutdown().await
}

/// Waits until the client ends the connection.
async fn ended(stream: &mut TcpStream) -> io::Result<()> {
    let mut part = [0; 64];
    while stream.read(&mut part).await? > 0 {}
    Err(io::ErrorKind::UnexpectedEof.into())
}

/// The value of a header field in a request's text.
pub(super) fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let head = request.split("\r\n\r\n").next()?;
    head.lines().skip(1).find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}
