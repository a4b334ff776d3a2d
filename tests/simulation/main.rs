//! The whole promise by seed: the real recovery machine against the real router, runs and journal, on
//! a simulated disk, under simulated weather and time.
//!
//! `HOLDFAST_SEED=n` plays one world again, or with `HOLDFAST_WORLDS=n` so many from there on;
//! `HOLDFAST_TRACE=1` shows everything that happens.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a simulation fails by panicking"
)]

mod clock;
mod crashes;
mod http;
mod judge;
mod model;
mod rng;
mod server;
mod steps;
mod tab;
mod tally;
mod trace;
mod trouble;
mod weather;
mod world;

use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tally::Tally;
use trace::Mode;
use world::World;

const WORLDS: u64 = 2_000;
const MOMENTS: u64 = 60;
/// Each kind of fault must have happened so often, or the weather was too fair to prove anything.
const EACH: u64 = 50;

fn play(seed: u64, mode: Mode) -> Tally {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    tokio::task::LocalSet::new()
        .block_on(&runtime, async { World::new(seed, mode).await.live(MOMENTS).await })
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
    let mode = if std::env::var_os("HOLDFAST_TRACE").is_some() { Mode::Shown } else { Mode::Off };
    let (next, sum) = (AtomicU64::new(first), Mutex::new(Tally::default()));
    let failed = Mutex::new(Vec::new());
    let players = thread::available_parallelism().map_or(1, Into::into);
    thread::scope(|scope| {
        for _ in 0..players {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + worlds || !failed.lock().unwrap().is_empty() {
                        return;
                    }
                    match catch_unwind(|| play(seed, mode)) {
                        Ok(tally) => sum.lock().unwrap().add(&tally),
                        Err(_) => failed.lock().unwrap().push(seed),
                    }
                }
            });
        }
    });
    if let Some(seed) = failed.lock().unwrap().first() {
        panic!("seed {seed} failed; play it again with `cargo xtask simulate --seed {seed}`");
    }
    let real = begun.elapsed().max(Duration::from_millis(1));
    let sum = sum.into_inner().unwrap();
    println!("{worlds} worlds from seed {first}: {sum}");
    println!(
        "{:.0} s simulated in {:.1} s on {players} cores: {:.0} times as fast",
        sum.simulated.as_secs_f64(),
        real.as_secs_f64(),
        sum.simulated.as_secs_f64() / real.as_secs_f64()
    );
    if worlds >= WORLDS {
        sum.assert_each(EACH);
    }
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 1..=20 {
        let [once, again] = [0, 1].map(|_| play(seed, Mode::Summed));
        assert!(once.trace.0 > 100, "a trace of {} lines is none", once.trace.0);
        assert_eq!(once, again, "seed {seed}");
    }
    assert_ne!(play(1, Mode::Summed).trace, play(2, Mode::Summed).trace);
}
