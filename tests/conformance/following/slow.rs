//! Those who follow and do not read: they keep nobody waiting, and what is held for them has a bound.

use std::time::{Duration, Instant};

use holdfast_tests::mock::Script;

use super::stream::{events, open, texts};
use crate::support::{Api, Ask};

/// How many follow and do not read.
const SLOW: usize = 100;
/// What is held for each of them, at most, in KiB: windows and what a connection buffers, not the answer.
const EACH: usize = 1024;

/// Resident memory of the server, in KiB.
fn resident(api: &Api) -> usize {
    let pid = api.holdfast.pid().as_raw_nonzero();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn who_does_not_read_slows_nobody_and_takes_little_memory() {
    let api = Api::start().await;
    api.mock.on("flood", Script::new().gate("go").flooding(1_900_000).end());
    let ask = Ask::new("flood");
    api.ask(&ask).await;
    let mut slow = Vec::new();
    for _ in 0..SLOW / 2 {
        slow.push(open(&events(&api, &ask, "")).await.unwrap());
    }
    api.called(&ask).await;
    let began = Instant::now();
    api.mock.open("go");
    let quick = open(&events(&api, &ask, "")).await.unwrap().rest().await;
    let settled = api.settled(&ask).await;
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let whole = settled["answer"]["text"].as_str().unwrap();
    assert_eq!(quick.settled().0, "completed");
    assert!(quick.settled().1 == whole, "the quick one has all of it");
    // As many again, of what is in the archive.
    let before = resident(&api);
    for _ in 0..SLOW {
        slow.push(open(&events(&api, &ask, "")).await.unwrap());
    }
    // Each has been given what fits, once one more has been given everything.
    let last = open(&events(&api, &ask, "")).await.unwrap().rest().await;
    assert!(texts(&last.events).concat() == whole);
    let grown = resident(&api).saturating_sub(before);
    assert!(grown < SLOW * EACH, "{grown} KiB for {SLOW} who do not read");
    for stream in slow {
        let told = stream.rest().await;
        assert!(told.settled().1 == whole, "a slow one has all of it in the end");
    }
    assert_eq!(api.calls(&ask), 1);
}
