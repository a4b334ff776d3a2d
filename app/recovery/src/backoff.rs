//! Pauses between failures: exponential, with full jitter, so that many pages do not come back at once.

use crate::Millis;

const SHORTEST: Millis = 250;
const LONGEST: Millis = 8_000;

/// `SplitMix64` (Steele, Lea, Flood 2014): small, and good enough to spread pauses.
#[derive(Clone, Debug)]
pub(crate) struct Jitter(u64);

impl Jitter {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Evenly from `low` to `high`, both included.
    pub(crate) const fn between(&mut self, low: Millis, high: Millis) -> Millis {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        low + z % (high.saturating_sub(low) + 1)
    }

    /// The pause after so many failures in a row (1 for the first): from 250 ms up to double the
    /// bound before, at most 8 s.
    pub(crate) fn pause(&mut self, failures: u32) -> Millis {
        let bound = SHORTEST.saturating_mul(1 << failures.min(5)).min(LONGEST);
        self.between(SHORTEST, bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its authors' generator for the seed 1234567.
    #[test]
    fn it_is_the_generator_it_says_it_is() {
        let mut jitter = Jitter::new(1_234_567);
        let numbers = [(); 5].map(|()| jitter.between(0, u64::MAX - 1));
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(numbers, expected);
    }

    #[test]
    fn pauses_stay_within_bounds_and_reach_both_ends() {
        let mut jitter = Jitter::new(1);
        for failures in 0..100 {
            for _ in 0..50 {
                let pause = jitter.pause(failures);
                assert!((SHORTEST..=LONGEST).contains(&pause), "{failures}: {pause}");
            }
        }
        let many: Vec<_> = (0..2_000).map(|_| jitter.pause(40)).collect();
        assert!(many.iter().any(|&pause| pause < 600) && many.iter().any(|&pause| pause > 7_600));
    }
}
