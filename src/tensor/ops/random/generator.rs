//! The Mersenne Twister (MT19937) as in PyTorch's CPU generator: seeding, words, saved state, and the normal sample
//! cached for the next call. Independent of dtypes and tensors.

use crate::missing_seed;
use crate::parallel::vectorised;
use crate::system::{Machine, System};

/// The number of words in the twister's state.
const WORDS: usize = 624;
/// The distance from a word to the one that it is mixed with.
const SHIFT: usize = 397;
/// The seed of an unseeded generator (`c10::default_rng_seed_val`).
const DEFAULT_SEED: u64 = 67_280_421_310_721;
/// 2^-53: the step between the doubles drawn from [0, 1).
const STEP_53: f64 = 1.0 / (1u64 << 53) as f64;

// Byte offsets in a saved state. PyTorch saves a C struct whose members are:
// seed u64, left i32, seeded i32, next u64, state 624 x u64, normal x, y, rho f64, normal valid i32,
// and (in the longer of its two forms, after 4 bytes of padding) a float normal f32 and its valid flag.
const AT_LEFT: usize = 8;
const AT_SEEDED: usize = 12;
const AT_NEXT: usize = 16;
const AT_WORDS: usize = 24;
const AT_NORMAL_X: usize = AT_WORDS + 8 * WORDS;
const AT_NORMAL_Y: usize = AT_NORMAL_X + 8;
const AT_NORMAL_RHO: usize = AT_NORMAL_X + 16;
const AT_NORMAL_VALID: usize = AT_NORMAL_X + 24;
const LEGACY_BYTES: usize = 5048;
const STATE_BYTES: usize = 5056;

/// A random number generator with the stream of `torch.Generator()` on the CPU.
///
/// <https://pytorch.org/docs/2.7/generated/torch.Generator.html>
#[derive(Clone, Debug, PartialEq)]
pub struct Generator {
    seed: u64,
    words: [u32; WORDS],
    /// The index of the next word, at most `WORDS`. At 0 (just seeded) and at `WORDS`, the words must be renewed first.
    next: usize,
    /// Box–Muller generates normal numbers in pairs; the second one is cached here, across calls and dtypes.
    cached_normal: Option<f64>,
    /// Whether the program has not given a seed.
    is_unseeded: bool,
}

impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}

impl Generator {
    /// Creates a generator with PyTorch's fixed default seed, 67280421310721.
    pub fn new() -> Self {
        Generator::seeded(DEFAULT_SEED)
    }

    /// Creates a generator with this seed.
    pub fn seeded(seed: u64) -> Self {
        let mut generator = Generator { seed, words: [0; WORDS], next: 0, cached_normal: None, is_unseeded: false };
        generator.manual_seed(seed);
        generator
    }

    /// Creates a generator that the program has not seeded.
    pub fn unseeded() -> Self {
        Generator { is_unseeded: true, ..Generator::seeded(missing_seed::get()) }
    }

    /// Restarts the stream. A negative Python seed is passed as its two's complement (`seed as u64`).
    ///
    /// Only the low 32 bits choose the stream, but [`initial_seed`](Self::initial_seed) returns all 64.
    pub fn manual_seed(&mut self, seed: u64) {
        self.seed = seed;
        self.next = 0;
        self.cached_normal = None;
        self.is_unseeded = false;
        let mut word = seed as u32;
        for (index, slot) in (0u32..).zip(&mut self.words) {
            if index > 0 {
                word = (word ^ (word >> 30)).wrapping_mul(1_812_433_253).wrapping_add(index);
            }
            *slot = word;
        }
    }

    /// Seeds from the operating system's entropy and returns the new seed.
    pub fn seed(&mut self) -> u64 {
        let seed = System::entropy();
        self.manual_seed(seed);
        self.is_unseeded = true;
        seed
    }

    /// Returns the last seed.
    pub fn initial_seed(&self) -> u64 {
        self.seed
    }

    /// Returns the next 32 random bits.
    #[inline]
    pub fn random(&mut self) -> u32 {
        if self.next.is_multiple_of(WORDS) {
            self.renew();
        }
        let word = self.words[self.next];
        self.next += 1;
        tempered(word)
    }

    /// Fills `out` with `number` applied to the next words, one for each element.
    pub(super) fn fill<T>(&mut self, mut out: &mut [T], number: impl Fn(u32) -> T) {
        while !out.is_empty() {
            if self.next.is_multiple_of(WORDS) {
                self.renew();
            }
            let words = &self.words[self.next..];
            let (now, later) = out.split_at_mut(words.len().min(out.len()));
            vectorised(|| now.iter_mut().zip(words).for_each(|(value, &word)| *value = number(tempered(word))));
            self.next += now.len();
            out = later;
        }
    }

