//! What a distribution draws from: a bit generator, and the numbers that a `RandomState` or `Generator` caches.

use super::bits::{BitGenerator, Reader};
use tensor::Result;

/// A bit generator borrowed together with the cache of the object that draws. Several objects can share one bit
/// generator, but each has its own cache.
pub(super) struct Source<'a> {
    pub bits: &'a mut dyn BitGenerator,
    pub cache: &'a mut Cache,
}

impl<'a> Source<'a> {
    pub(super) fn new(bits: &'a mut dyn BitGenerator, cache: &'a mut Cache) -> Self {
        Source { bits, cache }
    }

    pub(super) fn uniform(&mut self) -> f64 {
        self.bits.next_double()
    }
}

/// The cache of one `RandomState` or `Generator`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cache {
    /// The second number of the last polar pair: `gauss` of a legacy state, with `has_gauss` telling whether it is
    /// set. Only `RandomState` uses it.
    pub gauss: Option<f64>,
    pub(super) binomial: Option<Binomial>,
}

impl Cache {
    /// Forgets the cached gaussian, as `seed` does. The binomial setup stays: it depends on parameters only.
    pub(super) fn reset_gauss(&mut self) {
        self.gauss = None;
    }

    /// The cache as a block of constant length.
    pub(super) fn state(&self) -> Vec<u8> {
        let mut block = Vec::with_capacity(CACHE_BYTES);
        block.push(u8::from(self.gauss.is_some()));
        block.extend(self.gauss.unwrap_or(0.0).to_bits().to_le_bytes());
        let setup = self.binomial.clone().unwrap_or_default();
        block.push(u8::from(self.binomial.is_some()));
        for number in [setup.count, setup.mode] {
            block.extend(number.to_le_bytes());
        }
        for number in setup.reals() {
            block.extend(number.to_bits().to_le_bytes());
        }
        block
    }

    /// Restores a block written by [`state`](Self::state).
    pub(super) fn restore(&mut self, block: &[u8]) -> Result<()> {
        let mut reader = Reader::new(block);
        let has_gauss = reader.u8()? != 0;
        let gauss = reader.f64()?;
        let has_binomial = reader.u8()? != 0;
        let (count, mode) = (reader.u64()? as i64, reader.u64()? as i64);
        let mut reals = [0.0; REALS];
        for number in &mut reals {
            *number = reader.f64()?;
        }
        reader.end()?;
        *self = Cache {
            gauss: has_gauss.then_some(gauss),
            binomial: has_binomial.then(|| Binomial::from_parts(count, mode, reals)),
        };
        Ok(())
    }
}

const REALS: usize = 14;
const CACHE_BYTES: usize = 1 + 8 + 1 + 16 + 8 * REALS;

/// The setup of the last binomial draw, reused while `count` and `chance` stay the same.
///
/// It can outlive a change of algorithm: `RandomState.multinomial` after `RandomState.binomial` with equal parameters
/// reads the setup of the legacy algorithm, whose `power` differs in the last bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Binomial {
    /// The parameters: number of trials and their chance, at most one half.
    pub count: i64,
    pub chance: f64,
    /// The most likely outcome (btpe), or the largest outcome tried (inversion).
    pub mode: i64,
    /// The smaller chance (btpe), or the probability of zero successes (inversion).
    pub power: f64,
    pub other_chance: f64,
    /// Real-valued mode.
    pub peak: f64,
    /// Centre, left and right edge of the triangle in the middle.
    pub centre: f64,
    pub left: f64,
    pub right: f64,
    /// Height of the parallelograms (btpe), or the mean (inversion).
    pub height: f64,
    /// Decay of the tails.
    pub left_decay: f64,
    pub right_decay: f64,
    /// Cumulated areas of triangle, parallelograms, left and right tail.
    pub areas: [f64; 4],
}

impl Binomial {
    fn reals(&self) -> [f64; REALS] {
        let [a, b, c, d] = self.areas;
        let decays = (self.left_decay, self.right_decay);
        [
            self.chance,
            self.power,
            self.other_chance,
            self.peak,
            self.centre,
            self.left,
            self.right,
            self.height,
            decays.0,
            decays.1,
            a,
            b,
            c,
            d,
        ]
    }

    fn from_parts(count: i64, mode: i64, reals: [f64; REALS]) -> Self {
        let [chance, power, other_chance, peak, centre, left, right, height, left_decay, right_decay, a, b, c, d] =
            reals;
        Binomial {
            count,
            chance,
            mode,
            power,
            other_chance,
            peak,
            centre,
            left,
            right,
            height,
            left_decay,
            right_decay,
            areas: [a, b, c, d],
        }
    }
}
