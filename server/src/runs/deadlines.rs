//! Bounds on how long a run may take, and the sweep that enforces them.
//!
//! A run that calls a provider has two deadlines: for the next sign of life, which every sign moves
//! on, and for its end. Both are kept in the journal too, by the clock that counts through sleep.
//!
//! *Architecture invariant:* no timer enforces a deadline, for timers stand still while the machine
//! sleeps. The sweep compares clocks, and what is overdue when a laptop is opened ends then.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::classify::Verdict;
use super::end::End;
use super::live::Stop;
use super::{Phase, Runs};
use crate::clock::Uptime;
use crate::journal::{Deadlines, Mark};

/// How often runs are looked at.
const SWEEP: Duration = Duration::from_secs(1);
/// How often the journal is asked for runs that nobody has.
const AUDIT: Duration = Duration::from_secs(30);

/// How long a provider may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From the call to the first sign of life.
    pub first_byte: Duration,
    /// From one sign of life to the next.
    pub silence: Duration,
    /// For the whole run.
    pub run: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_mins(5),
            silence: Duration::from_mins(5),
            run: Duration::from_hours(1),
        }
    }
}

impl Limits {
    /// The deadlines of a run that begins now.
    pub(super) fn from(&self, now: Uptime) -> Deadlines {
        Deadlines { silent: now.after(self.first_byte), run: now.after(self.run) }
    }
}

/// The bound that a run has exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    FirstByte(Duration),
    Silence(Duration),
    Run(Duration),
}

/// The deadlines of one run. None before it calls a provider.
#[derive(Debug)]
pub(super) struct Watch {
    silent: AtomicU64,
    run: AtomicU64,
    has_begun: AtomicBool,
}

impl Default for Watch {
    fn default() -> Self {
        let never = || AtomicU64::new(u64::MAX);
        Self { silent: never(), run: never(), has_begun: AtomicBool::new(false) }
    }
}

impl Watch {
    /// The run begins to call its provider.
    pub(super) fn set(&self, deadlines: Deadlines) {
        self.silent.store(deadlines.silent.millis(), Ordering::Relaxed);
        self.run.store(deadlines.run.millis(), Ordering::Relaxed);
    }

    /// A sign of life has come.
    pub(super) fn live(&self, next: Uptime) {
        self.has_begun.store(true, Ordering::Relaxed);
        self.silent.fetch_max(next.millis(), Ordering::Relaxed);
    }

    /// The deadline for the next sign of life.
    pub(super) fn silent(&self) -> Uptime {
        Uptime::from_millis(self.silent.load(Ordering::Relaxed))
    }

    /// The bound that is exceeded now, if any.
    pub(super) fn overdue(&self, now: Uptime, limits: &Limits) -> Option<Overdue> {
        if now.millis() >= self.run.load(Ordering::Relaxed) {
            return Some(Overdue::Run(limits.run));
        }
        (now >= self.silent()).then(|| {
            if self.has_begun.load(Ordering::Relaxed) {
                Overdue::Silence(limits.silence)
            } else {
                Overdue::FirstByte(limits.first_byte)
            }
        })
    }
}

impl Runs {
    /// Sweeps for as long as the server is up.
    pub(super) async fn sweep(&self) {
        let mut audited = Instant::now();
        loop {
            self.0.slots.busy().await;
            sleep(SWEEP).await;
            let now = self.0.clock.uptime();
            for live in self.0.registry.all() {
                if let Some(overdue) = live.watch_over().overdue(now, &self.0.settings.limits) {
                    live.stop(Stop::Overdue(overdue));
                }
            }
            if audited.elapsed() >= AUDIT && *self.0.phase.borrow() == Phase::Serving {
                self.audit(now).await;
                audited = Instant::now();
            }
        }
    }

    /// Ends what the journal has as being called, beyond its deadline, and nobody runs: never
    /// “running” with nobody running it.
    async fn audit(&self, now: Uptime) {
        let overdue = match self.0.journal.overdue(now).await {
            Ok(overdue) => overdue,
            Err(error) => return tracing::warn!(%error, "overdue runs cannot be looked for"),
        };
        for record in overdue {
            if self.0.registry.get(record.key()).is_some() {
                // It is being stopped, or has been and is being archived.
                continue;
            }
            tracing::error!(request_id = %record.outcome.request_id, "ending a run that nobody has");
            let called = record.mark == Mark::Calling { billable: true };
            let end = End::lost(record.provider.clone(), called);
            if let Err(error) = self.put_right(&record, Verdict::Settle(Box::new(end))).await {
                tracing::warn!(%error, "a run that nobody has cannot be ended yet");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        first_byte: Duration::from_secs(30),
        silence: Duration::from_secs(10),
        run: Duration::from_mins(1),
    };

    fn at(seconds: u64) -> Uptime {
        Uptime::from_millis(seconds * 1000)
    }

    #[test]
    fn a_run_that_has_not_called_yet_is_never_overdue() {
        assert_eq!(Watch::default().overdue(at(u64::MAX / 1000), &LIMITS), None);
    }

    #[test]
    fn the_first_byte_silence_and_the_whole_run_have_bounds() {
        let watch = Watch::default();
        watch.set(LIMITS.from(at(100)));
        assert_eq!(watch.overdue(at(129), &LIMITS), None);
        assert_eq!(watch.overdue(at(130), &LIMITS), Some(Overdue::FirstByte(LIMITS.first_byte)));
        watch.live(at(125).after(LIMITS.silence));
        assert_eq!(watch.overdue(at(134), &LIMITS), None);
        assert_eq!(watch.overdue(at(135), &LIMITS), Some(Overdue::Silence(LIMITS.silence)));
        watch.live(at(159).after(LIMITS.silence));
        assert_eq!(watch.overdue(at(159), &LIMITS), None);
        assert_eq!(watch.overdue(at(160), &LIMITS), Some(Overdue::Run(LIMITS.run)));
    }

    #[test]
    fn a_sign_of_life_never_shortens_what_is_left() {
        let watch = Watch::default();
        watch.set(LIMITS.from(at(100)));
        watch.live(at(101).after(LIMITS.silence));
        assert_eq!(watch.silent(), at(130), "the first byte's patience was longer");
    }
}
