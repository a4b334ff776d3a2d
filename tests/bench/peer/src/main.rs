//! The peer of `cargo xtask bench`: a durable ask as the `durare` crate makes it, a workflow of one
//! step whose answer is the one that Holdfast's bench answers, in SQLite on the same disk.
//!
//! Arguments: an empty folder, how commits are synced (`normal`, the crate's default, or `full`), how
//! many ask at once, for how many milliseconds. It prints what it did as one line of JSON.

use std::error::Error;
use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use durare::{DurableContext, DurableEngine, SqliteProvider, WorkflowOptions};
use serde_json::json;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The same answer that the bench's Holdfast gives.
const ANSWER: &str = include_str!("../../answer.md");

#[durare::step]
async fn generate(_ctx: &DurableContext, _question: String) -> durare::Result<String> {
    Ok(ANSWER.to_owned())
}

#[durare::workflow]
async fn ask(ctx: DurableContext, question: String) -> durare::Result<String> {
    generate(&ctx, question).await
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [folder, synchronous, clients, millis] = arguments.as_slice() else {
        return Err("usage: holdfast-bench-peer FOLDER normal|full CLIENTS MILLIS".into());
    };
    let pool = pool(Path::new(folder), SqliteSynchronous::from_str(synchronous)?).await?;
    let engine = DurableEngine::new(Arc::new(SqliteProvider::from_pool(pool.clone()))).await?;
    let engine = Arc::new(engine);

    let begun = Instant::now();
    let end = begun + Duration::from_millis(millis.parse()?);
    let clients = (0..clients.parse()?).map(|_| tokio::spawn(client(Arc::clone(&engine), end)));
    let mut asks = 0;
    for client in clients.collect::<Vec<_>>() {
        asks += client.await??;
    }
    let seconds = begun.elapsed().as_secs_f64();

    let journal_mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&pool).await?;
    let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(&pool).await?;
    let names = ["OFF", "NORMAL", "FULL", "EXTRA"];
    let synchronous = names.get(usize::try_from(synchronous)?);
    let said = json!({
        "asks": asks,
        "seconds": seconds,
        "journal_mode": journal_mode,
        "synchronous": synchronous,
    });
    println!("{said}");
    Ok(())
}

/// A pool as `SqliteProvider::connect` makes it, but for how commits are synced.
async fn pool(folder: &Path, synchronous: SqliteSynchronous) -> Result<SqlitePool> {
    let options = SqliteConnectOptions::new()
        .filename(folder.join("durare.db"))
        .create_if_missing(true)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous)
        .busy_timeout(Duration::from_secs(5));
    Ok(SqlitePoolOptions::new().max_connections(5).connect_with(options).await?)
}

/// Asks, waits for the answer, and asks again; returns how often.
async fn client(engine: Arc<DurableEngine>, end: Instant) -> Result<u64> {
    let mut asks = 0;
    while Instant::now() < end {
        let question = format!(
            "What does a durable ask cost, and what becomes of it when the line drops? ({asks})"
        );
        let answer: String =
            engine.start_with(Ask, question, WorkflowOptions::default()).await?.await?;
        if answer != ANSWER {
            return Err("an answer is not the one that was given".into());
        }
        asks += 1;
    }
    Ok(asks)
}
