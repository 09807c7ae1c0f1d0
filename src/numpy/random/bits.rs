//! The interface of all bit generators, and the byte blocks that hold their states.

use tensor::Error;
use tensor::Result;

/// A stream of random bits. The object layer owns one per `numpy.random.BitGenerator`.
///
/// [`state`](Self::state) returns a block whose length never changes, so an undo log can restore a generator in place.
pub(super) trait BitGenerator {
    /// The class name in Python, which is also `state['bit_generator']`.
    fn name(&self) -> &'static str;

    /// The next 32 bits. Generators of 64-bit words keep the upper half for the following call.
    fn next_u32(&mut self) -> u32;

    /// The next 64 bits. A half kept by [`next_u32`](Self::next_u32) is neither used nor dropped.
    fn next_u64(&mut self) -> u64;

    /// A multiple of 2^-53 in [0, 1).
    fn next_double(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A multiple of 2^-24 in [0, 1).
    fn next_float(&mut self) -> f32 {
        (self.next_u32() >> 8) as f32 * (1.0 / 16_777_216.0)
    }

    /// The next word of the algorithm itself, which `BitGenerator.random_raw` returns.
    fn next_raw(&mut self) -> u64 {
        self.next_u64()
    }

    /// The whole state as bytes.
    fn state(&self) -> Vec<u8>;

    /// Restores a state written by [`state`](Self::state). Fails if the block belongs to another kind of generator.
    fn restore(&mut self, block: &[u8]) -> Result<()>;

    /// `self` as a concrete type, for the `state` dictionary and `advance`.
    fn as_any(&self) -> &dyn std::any::Any;

    /// Same as [`as_any`](Self::as_any), for writing.
    fn as_any_mut(&mut self) -> &mut dyn std::any::Any;
}

/// The half of a 64-bit word that `next_u32` has not handed out: `has_uint32` and `uinteger` in a state dictionary.
/// The word survives its use: NumPy's state shows the last one even when `pending` is false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Half {
    pub pending: bool,
    pub word: u32,
}

impl Half {
    /// Returns the pending half, or the lower half of a fresh word.
    pub(super) fn next(&mut self, fresh: impl FnOnce() -> u64) -> u32 {
        if self.pending {
            self.pending = false;
            return self.word;
        }
        let word = fresh();
        *self = Half { pending: true, word: (word >> 32) as u32 };
        word as u32
    }

    pub(super) fn write(&self, block: &mut Vec<u8>) {
        block.push(u8::from(self.pending));
        block.extend(self.word.to_le_bytes());
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Half> {
        Ok(Half { pending: reader.u8()? != 0, word: reader.u32()? })
    }
}

/// A cursor over a state block.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(block: &'a [u8]) -> Self {
        Reader { rest: block }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or_else(wrong_length)?;
        self.rest = rest;
        Ok(*head)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.take()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    pub(super) fn u128(&mut self) -> Result<u128> {
        Ok(u128::from_le_bytes(self.take()?))
    }

    pub(super) fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.u64()?))
    }

    /// Fails if bytes are left, which means that the block came from a larger state.
    pub(super) fn end(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(wrong_length()) }
    }
}

fn wrong_length() -> tensor::Error {
    Error::value("the state block has the wrong length for this generator")
}
