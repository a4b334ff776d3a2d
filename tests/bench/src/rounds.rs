//! Sides measured in turns, and what is made of many figures.

use crate::failure::{Context as _, Result};

/// The figures of one side, one a round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures(Vec<f64>);

impl Figures {
    pub(crate) fn push(&mut self, figure: f64) {
        self.0.push(figure);
    }

    /// The middle one.
    pub(crate) fn median(&self) -> Result<f64> {
        quantile(&mut self.0.clone(), 0.5).doing("find the median of no figures")
    }
}

/// The figure below which this share of all is.
pub(crate) fn quantile(figures: &mut [f64], share: f64) -> Option<f64> {
    figures.sort_unstable_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a share of a length is one"
    )]
    let at = (figures.len() as f64 * share) as usize;
    figures.get(at.min(figures.len().saturating_sub(1))).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_figures() {
        let mut figures = [4.0, 1.0, 3.0, 2.0, 5.0];
        assert_eq!(quantile(&mut figures, 0.5), Some(3.0));
        assert_eq!(quantile(&mut figures, 0.0), Some(1.0));
        assert_eq!(quantile(&mut figures, 1.0), Some(5.0));
        assert_eq!(quantile(&mut [], 0.5), None);
    }
}
