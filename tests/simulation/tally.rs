//! What worlds saw, counted: a simulation in fair weather would prove nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::trouble::{TROUBLES, Trouble};
use crate::weather::{FAULTS, Fault};

/// What one world saw, or many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) asks: u64,
    pub(crate) accepted: u64,
    pub(crate) calls: u64,
    pub(crate) recovered: u64,
    /// Outcomes that came by a stream.
    pub(crate) told: u64,
    /// Ends, by the outcome's status.
    pub(crate) ends: BTreeMap<&'static str, u64>,
    /// Everything else that happened, by what it was.
    pub(crate) happened: BTreeMap<&'static str, u64>,
    /// Faults of the line that struck.
    pub(crate) faults: BTreeMap<Fault, u64>,
    /// Spells of trouble with the disk.
    pub(crate) troubles: BTreeMap<Trouble, u64>,
    /// Operations of the disk that were made to fail.
    pub(crate) disk_failures: u64,
    /// Times an invariant of the whole was looked at while the world went on.
    pub(crate) audits: u64,
    pub(crate) simulated: Duration,
    /// The lines of the trace and what they come to, where one was kept.
    pub(crate) trace: (u64, u64),
}

fn add<K: Ord + Copy>(sum: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    for (key, count) in more {
        *sum.entry(*key).or_default() += count;
    }
}

impl Tally {
    pub(crate) fn happens(&mut self, what: &'static str) {
        *self.happened.entry(what).or_default() += 1;
    }

    pub(crate) fn add(&mut self, more: &Self) {
        self.asks += more.asks;
        self.accepted += more.accepted;
        self.calls += more.calls;
        self.recovered += more.recovered;
        self.told += more.told;
        self.disk_failures += more.disk_failures;
        self.audits += more.audits;
        self.simulated += more.simulated;
        add(&mut self.ends, &more.ends);
        add(&mut self.happened, &more.happened);
        add(&mut self.faults, &more.faults);
        add(&mut self.troubles, &more.troubles);
    }

    /// Faults of every kind that struck.
    pub(crate) fn all_faults(&self) -> u64 {
        let happened = FAULTY.iter().filter_map(|what| self.happened.get(what));
        self.faults.values().chain(happened).sum::<u64>() + self.disk_failures
    }

    /// Asserts that each kind of fault happened so often at least.
    pub(crate) fn assert_each(&self, least: u64) {
        for fault in FAULTS {
            let count = self.faults.get(fault).copied().unwrap_or(0);
            assert!(count >= least, "{fault:?} happened only {count} times");
        }
        for trouble in TROUBLES {
            let count = self.troubles.get(trouble).copied().unwrap_or(0);
            assert!(count >= least, "{trouble:?} happened only {count} times");
        }
        for what in EVENTS {
            let count = self.happened.get(what).copied().unwrap_or(0);
            assert!(count >= least, "“{what}” happened only {count} times");
        }
        assert!(self.told >= least, "{} outcomes came by a stream", self.told);
        assert!(self.disk_failures >= least, "the disk failed {} times", self.disk_failures);
    }
}

pub(crate) const KILLED: &str = "killed";
pub(crate) const POWER_LOST: &str = "power lost";
pub(crate) const STOPPED: &str = "stopped in order";
pub(crate) const RELOADED: &str = "reloaded";
pub(crate) const OUTAGE: &str = "outage";
pub(crate) const CANCELLED: &str = "stop pressed";
pub(crate) const COPIED: &str = "tab copied";
pub(crate) const FORGOTTEN: &str = "site data cleared";
pub(crate) const SERVER_SLEPT: &str = "server slept";
pub(crate) const PAGE_SLEPT: &str = "page's machine slept";
pub(crate) const SERVER_JUMPED: &str = "server's clock jumped";
pub(crate) const PAGE_JUMPED: &str = "page's clock jumped";
pub(crate) const ASKED_AGAIN: &str = "asked again on purpose, twice at once";
pub(crate) const PRESSED_AGAIN: &str = "“Ask again” pressed";

/// Each of these must happen.
const EVENTS: &[&str] = &[
    KILLED,
    POWER_LOST,
    STOPPED,
    RELOADED,
    OUTAGE,
    CANCELLED,
    COPIED,
    FORGOTTEN,
    SERVER_SLEPT,
    PAGE_SLEPT,
    SERVER_JUMPED,
    PAGE_JUMPED,
    ASKED_AGAIN,
    PRESSED_AGAIN,
];

/// Those among them that are faults.
const FAULTY: &[&str] =
    &[KILLED, POWER_LOST, OUTAGE, RELOADED, SERVER_SLEPT, PAGE_SLEPT, SERVER_JUMPED, PAGE_JUMPED];

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asks, accepted, calls, recovered, audits, .. } = self;
        writeln!(
            f,
            "{asks} asks, {accepted} accepted, 0 lost; {calls} provider calls, at most one an ask"
        )?;
        writeln!(f, "{recovered} answers shown as recovered; {audits} audits under way")?;
        writeln!(f, "{} outcomes came by a stream", self.told)?;
        writeln!(f, "ends: {:?}", self.ends)?;
        writeln!(f, "{} faults: on the line {:?}", self.all_faults(), self.faults)?;
        writeln!(f, "on the disk {:?}, {} failed operations", self.troubles, self.disk_failures)?;
        writeln!(f, "and {:?}", self.happened)
    }
}
