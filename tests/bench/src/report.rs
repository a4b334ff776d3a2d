//! What is printed: what is being done, and in the end the table.

use std::time::Instant;

/// Says what is being done, and when.
#[derive(Debug)]
pub(crate) struct Progress(Instant);

impl Progress {
    pub(crate) fn begin() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn say(&self, word: &str) {
        eprintln!("{:>6.1} s  {word}", self.0.elapsed().as_secs_f64());
    }
}

/// What a ratio should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bar {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// Printed beside another.
    Beside,
}

impl Bar {
    fn tell(self, ratio: f64) -> String {
        let (is_met, bar) = match self {
            Self::AtMost(most) => (ratio <= most, format!("≤ {most}")),
            Self::AtLeast(least) => (ratio >= least, format!("≥ {least}")),
            Self::Beside => return String::new(),
        };
        format!("{bar:<7} {}", if is_met { "met" } else { "MISSED" })
    }
}

/// One ratio with both its sides.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// What is measured.
    pub(crate) what: String,
    /// Holdfast's side, with its unit.
    pub(crate) ours: String,
    /// The other side, with its unit.
    pub(crate) other: String,
    /// The one by the other.
    pub(crate) ratio: f64,
    /// What it should be.
    pub(crate) bar: Bar,
}

/// Prints all rows.
pub(crate) fn table(rows: &[Row]) {
    let widest = |text: fn(&Row) -> &str, heading: &str| {
        rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0).max(heading.len())
    };
    let (what, ours, other) = (
        widest(|row| &row.what, "measured"),
        widest(|row| &row.ours, "holdfast"),
        widest(|row| &row.other, "against"),
    );
    println!(
        "\n{:what$}  {:>ours$}  {:>other$}  {:>7}  bar",
        "measured", "holdfast", "against", "ratio"
    );
    for row in rows {
        println!(
            "{:what$}  {:>ours$}  {:>other$}  {:>7.3}  {}",
            row.what,
            row.ours,
            row.other,
            row.ratio,
            row.bar.tell(row.ratio)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_met_or_missed() {
        assert!(Bar::AtMost(1.5).tell(1.5).ends_with(" met"));
        assert!(Bar::AtMost(1.5).tell(1.6).ends_with(" MISSED"));
        assert!(Bar::AtLeast(0.7).tell(0.7).ends_with(" met"));
        assert!(Bar::AtLeast(0.7).tell(0.69).ends_with(" MISSED"));
        assert!(Bar::AtLeast(0.7).tell(f64::NAN).ends_with(" MISSED"));
    }
}
