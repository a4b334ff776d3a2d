//! Those who follow and do not read: they keep nobody waiting, and what is held for them has a bound.

use std::time::{Duration, Instant};

use holdfast_tests::mock::Script;

use super::stream::{events, open, open_narrow};
use crate::support::{Api, Ask};

/// How long the answer is, in bytes, about.
const ANSWER: usize = 1_900_000;
/// How many follow one that is under way and do not read.
const LIVE: usize = 20;
/// How many follow one that has settled and do not read.
const SETTLED: usize = 100;
/// What may be held for each of them, in KiB: less than half of the answer.
const EACH: usize = 900;

/// Resident memory of the server, in KiB.
fn resident(api: &Api) -> usize {
    let pid = api.holdfast.pid().as_raw_nonzero();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn who_does_not_read_slows_nobody_and_takes_little_memory() {
    let mut api = Api::start().await;
    api.mock.on("flood", Script::new().gate("go").flooding(ANSWER).end());
    let ask = Ask::new("flood");
    api.ask(&ask).await;
    let mut slow = Vec::new();
    for _ in 0..LIVE {
        slow.push(open_narrow(&events(&api, &ask, "")).await.unwrap());
    }
    api.called(&ask).await;
    let began = Instant::now();
    api.mock.open("go");
    let quick = open(&events(&api, &ask, "")).await.unwrap().rest().await;
    let settled = api.settled(&ask).await;
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let whole = settled["answer"]["text"].as_str().unwrap();
    assert!(quick.settled() == ("completed", whole), "the quick one has all of it");
    for stream in slow {
        let told = stream.rest().await;
        assert!(told.settled() == ("completed", whole), "a slow one has all of it in the end");
    }

    // A process that has not needed any memory yet.
    api.holdfast.restart().await;
    open(&events(&api, &ask, "")).await.unwrap().rest().await;
    let before = resident(&api);
    let mut slow = Vec::new();
    for _ in 0..SETTLED {
        let mut stream = open_narrow(&events(&api, &ask, "")).await.unwrap();
        assert!(stream.piece().await.is_some(), "it has begun");
        slow.push(stream);
    }
    let grown = resident(&api).saturating_sub(before);
    assert!(grown < SETTLED * EACH, "{grown} KiB for {SETTLED} who do not read");
    let told = slow.swap_remove(SETTLED / 2).rest().await;
    assert!(told.settled() == ("completed", whole), "a slow one has all of it in the end");
    assert_eq!(api.calls(&ask), 1);
}
