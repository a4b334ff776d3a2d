//! A search over many turns against the bare query of the index for the same words, on the same file.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use holdfast::journal::sqlite::{FILE, SqliteJournal};
use holdfast::journal::{Fingerprint, Journal as _, Listing, Terms, Transcript, TranscriptTurn};
use holdfast::search::Query;
use holdfast_protocol::{Answer, Outcome, Receipt, Status, Timestamp};
use holdfast_tests::disk::system::Syncs;
use rusqlite::Connection;

use crate::archive;
use crate::bench::Bench;
use crate::failure::{Context as _, Result};
use crate::ids::{self, TURNS};
use crate::report::{Bar, Row};
use crate::rounds::{Figures, quantile};

/// What people look for, beside what the index is asked then: common words and rare ones, beginnings,
/// several words, two characters of writing without spaces, and one.
const LOOKED_FOR: [(&str, &str); 10] = [
    ("answer", "\"answer\"*"),
    ("line drops", "\"line\" AND \"drops\"*"),
    ("w1", "\"w1\"*"),
    ("w123", "\"w123\"*"),
    ("w17 w2", "\"w17\" AND \"w2\"*"),
    ("天气", "\"天气\""),
    ("天气预报", "\"天气 气预 预报\""),
    ("报", "\"报\"*"),
    ("天气 durable", "\"天气\" AND \"durable\"*"),
    ("nothing-of-the-kind", "\"nothing of the kind\"*"),
];

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let turns = bench.either(100_000, 10_000);
    let folder = archive::imported(bench.folder()?, turns, &bench.progress)?;
    let runtime = tokio::runtime::Runtime::new().doing("start any threads")?;
    let (mut ours, mut bare) = (Figures::default(), Figures::default());
    let bare_index = Connection::open(folder.join(FILE)).doing("open the index")?;
    // As much memory as a reader of the archive has.
    bare_index.execute_batch("PRAGMA cache_size = -16384").doing("set up the index")?;
    let journal = runtime.block_on(async {
        SqliteJournal::open(&archive::options(&folder, Syncs::Skipped)).doing("open an archive")
    })?;
    for round in 0..bench.rounds() {
        bench.progress.say(&format!("search, round {}", round + 1));
        let (mut searches, mut queries) = (Vec::new(), Vec::new());
        for _ in 0..bench.either(20, 4) {
            for (words, expression) in LOOKED_FOR {
                let begun = Instant::now();
                runtime.block_on(search(&journal, words))?;
                searches.push(millis(begun));
                let begun = Instant::now();
                query(&bare_index, expression).doing("ask the index")?;
                queries.push(millis(begun));
            }
        }
        ours.push(quantile(&mut searches, 0.95).doing("measure searches")?);
        bare.push(quantile(&mut queries, 0.95).doing("measure queries")?);
    }
    runtime.block_on(journal.close());
    let (ours, bare) = (ours.median()?, bare.median()?);
    Ok(vec![Row {
        what: format!("search p95 over {turns} turns ÷ a bare FTS5 query"),
        ours: format!("{ours:.3} ms"),
        other: format!("{bare:.3} ms"),
        ratio: ours / bare,
        bar: Bar::AtMost(1.5),
    }])
}

fn millis(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1000.0
}

async fn search(journal: &SqliteJournal, words: &str) -> Result<()> {
    let listing = Listing { matching: Some(Query::parse(words)), before: None, limit: 50 };
    let own = journal.local_principal();
    journal.conversations(own, listing).await.doing("search").map(drop)
}

/// All that the index finds, and no more than that.
fn query(index: &Connection, expression: &str) -> rusqlite::Result<usize> {
    let mut statement = index.prepare_cached("SELECT rowid FROM search WHERE search MATCH ?")?;
    let mut rows = statement.query([expression])?;
    let mut found = 0;
    while rows.next()?.is_some() {
        found += 1;
    }
    Ok(found)
}

/// A conversation with turns of varied words, of which some are common and most are rare.
pub(crate) fn transcript(conversation: u64) -> Transcript {
    let first = conversation * TURNS;
    let id = ids::made_conversation(first);
    let at = Timestamp::from_millis(1_700_000_000_000 + first);
    let turns = (first..first + TURNS).map(|ask| {
        let mut outcome = Outcome::bare(ids::made_request(ask), id, Status::Completed, None);
        outcome.question = Some(archive::question(ask));
        (outcome.asked_at, outcome.settled_at) = (Some(at), Some(at));
        outcome.receipt = Some(Receipt { submissions: 1, ..Receipt::default() });
        let mut random = fastrand::Rng::with_seed(ask);
        let mut text = String::from("The answer is:");
        for _ in 0..60 {
            // Few words make most of a text.
            let word = 20_000 / (random.u32(1..2_000) + 1);
            // Writing to a string cannot fail.
            let _ = write!(text, " w{word}");
        }
        if ask % 50 == 0 {
            text.push_str("。明天的天气预报说，晴。");
        }
        outcome.answer = Some(Answer { text, ..Answer::default() });
        let fingerprint = Fingerprint::from_bytes([0; 32]);
        TranscriptTurn { outcome, terms: Terms::default(), fingerprint }
    });
    Transcript {
        id,
        title: "Made".to_owned(),
        system_prompt: None,
        created_at: at,
        updated_at: at,
        turns: turns.collect(),
    }
}

/// Fills an archive that is new.
pub(crate) fn fill(folder: &Path, turns: u64, say: &dyn Fn(&str)) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new().doing("start any threads")?;
    runtime.block_on(async {
        let journal = SqliteJournal::open(&archive::options(folder, Syncs::Skipped))
            .doing("make an archive")?;
        let own = journal.local_principal();
        let conversations: Vec<_> = (0..turns / TURNS).collect();
        for some in conversations.chunks(200) {
            let transcripts = some.iter().map(|conversation| transcript(*conversation)).collect();
            journal.import(own, transcripts).await.doing("import")?;
        }
        say("imported");
        let indexed = archive::index(&journal).await;
        journal.close().await;
        indexed
    })
}