    /// Returns the next 64 random bits; the word drawn first is the upper half.
    #[inline]
    pub(crate) fn random64(&mut self) -> u64 {
        let upper = self.random();
        (u64::from(upper) << 32) | u64::from(self.random())
    }

    /// Returns a double from [0, 1), a multiple of 2^-53; draws two words.
    #[inline]
    pub(super) fn unit(&mut self) -> f64 {
        (self.random64() & ((1 << 53) - 1)) as f64 * STEP_53
    }

    /// Returns one normal sample in double precision; every second call returns the cached second half of a pair.
    pub(super) fn normal(&mut self, mean: f64, std: f64) -> f64 {
        let sample = self.cached_normal.take().unwrap_or_else(|| {
            let turn = self.unit();
            let radius = (-2.0 * (-self.unit()).ln_1p()).sqrt();
            let angle = 2.0 * std::f64::consts::PI * turn;
            self.cached_normal = Some(radius * angle.sin());
            radius * angle.cos()
        });
        sample.mul_add(std, mean)
    }

    /// Returns the 5056 bytes of `torch.Generator.get_state()`.
    pub fn state_bytes(&self) -> Vec<u8> {
        let left = if self.next == 0 { 1 } else { WORDS + 1 - self.next };
        let mut bytes = Vec::with_capacity(STATE_BYTES);
        bytes.extend(self.seed.to_le_bytes());
        bytes.extend((left as u32).to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        bytes.extend((self.next as u64).to_le_bytes());
        for word in self.words {
            bytes.extend(u64::from(word).to_le_bytes());
        }
        bytes.extend(0f64.to_le_bytes());
        bytes.extend(self.cached_normal.unwrap_or(0.0).to_le_bytes());
        bytes.extend(0f64.to_le_bytes());
        bytes.extend(u32::from(self.cached_normal.is_some()).to_le_bytes());
        bytes.resize(STATE_BYTES, 0);
        bytes
    }

    /// Restores a state saved by [`state_bytes`](Self::state_bytes) or by PyTorch. On an error, nothing changes.
    ///
    /// Also accepts the older form of 5048 bytes. PyTorch accepts some inconsistent states (an index that does not
    /// match the number of words left) and later reads out of bounds; they are refused here with PyTorch's message for
    /// invalid states. The float normal of the longer form is ignored: the CPU never uses it.
    pub fn set_state_bytes(&mut self, bytes: &[u8]) -> Result<(), String> {
        if bytes.len() != STATE_BYTES && bytes.len() != LEGACY_BYTES {
            return Err(format!(
                "Expected either a CPUGeneratorImplStateLegacy of size {LEGACY_BYTES} or a CPUGeneratorImplState of \
                 size {STATE_BYTES} but found the input RNG state size to be {}",
                bytes.len()
            ));
        }
        let left = i64::from(field(bytes, AT_LEFT, i32::from_le_bytes));
        let seeded = field(bytes, AT_SEEDED, i32::from_le_bytes);
        let next = field(bytes, AT_NEXT, u64::from_le_bytes);
        let fresh = next == 0 && left == 1;
        let running = (1..=WORDS as u64).contains(&next) && left == (WORDS as u64 + 1 - next) as i64;
        if seeded != 1 || !(fresh || running) {
            return Err("Invalid mt19937 state".to_owned());
        }
        self.seed = field(bytes, 0, u64::from_le_bytes);
        self.next = next as usize;
        for (index, word) in self.words.iter_mut().enumerate() {
            *word = field(bytes, AT_WORDS + 8 * index, u32::from_le_bytes);
        }
        self.cached_normal = (field(bytes, AT_NORMAL_VALID, i32::from_le_bytes) != 0).then(|| {
            if bytes.len() == STATE_BYTES {
                return field(bytes, AT_NORMAL_Y, f64::from_le_bytes);
            }
            // The older form saves the polar coordinates of the pair instead of its second half.
            let turn = field(bytes, AT_NORMAL_X, f64::from_le_bytes);
            let radius = field(bytes, AT_NORMAL_RHO, f64::from_le_bytes);
            radius * (2.0 * std::f64::consts::PI * turn).sin()
        });
        Ok(())
    }

    /// Computes the next 624 words from the last ones.
    fn renew(&mut self) {
        if self.is_unseeded {
            missing_seed::note();
        }
        let words = &mut self.words;
        vectorised(|| {
            for i in 0..WORDS - SHIFT {
                words[i] = words[i + SHIFT] ^ twist(words[i], words[i + 1]);
            }
            for i in WORDS - SHIFT..WORDS - 1 {
                words[i] = words[i + SHIFT - WORDS] ^ twist(words[i], words[i + 1]);
            }
        });
        words[WORDS - 1] = words[SHIFT - 1] ^ twist(words[WORDS - 1], words[0]);
        self.next = 0;
    }
}

/// Returns the output for a word of the state.
#[inline(always)]
fn tempered(mut word: u32) -> u32 {
    word ^= word >> 11;
    word ^= (word << 7) & 0x9D2C_5680;
    word ^= (word << 15) & 0xEFC6_0000;
    word ^ (word >> 18)
}

/// Multiplies the upper bit of one word and the lower 31 bits of its successor by the twister's matrix.
#[inline(always)]
fn twist(word: u32, successor: u32) -> u32 {
    let joined = (word & 0x8000_0000) | (successor & 0x7FFF_FFFF);
    (joined >> 1) ^ ((successor & 1).wrapping_neg() & 0x9908_B0DF)
}

/// Reads the number at `offset`. Returns zero if the bytes are too short, which the caller's length check rules out.
fn field<T, const SIZE: usize>(bytes: &[u8], offset: usize, read: impl Fn([u8; SIZE]) -> T) -> T {
    let raw = bytes.get(offset..).and_then(|rest| rest.first_chunk::<SIZE>());
    read(*raw.unwrap_or(&[0; SIZE]))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SEEDS, hash, mixed_stream, seeded};
    use super::*;

