//! The random numbers of quizzes: SplitMix64 (Steele, Lea and Flood 2014). A generator of our own keeps the sheet of a
//! seed the same in every version and on every machine, whatever becomes of the session's generators.

#[derive(Clone, Debug)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to `end - 1`; 0 if `end` is not positive.
    pub(super) fn below(&mut self, end: i64) -> i64 {
        let end = u64::try_from(end).unwrap_or_default();
        // The upper half of a product divides the range evenly enough, and without a division.
        ((self.next() >> 32).wrapping_mul(end) >> 32) as i64
    }

    /// Returns a number from `first` to `last`.
    pub(super) fn within(&mut self, first: i64, last: i64) -> i64 {
        first + self.below(last - first + 1)
    }

    pub(super) fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Picks an item. The default is for an empty slice, which no table here is.
    pub(super) fn pick<T: Copy + Default>(&mut self, items: &[T]) -> T {
        let at = self.below(items.len() as i64) as usize;
        items.get(at).copied().unwrap_or_default()
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as i64 + 1) as usize);
        }
    }

    /// Returns `count` sizes from `first` to `last`, neighbours of which differ: equal sizes would hide a mistake.
    pub(super) fn sizes(&mut self, count: usize, first: i64, last: i64) -> Vec<i64> {
        let mut sizes: Vec<i64> = Vec::new();
        while sizes.len() < count {
            let size = self.within(first, last);
            if sizes.last() != Some(&size) {
                sizes.push(size);
            }
        }
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_paper() {
        let mut random = Random::new(1_234_567);
        let wanted = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(wanted.map(|_| random.next()), wanted);
    }

    #[test]
    fn numbers_stay_in_their_range_and_reach_its_ends() {
        let mut random = Random::new(3);
        let seen: std::collections::BTreeSet<i64> = (0..200).map(|_| random.within(-2, 4)).collect();
        assert_eq!(seen, (-2..=4).collect());
        assert_eq!(random.below(0), 0);
    }
}
