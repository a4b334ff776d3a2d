//! The whole promise by seed: the real recovery machine against the real router and a real `SQLite`
//! journal, under simulated weather and time.
//!
//! `HOLDFAST_SEED=n` plays one world again, or with `HOLDFAST_WORLDS=n` so many from there on.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a simulation fails by panicking")]

mod model;
mod rng;
mod server;
mod tab;
mod weather;
mod world;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use world::{Tally, World};

const WORLDS: u64 = 300;
const MOMENTS: u64 = 60;
/// Each kind of fault must have happened so often, or the weather was too fair to prove anything.
const EACH: u64 = 50;

fn play(seed: u64) -> Tally {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    tokio::task::LocalSet::new()
        .block_on(&runtime, async { World::new(seed).await.live(MOMENTS).await })
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn no_answer_is_lost_and_none_is_paid_for_twice() {
    let begun = Instant::now();
    let seed = number("HOLDFAST_SEED");
    let first = seed.unwrap_or(1);
    let worlds = number("HOLDFAST_WORLDS").unwrap_or(if seed.is_some() { 1 } else { WORLDS });
    let mut sum = Tally::default();
    let mut faults = BTreeMap::new();
    for seed in first..first + worlds {
        let played = std::panic::catch_unwind(|| play(seed));
        let tally = played.unwrap_or_else(|panic| {
            eprintln!(
                "seed {seed} failed; play it again with `cargo xtask simulate --seed {seed}`"
            );
            std::panic::resume_unwind(panic);
        });
        sum.asks += tally.asks;
        sum.accepted += tally.accepted;
        sum.calls += tally.calls;
        sum.recovered += tally.recovered;
        sum.crashes += tally.crashes;
        sum.reloads += tally.reloads;
        sum.outages += tally.outages;
        sum.stops += tally.stops;
        sum.simulated += tally.simulated;
        for (end, count) in tally.ends {
            *sum.ends.entry(end).or_default() += count;
        }
        for (fault, count) in tally.faults {
            *faults.entry(fault).or_insert(0) += count;
        }
    }
    let real = begun.elapsed().max(Duration::from_millis(1));
    sum.faults = faults;
    println!("{worlds} worlds from seed {first}: {sum:#?}");
    println!(
        "{:.0} s simulated in {:.1} s: {:.0} times as fast",
        sum.simulated.as_secs_f64(),
        real.as_secs_f64(),
        sum.simulated.as_secs_f64() / real.as_secs_f64()
    );
    if worlds >= WORLDS {
        for fault in weather::FAULTS {
            let count = sum.faults.get(fault).copied().unwrap_or(0);
            assert!(count >= EACH, "{fault:?} happened only {count} times");
        }
        for (what, count) in
            [("crashes", sum.crashes), ("reloads", sum.reloads), ("stops", sum.stops)]
        {
            assert!(count >= EACH, "{count} {what} prove nothing");
        }
    }
}