    #[test]
    fn saved_state_is_pytorchs() {
        let state_hash = |g: &Generator| hash(g.state_bytes().into_iter().map(u64::from));
        let fresh = [0x6e4956e9, 0x9c4dd982, 0xa6181176, 0xe8c0cc76, 0x930da405, 0x203d6acf];
        for (seed, expected) in SEEDS.into_iter().zip(fresh) {
            let mut generator = seeded(seed);
            generator.random64();
            generator.random64();
            assert_eq!(state_hash(&generator), expected, "seed {seed}");
        }
        assert_eq!(state_hash(&mixed_stream()), 0x11bb9b4c);
    }

    #[test]
    fn state_restores_the_stream_and_the_normal_kept_back() {
        let mut original = seeded(3);
        for draws in 0..1300 {
            let mut copy = Generator::new();
            assert_eq!(copy.set_state_bytes(&original.state_bytes()), Ok(()), "after {draws} draws");
            assert_eq!(copy, original, "after {draws} draws");
            original.random();
        }
        original.normal(0.0, 1.0);
        let mut copy = Generator::new();
        assert_eq!(copy.set_state_bytes(&original.state_bytes()), Ok(()));
        assert_eq!(copy, original);
    }

    #[test]
    fn older_states_are_read() {
        let mut bytes = seeded(1).state_bytes();
        bytes.truncate(5048);
        // x = 0.25 is a quarter turn, rho = 2 the radius: the cached normal is 2 sin(π/2).
        bytes[5016..5024].copy_from_slice(&0.25f64.to_le_bytes());
        bytes[5032..5040].copy_from_slice(&2f64.to_le_bytes());
        bytes[5040] = 1;
        let mut generator = Generator::new();
        assert_eq!(generator.set_state_bytes(&bytes), Ok(()));
        assert_eq!(generator.normal(0.0, 1.0), 2.0);
    }

    #[test]
    fn bad_states_are_refused() {
        let good = seeded(1).state_bytes();
        let patched = |offset: usize, value: u8| {
            let mut bytes = good.clone();
            bytes[offset] = value;
            bytes
        };
        let size = |size: usize| {
            format!(
                "Expected either a CPUGeneratorImplStateLegacy of size 5048 or a CPUGeneratorImplState of size 5056 but \
                 found the input RNG state size to be {size}"
            )
        };
        let invalid = || "Invalid mt19937 state".to_owned();
        let cases = [
            (good[..5047].to_vec(), size(5047)),
            (Vec::new(), size(0)),
            (patched(8, 0), invalid()),
            (patched(8, 9), invalid()),
            (patched(12, 0), invalid()),
            (patched(16, 3), invalid()),
            (patched(23, 0xff), invalid()),
        ];
        for (bytes, message) in cases {
            let mut generator = seeded(5);
            assert_eq!(generator.set_state_bytes(&bytes), Err(message));
            assert_eq!(generator, seeded(5));
        }
    }

    #[test]
    fn seeds_from_the_system_differ() {
        let mut generator = Generator::new();
        let (first, second) = (generator.seed(), generator.seed());
        assert_ne!(first, second);
        assert_eq!(generator.initial_seed(), second);
        // The program has not chosen this seed.
        assert_eq!(generator, Generator { is_unseeded: true, ..seeded(second) });
    }
}
