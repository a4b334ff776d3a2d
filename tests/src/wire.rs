//! HTTP/1.1 on a bare socket, as little of it as the mock provider and the fault proxy need.
//!
//! They exist to send what no HTTP library would send (half a head, a body without its end, a
//! reset instead of a close), so they own their bytes. Parsing of heads is `httparse`'s; what
//! belongs here is framing: reading one message, one piece of a body, and ending a connection on
//! purpose. No routing and no faults.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// More than any head or body of this product; a message beyond it is an error, not a test.
const LIMIT: usize = 128 * 1024 * 1024;

/// The head of a request or a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The request's method; empty for a reply.
    pub method: String,
    /// The request's target as sent (path and query); empty for a reply.
    pub target: String,
    /// The reply's status; 0 for a request.
    pub status: u16,
    /// The fields in order, names as sent.
    pub headers: Vec<(String, String)>,
}

impl Head {
    /// The first value of a field, by name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Puts a field in the place of all those of that name.
    pub fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    /// Takes all fields of that name out.
    pub fn remove(&mut self, name: &str) {
        self.headers.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
    }

    /// The target without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The bytes of this head, its empty line included.
    pub fn encode(&self) -> Vec<u8> {
        let mut text = if self.method.is_empty() {
            format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status))
        } else {
            format!("{} {} HTTP/1.1\r\n", self.method, self.target)
        };
        for (name, value) in &self.headers {
            text.push_str(name);
            text.push_str(": ");
            text.push_str(value);
            text.push_str("\r\n");
        }
        text.push_str("\r\n");
        text.into_bytes()
    }

    /// How the body after this head is delimited. A request without either field has no body.
    fn framing(&self, no_body: bool) -> Framing {
        let chunked = self
            .header("transfer-encoding")
            .is_some_and(|value| value.to_ascii_lowercase().contains("chunked"));
        let length =
            self.header("content-length").and_then(|value| value.trim().parse::<usize>().ok());
        match (chunked, length) {
            _ if no_body || matches!(self.status, 100..=199 | 204 | 304) => Framing::Length(0),
            (true, _) => Framing::Chunked,
            (false, Some(length)) => Framing::Length(length),
            (false, None) if self.method.is_empty() => Framing::UntilClose,
            (false, None) => Framing::Length(0),
        }
    }
}

/// The phrase after a status: ornamental, but a missing one confuses people reading a dump.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        302 => "Found",
        307 => "Temporary Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        408 => "Request Timeout",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
    UntilClose,
}

/// A connection, with what was read from it beyond what was asked for.
#[derive(Debug)]
pub struct Connection {
    socket: TcpStream,
    buffer: Vec<u8>,
}

/// A body that is being read, piece by piece, its transfer coding taken off.
#[derive(Debug)]
pub struct Body {
    framing: Framing,
    left: usize,
    ended: bool,
}

impl Body {
    /// Whether the other side said how long the body is, and how long.
    pub fn length(&self) -> Option<usize> {
        match self.framing {
            Framing::Length(length) => Some(length),
            Framing::Chunked | Framing::UntilClose => None,
        }
    }
}

impl Connection {
    /// Takes over a socket. Small pieces go out at once: their timing is what tests are about.
    pub fn new(socket: TcpStream) -> Connection {
        // Failing to switch Nagle off costs milliseconds, not correctness.
        let _ = socket.set_nodelay(true);
        Connection { socket, buffer: Vec::new() }
    }

