//! A bad line to look at: the fault proxy in front of a running Holdfast.
//!
//! The reply to each question is cut once Holdfast has accepted it, the line is down for a while,
//! and once more if the answer is still being written then; after that all is well. What was just
//! cut is told on standard error. `--mock` runs the mock provider as well, with answers slow enough
//! to be watched; without `--upstream` it runs alone, for a Holdfast that is yet to be started.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use holdfast_tests::mock::{MockProvider, Script};
use holdfast_tests::proxy::{Exchange, Fault, FaultProxy, Line, Route, Rule};
use serde_json::Value;
use tokio::time::{sleep, timeout};

/// Puts a line that fails in front of a running Holdfast, so that one can watch answers come back.
#[derive(Debug, Parser)]
#[command(name = "holdfast-flaky")]
struct Arguments {
    /// The address of the running Holdfast, such as <http://127.0.0.1:8787/>
    #[arg(long, value_name = "URL", required_unless_present = "mock")]
    upstream: Option<String>,
    /// Where the bad line listens; port 0 picks one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Also run a slow model server here; port 0 picks one
    #[arg(long, value_name = "ADDR")]
    mock: Option<SocketAddr>,
    /// How long the line stays down each time
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    outage: u64,
}

/// How long the line is up before it may go down again in mid answer.
const RESPITE: Duration = Duration::from_secs(3);

/// The slow model server's answer, a word at a time.
const SLOW_ANSWER: &str = "This answer takes its time so that you can watch the line fail while it \
    is being written. The question was journalled before anything else happened to it, and the \
    work on it belongs to the server: whatever becomes of your connection, the words go on being \
    written down there. When the line is back, the page asks what became of your question, by the \
    identity it had before its first byte was sent, and gets this text, paid for once.";

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("holdfast-flaky: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run(arguments: Arguments) -> io::Result<()> {
    let mock = match arguments.mock {
        Some(address) => Some(slow_model(address).await?),
        None => None,
    };
    let Some(upstream) = arguments.upstream else {
        tokio::signal::ctrl_c().await?;
        return Ok(());
    };
    let upstream = resolve(&upstream).await?;
    let proxy = FaultProxy::bind(arguments.listen, upstream).await?;
    say_on_stdout(&format!("listening on {}", proxy.url()))?;
    let outage = Duration::from_secs(arguments.outage);
    tokio::select! {
        () = fail_now_and_then(&proxy, outage) => {}
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    drop(mock);
    Ok(())
}

/// Starts the model server whose answers take about ten seconds.
async fn slow_model(address: SocketAddr) -> io::Result<MockProvider> {
    let mock = MockProvider::bind(address).await?;
    mock.otherwise(Script::new().words_every(SLOW_ANSWER, Duration::from_millis(120)).end());
    say_on_stdout(&format!("mock provider on {}", mock.url()))?;
    Ok(mock)
}

/// The address behind an `http` URL without a path.
async fn resolve(url: &str) -> io::Result<SocketAddr> {
    let host = url.strip_prefix("http://").unwrap_or(url);
    let host = host.trim_end_matches('/');
    let mut addresses = tokio::net::lookup_host(host).await.map_err(|error| {
        io::Error::other(format!("--upstream {url} is not http://HOST:PORT/: {error}"))
    })?;
    addresses.next().ok_or_else(|| io::Error::other(format!("--upstream {url} has no address")))
}

/// Other programs read these lines; they must not wait in a buffer.
fn say_on_stdout(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

async fn fail_now_and_then(proxy: &FaultProxy, outage: Duration) {
    proxy.rule(Rule::on(Route::Ask, Fault::CutBeforeReply).once_each());
    let mut done = BTreeSet::new();
    loop {
        let is_next = |exchange: &Exchange, done: &BTreeSet<usize>| {
            exchange.fault.is_some() && exchange.ended.is_some() && !done.contains(&exchange.number)
        };
        let exchanges = proxy.until(|all| all.iter().any(|e| is_next(e, &done))).await;
        let Some(ask) = exchanges.into_iter().find(|e| is_next(e, &done)) else {
            continue;
        };
        done.insert(ask.number);
        let id = ask.request_id().unwrap_or_default();
        let question = question_of(&ask);
        eprintln!(
            "“{question}”: Holdfast had accepted it ({}), and the reply was cut on its way back.",
            ask.upstream_status.unwrap_or_default(),
        );
        take_down(proxy, outage).await;
        // Long enough for the page to ask again, and for some of the answer to be seen.
        let settled = timeout(RESPITE, settled(proxy, &id)).await;
        if settled.is_err() && seen_pending(proxy, &id) {
            eprintln!("“{question}” is still being answered: once more, in mid answer.");
            take_down(proxy, outage).await;
        }
        eprintln!("From here on the line is good for “{question}”.");
    }
}

async fn take_down(proxy: &FaultProxy, outage: Duration) {
    eprintln!("  the line is down for {} s", outage.as_secs());
    proxy.line(Line::Cut);
    sleep(outage).await;
    proxy.line(Line::Up);
    eprintln!("  the line is up again");
}

/// Waits until a lookup has brought the settled outcome of an ask.
async fn settled(proxy: &FaultProxy, id: &str) {
    proxy
        .until(|all| {
            all.iter().any(|exchange| is_lookup_of(exchange, id) && exchange.status == Some(200))
        })
        .await;
}

/// Whether a lookup has found an ask still pending.
fn seen_pending(proxy: &FaultProxy, id: &str) -> bool {
    let exchanges = proxy.exchanges();
    exchanges.iter().any(|exchange| {
        is_lookup_of(exchange, id) && exchange.ended.is_none_or(|_| exchange.status == Some(202))
    })
}

fn is_lookup_of(exchange: &Exchange, id: &str) -> bool {
    exchange.route == Route::Lookup && exchange.request_id().as_deref() == Some(id)
}

/// The question of an ask, shortened for a line on a terminal.
fn question_of(ask: &Exchange) -> String {
    let body: Value = serde_json::from_str(&ask.body).unwrap_or_default();
    let question = body.get("question").and_then(Value::as_str).unwrap_or("?");
    let mut short: String = question.chars().take(60).collect();
    if short.len() < question.len() {
        short.push('…');
    }
    short.replace(char::is_control, " ")
}
