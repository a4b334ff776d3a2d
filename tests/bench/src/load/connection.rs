//! One connection that is kept alive.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::failure::{Context as _, Failure, Result};

/// How much is read at once.
const PIECE: usize = 16 * 1024;
/// The most headers of a reply.
const HEADERS: usize = 32;

/// A reply.
pub(super) struct Reply<'a> {
    pub(super) status: u16,
    pub(super) body: &'a [u8],
}

/// Where a reply is in what was read: its status, where its body begins, where it ends.
fn parse(read: &[u8]) -> Result<Option<(u16, usize, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(begin) = head.parse(read).doing("understand a reply")? else {
        return Ok(None);
    };
    let length = head
        .headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case("content-length"))
        .and_then(|header| std::str::from_utf8(header.value).ok()?.parse::<usize>().ok())
        .doing("find the length of a reply")?;
    let status = head.code.doing("find the status of a reply")?;
    Ok((read.len() >= begin + length).then_some((status, begin, begin + length)))
}

/// What was read, until it is a whole reply.
#[derive(Default)]
struct Buffer(Vec<u8>);

impl Buffer {
    fn whole(&self) -> Result<Option<Reply<'_>>> {
        let Some((status, begin, end)) = parse(&self.0)? else { return Ok(None) };
        if end != self.0.len() {
            return Err(Failure::new("a reply is followed by something nobody asked for"));
        }
        Ok(Some(Reply { status, body: self.0.get(begin..end).unwrap_or_default() }))
    }
}

fn ended() -> Failure {
    Failure::new("a connection was closed in the middle of an exchange")
}

/// A connection that others do not wait for.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Buffer,
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.doing("connect to the server")?;
        stream.set_nodelay(true).doing("set up a connection")?;
        Ok(Self { stream, buffer: Buffer::default() })
    }

    pub(super) async fn send(&mut self, request: &[u8]) -> Result<()> {
        self.stream.write_all(request).await.doing("send a request")
    }

    pub(super) async fn exchange(&mut self, request: &[u8]) -> Result<Reply<'_>> {
        self.send(request).await?;
        self.buffer.0.clear();
        while self.buffer.whole()?.is_none() {
            self.buffer.0.reserve(PIECE);
            if self.stream.read_buf(&mut self.buffer.0).await.doing("read a reply")? == 0 {
                return Err(ended());
            }
        }
        self.buffer.whole()?.doing("read a reply")
    }

    /// Whether a reply, or an end, has come that nobody has read.
    pub(super) fn has_come(&self) -> bool {
        self.stream.try_read(&mut [0]).is_ok()
    }
}

/// A connection whose thread waits for it.
pub(super) struct Blocking {
    stream: std::net::TcpStream,
    buffer: Buffer,
}

impl Blocking {
    pub(super) fn open(address: SocketAddr) -> Result<Self> {
        let stream = std::net::TcpStream::connect(address).doing("connect to the server")?;
        stream.set_nodelay(true).doing("set up a connection")?;
        Ok(Self { stream, buffer: Buffer::default() })
    }

    pub(super) fn exchange(&mut self, request: &[u8]) -> Result<Reply<'_>> {
        self.stream.write_all(request).doing("send a request")?;
        self.buffer.0.clear();
        let mut piece = [0; PIECE];
        while self.buffer.whole()?.is_none() {
            match self.stream.read(&mut piece).doing("read a reply")? {
                0 => return Err(ended()),
                read => self.buffer.0.extend_from_slice(piece.get(..read).unwrap_or_default()),
            }
        }
        self.buffer.whole()?.doing("read a reply")
    }
}

/// A request without a body; `wait`, in seconds, where the client is ready to.
pub(super) fn get(path: &str, wait: Option<u32>) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{}\r\n", prefer(wait)).into_bytes()
}

/// A request with JSON.
pub(super) fn post(path: &str, body: &str, wait: Option<u32>) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n{}\r\n{body}",
        body.len(),
        prefer(wait)
    )
    .into_bytes()
}

fn prefer(wait: Option<u32>) -> String {
    wait.map(|seconds| format!("prefer: wait={seconds}\r\n")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_reply_is_whole_with_its_last_byte() {
        let reply = b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok";
        assert_eq!(parse(reply).unwrap(), Some((202, 44, 46)));
        for cut in 0..reply.len() {
            assert_eq!(parse(reply.get(..cut).unwrap()).unwrap(), None, "{cut}");
        }
        assert!(parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err(), "no length");
    }
}