    /// Reads one request head; `None` if the peer closed before its first byte.
    pub async fn request_head(&mut self) -> io::Result<Option<Head>> {
        loop {
            let mut fields = [httparse::EMPTY_HEADER; 100];
            let mut request = httparse::Request::new(&mut fields);
            let parsed = request.parse(&self.buffer).map_err(malformed)?;
            if let httparse::Status::Complete(used) = parsed {
                let head = Head {
                    method: request.method.unwrap_or_default().to_owned(),
                    target: request.path.unwrap_or_default().to_owned(),
                    status: 0,
                    headers: owned(request.headers),
                };
                self.buffer.drain(..used);
                return Ok(Some(head));
            }
            if !self.fill().await? {
                if self.buffer.is_empty() {
                    return Ok(None);
                }
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Reads the head of a reply, passing over interim ones (1xx).
    pub async fn reply_head(&mut self) -> io::Result<Head> {
        loop {
            let mut fields = [httparse::EMPTY_HEADER; 100];
            let mut reply = httparse::Response::new(&mut fields);
            let parsed = reply.parse(&self.buffer).map_err(malformed)?;
            if let httparse::Status::Complete(used) = parsed {
                let head = Head {
                    status: reply.code.unwrap_or_default(),
                    headers: owned(reply.headers),
                    ..Head::default()
                };
                self.buffer.drain(..used);
                if (100..200).contains(&head.status) {
                    continue;
                }
                return Ok(head);
            }
            if !self.fill().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// The body that follows a head just read. `no_body`: a reply to HEAD.
    pub fn body(&self, head: &Head, no_body: bool) -> Body {
        let framing = head.framing(no_body);
        Body {
            framing,
            left: match framing {
                Framing::Length(length) => length,
                Framing::Chunked | Framing::UntilClose => 0,
            },
            ended: framing == Framing::Length(0),
        }
    }

    /// The next piece of a body as it came; `None` at its proper end. An early end is an error.
    pub async fn piece(&mut self, body: &mut Body) -> io::Result<Option<Vec<u8>>> {
        if body.ended {
            return Ok(None);
        }
        match body.framing {
            Framing::UntilClose => {
                if self.buffer.is_empty() && !self.fill().await? {
                    body.ended = true;
                    return Ok(None);
                }
                Ok(Some(std::mem::take(&mut self.buffer)))
            }
            Framing::Length(_) => {
                let piece = self.up_to(body.left).await?;
                body.left -= piece.len();
                body.ended = body.left == 0;
                Ok(Some(piece))
            }
            Framing::Chunked => {
                if body.left == 0 {
                    let line = self.line().await?;
                    let size = line.split(';').next().unwrap_or_default().trim();
                    body.left = usize::from_str_radix(size, 16).map_err(malformed)?;
                    if body.left == 0 {
                        // Trailers, if any, end with an empty line as well.
                        while !self.line().await?.is_empty() {}
                        body.ended = true;
                        return Ok(None);
                    }
                }
                let piece = self.up_to(body.left).await?;
                body.left -= piece.len();
                if body.left == 0 {
                    self.line().await?;
                }
                Ok(Some(piece))
            }
        }
    }

    /// A whole body.
    pub async fn whole(&mut self, mut body: Body) -> io::Result<Vec<u8>> {
        let mut whole = Vec::new();
        while let Some(piece) = self.piece(&mut body).await? {
            whole.extend_from_slice(&piece);
            if whole.len() > LIMIT {
                return Err(io::Error::other("a body beyond every limit"));
            }
        }
        Ok(whole)
    }

    /// Sends bytes as they are.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes).await?;
        self.socket.flush().await
    }

    /// Sends bytes as one chunk of a chunked body; no bytes, nothing sent (an empty chunk is the
    /// end, see [`Connection::send_last_chunk`]).
    pub async fn send_chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.send(&chunk).await
    }

    /// Ends a chunked body properly.
    pub async fn send_last_chunk(&mut self) -> io::Result<()> {
        self.send(b"0\r\n\r\n").await
    }

    /// Waits for the peer's first byte; `false` if it closed instead.
    pub async fn first_byte(&mut self) -> io::Result<bool> {
        Ok(!self.buffer.is_empty() || self.fill().await?)
    }

    /// Makes every end of this connection that is not [`Connection::close`] a reset, also that of
    /// being dropped.
    pub fn reset_when_dropped(&self) {
        // Zero linger: the kernel drops what is queued and sends RST. Should it fail, the drop
        // closes instead, and the test that counts on the reset says so.
        let _ = self.socket.set_zero_linger();
    }

    /// Waits until the peer closes or resets. What it sends meanwhile is kept for later reads.
    pub async fn closed(&mut self) {
        while self.buffer.len() < LIMIT && matches!(self.fill().await, Ok(true)) {}
    }

    /// Ends the connection the polite way, waiting a moment for the peer, so that a reply just
    /// sent is not destroyed by a reset because the peer's last bytes were never read.
    pub async fn close(mut self) {
        if self.socket.shutdown().await.is_ok() {
            let _ = tokio::time::timeout(Duration::from_secs(5), self.closed()).await;
        }
    }

    /// Ends the connection with a reset: what a browser sees when a line is cut.
    pub fn reset(self) {
        self.reset_when_dropped();
    }

    async fn fill(&mut self) -> io::Result<bool> {
        self.buffer.reserve(16 * 1024);
        Ok(self.socket.read_buf(&mut self.buffer).await? > 0)
    }

    /// At least one byte and at most `most`, as they come.
    async fn up_to(&mut self, most: usize) -> io::Result<Vec<u8>> {
        if self.buffer.is_empty() && !self.fill().await? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let take = most.min(self.buffer.len());
        Ok(self.buffer.drain(..take).collect())
    }

    async fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            if !self.fill().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

fn owned(fields: &[httparse::Header<'_>]) -> Vec<(String, String)> {
    fields
        .iter()
        .map(|field| {
            let value = String::from_utf8_lossy(field.value).into_owned();
            (field.name.to_owned(), value)
        })
        .collect()
}

fn malformed(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use tokio::net::TcpListener;

    async fn pair() -> (TcpStream, Connection) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (far, _) = listener.accept().await.unwrap();
        (near, Connection::new(far))
    }

    #[tokio::test]
    async fn a_request_in_single_bytes_is_read_whole() {
        let (mut near, mut far) = pair().await;
        let writer = tokio::spawn(async move {
            for byte in b"POST /a?b=c HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyz" {
                near.write_all(&[*byte]).await.unwrap();
            }
            near
        });
        let head = far.request_head().await.unwrap().unwrap();
        assert_eq!(head.path(), "/a");
        let body = far.body(&head, false);
        assert_eq!(far.whole(body).await.unwrap(), b"xyz");
        drop(writer.await.unwrap());
        assert_eq!(far.request_head().await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_chunked_body_loses_its_chunks_and_its_trailers() {
        let (mut near, mut far) = pair().await;
        near.write_all(
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
              3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n",
        )
        .await
        .unwrap();
        let head = far.reply_head().await.unwrap();
        let body = far.body(&head, false);
        assert_eq!(body.length(), None);
        assert_eq!(far.whole(body).await.unwrap(), b"abcde");
    }

    #[tokio::test]
    async fn a_body_that_ends_early_is_an_error_and_not_an_end() {
        for bytes in [
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        ] {
            let (mut near, mut far) = pair().await;
            near.write_all(bytes.as_bytes()).await.unwrap();
            drop(near);
            let head = far.reply_head().await.unwrap();
            let body = far.body(&head, false);
            assert!(far.whole(body).await.is_err(), "{bytes}");
        }
    }

    #[tokio::test]
    async fn a_reset_is_seen_as_one() {
        let (mut near, far) = pair().await;
        far.reset();
        let error = near.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}
