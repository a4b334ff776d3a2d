//! A real nginx in front of Holdfast, with its defaults for everything that matters: it holds replies
//! back in buffers, and gives up on an upstream that says nothing for five seconds.

#![expect(clippy::expect_used, reason = "a test without its nginx has to fail")]

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::PATIENCE;

/// A running nginx; it ends with this.
#[derive(Debug)]
pub struct Nginx {
    address: SocketAddr,
    _child: Child,
    _folder: TempDir,
}

impl Nginx {
    /// Puts one in front of `upstream`, which it hands on at the root and, without the prefix, below
    /// `/chat/`.
    ///
    /// # Panics
    /// Where there is no nginx, or it does not start.
    pub async fn start(upstream: SocketAddr) -> Nginx {
        let folder = TempDir::new().expect("a folder for nginx");
        let address = free();
        fs::write(folder.path().join("nginx.conf"), configuration(address, upstream))
            .expect("write nginx.conf");
        let child = Command::new(program())
            .args(["-e", "stderr", "-c", "nginx.conf", "-p"])
            .arg(folder.path())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("start nginx: is it installed?");
        let started = Instant::now();
        while TcpStream::connect(address).await.is_err() {
            assert!(started.elapsed() < PATIENCE, "nginx does not listen on {address}");
            sleep(Duration::from_millis(20)).await;
        }
        Nginx { address, _child: child, _folder: folder }
    }

    /// The address of a mount: `""`, or `"chat/"`.
    pub fn url(&self, mount: &str) -> String {
        format!("http://{}/{mount}", self.address)
    }
}

/// An address that nobody listens on just now; nginx cannot choose one itself.
fn free() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address")
}

/// Debian keeps it where only root's `PATH` leads.
fn program() -> &'static str {
    const DEBIANS: &str = "/usr/sbin/nginx";
    if Path::new(DEBIANS).is_file() { DEBIANS } else { "nginx" }
}

fn configuration(listen: SocketAddr, upstream: SocketAddr) -> String {
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("    {kind}_temp_path {kind};\n"))
        .concat();
    format!(
        "daemon off;
master_process off;
pid nginx.pid;
events {{ worker_connections 256; }}
http {{
    access_log off;
{temporary}
    proxy_read_timeout 5s;
    server {{
        listen {listen};
        location / {{ proxy_pass http://{upstream}; }}
        location /chat/ {{ proxy_pass http://{upstream}/; }}
    }}
}}
"
    )
}
