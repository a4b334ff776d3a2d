//! What the operating system knows about this process, and what it allows.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::failure::{Context as _, Failure, Result};

/// Resident memory, in KiB.
pub(crate) fn resident() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status").doing("read /proc/self/status")?;
    status
        .lines()
        .find_map(|line| {
            line.strip_prefix("VmRSS:")?.trim().strip_suffix("kB")?.trim().parse().ok()
        })
        .doing("find the resident memory in /proc/self/status")
}

/// Time of the processors that this process has taken, in seconds.
pub(crate) fn cpu_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat").doing("read /proc/self/stat")?;
    // The second field is a name, which may hold spaces, in brackets.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ').skip(11);
    let ticks: Vec<u64> = fields.take(2).filter_map(|field| field.parse().ok()).collect();
    let [user, system] = *ticks else {
        return Err(Failure::new("/proc/self/stat does not tell the time of the processors"));
    };
    #[expect(clippy::cast_precision_loss, reason = "ticks of some minutes")]
    Ok((user + system) as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Allows as many open files as the system lets this process have.
pub(crate) fn raise_open_files(wanted: u64) -> Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if maximum.is_some_and(|maximum| maximum < wanted) {
        return Err(Failure::new(format!(
            "{wanted} open files are needed, and the hard limit is {}",
            maximum.unwrap_or_default()
        )));
    }
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).doing("raise RLIMIT_NOFILE")
}
