//! A plain HTTP client for the tests: it sends exactly what it is told to, and one request a
//! connection.
//!
//! A library's client would correct, complete, retry or pool; a test of the protocol must be able
//! to send a wrong `Host`, half a body, or nothing more.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::wire::{Connection, Head};

/// Longer than any exchange of Holdfast's may take (25 s).
const LONGEST: Duration = Duration::from_secs(40);

/// What the system takes of a reply for a client that has no room, in bytes, about.
const NARROW: u32 = 8 * 1024;

/// A request being made up.
#[derive(Clone, Debug)]
pub struct Request {
    address: SocketAddr,
    head: Head,
    body: Vec<u8>,
}

/// A whole reply.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status and fields.
    pub head: Head,
    /// Its body.
    pub body: Vec<u8>,
}

impl Request {
    /// A request with a `Host` that fits the address and nothing else.
    pub fn new(address: SocketAddr, method: &str, target: &str) -> Request {
        let mut head =
            Head { method: method.to_owned(), target: target.to_owned(), ..Head::default() };
        head.set("Host", &address.to_string());
        head.set("Connection", "close");
        Request { address, head, body: Vec::new() }
    }

    /// Puts a field in the place of any of that name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Request {
        self.head.set(name, value);
        self
    }

    /// Takes a field out.
    #[must_use]
    pub fn without(mut self, name: &str) -> Request {
        self.head.remove(name);
        self
    }

    /// Gives it a JSON body and that content type.
    #[must_use]
    pub fn json(self, body: &Value) -> Request {
        self.header("Content-Type", "application/json").body(body.to_string())
    }

    /// Gives it a body and its length.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Request {
        self.body = body.into();
        self.head.set("Content-Length", &self.body.len().to_string());
        self
    }

    /// Its path and query.
    pub fn target(&self) -> &str {
        &self.head.target
    }

    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.encode();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Sends it and reads the whole reply.
    ///
    /// # Errors
    /// When no reply comes, or none with a proper end, within 40 s.
    pub async fn send(&self) -> io::Result<Answer> {
        let exchange = async {
            let mut connection = self.open().await?;
            // A server may answer and close before it has read all of a body it refuses.
            let sent = connection.send(&self.bytes()).await;
            let head = match connection.reply_head().await {
                Ok(head) => head,
                Err(error) => return Err(sent.err().unwrap_or(error)),
            };
            let body = connection.body(&head, self.head.method == "HEAD");
            let body = connection.whole(body).await?;
            Ok(Answer { head, body })
        };
        timeout(LONGEST, exchange).await?
    }

    /// Opens a connection for it and sends nothing yet.
    pub async fn open(&self) -> io::Result<Connection> {
        Ok(Connection::new(TcpStream::connect(self.address).await?))
    }

    /// The same with no room to speak of: what the test does not read stays with the server, where the
    /// system would else take megabytes of it.
    pub async fn open_narrow(&self) -> io::Result<Connection> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(NARROW)?;
        Ok(Connection::new(socket.connect(self.address).await?))
    }
}

impl Answer {
    /// Its status.
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// A field, by name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    /// Its body as text, with replacement characters for what is no UTF-8.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Its body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The application error code of a problem, or nothing.
    pub fn code(&self) -> String {
        let json = self.json();
        json.get("code").and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}
