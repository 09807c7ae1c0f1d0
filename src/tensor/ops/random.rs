//! Random numbers identical, bit for bit, to those of PyTorch 2.7 on an x86-64 CPU with AVX2: the same seed and the
//! same order of calls give the same values. Works on plain slices, not tensors, and checks no parameters: callers must
//! refuse, for example, a negative standard deviation or an oversized tensor, with PyTorch's message.
//!
//! Bit equality has consequences:
//! - every function draws its words in a fixed order, so none may skip values, and only the computation on the words
//!   may be distributed over cores;
//! - non-contiguous tensors are filled in memory order;
//! - complex tensors are filled as pairs of reals; normal numbers use `std / √2`.
//!
//! Uniform numbers are pure arithmetic, and so are 16 or more normal numbers in single precision. The others call the
//! system's `log`, `sin`, `cos`, `tan` and `exp`, as PyTorch does with glibc; with other C libraries, last bits may
//! differ.

mod continuous;
mod discrete;
mod generator;
mod multinomial;
mod real;
mod single;
#[cfg(test)]
mod tests;
mod top;

pub use continuous::{cauchy, exponential, geometric, log_normal};
pub use discrete::{FullRange, bernoulli_scalar, bernoulli_tensor, poisson, random_from_to, random_full, randperm};
pub use generator::Generator;
pub use multinomial::multinomial;
pub use real::Real;

use crate::interrupt;
use crate::parallel::{self, Kernel, vectorised_kernel};
use half::{bf16, f16};
use single::BLOCK;

/// The floating-point dtypes of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealKind {
    F16,
    BF16,
    F32,
    F64,
}

/// Evaluates an expression with `$T` standing for the element type of a [`RealKind`].
macro_rules! with_real {
    ($kind:expr, $T:ident => $value:expr) => {
        match $kind {
            RealKind::F16 => {
                type $T = f16;
                $value
            }
            RealKind::BF16 => {
                type $T = bf16;
                $value
            }
            RealKind::F32 => {
                type $T = f32;
                $value
            }
            RealKind::F64 => {
                type $T = f64;
                $value
            }
        }
    };
}

impl RealKind {
    /// Rounds to the nearest value of this dtype, in double precision.
    pub fn round(self, value: f64) -> f64 {
        with_real!(self, T => T::nearest(value).widen())
    }

    /// Returns the bits of precision: 11, 8, 24 or 53.
    fn digits(self) -> u32 {
        with_real!(self, T => T::PRECISION)
    }

    /// Draws a number from [0, 1) with as many random bits as the dtype has bits of precision.
    fn unit(self, generator: &mut Generator) -> f64 {
        with_real!(self, T => T::unit(generator))
    }
}

/// Draws `n` numbers from [from, to): `torch.rand` and `uniform_(from, to)`. Rounded to the dtype, in double precision.
#[cfg(test)]
pub(crate) fn uniform(generator: &mut Generator, n: usize, kind: RealKind, from: f64, to: f64) -> Vec<f64> {
    with_real!(kind, T => widened(n, |out: &mut [T]| uniform_into(generator, out, from, to)))
}

/// Draws `n` normal numbers: `torch.randn` and `normal_(mean, std)`. Rounded to the dtype, in double precision.
///
/// `contiguous` tells whether the destination tensor is contiguous.
pub fn normal(generator: &mut Generator, n: usize, kind: RealKind, mean: f64, std: f64, contiguous: bool) -> Vec<f64> {
    with_real!(kind, T => widened(n, |out: &mut [T]| normal_into(generator, out, mean, std, contiguous)))
}

fn widened<T: Real>(n: usize, fill: impl FnOnce(&mut [T])) -> Vec<f64> {
    let mut values = vec![T::nearest(0.0); n];
    fill(&mut values);
    values.into_iter().map(T::widen).collect()
}

/// Fills `out` with numbers from [from, to): `torch.rand` and `uniform_(from, to)`.
pub fn uniform_into<T: Real>(generator: &mut Generator, out: &mut [T], from: f64, to: f64) {
    let (from, to) = (T::nearest(from).widen(), T::nearest(to).widen());
    let span = T::nearest(to - from).widen();
    for part in out.chunks_mut(interrupt::STRIDE) {
        if interrupt::requested() {
            return;
        }
        T::units(generator, part);
        vectorised_kernel(UniformRange { part, span, from });
    }
}

/// Fills `out` with normal numbers, like [`normal`].
///
/// Fewer than 16 numbers, and the elements of a non-contiguous tensor, are drawn one by one in double precision.
/// Doubles are generated in pairs, and the second one is kept for the next call. Otherwise numbers are generated in
/// blocks of 16. If the length is not a multiple of 16, the last 16 elements are generated again, including those that
/// already have values.
pub fn normal_into<T: Real>(generator: &mut Generator, out: &mut [T], mean: f64, std: f64, contiguous: bool) {
    if out.len() < BLOCK || !contiguous {
        for value in interrupt::watched(out) {
            *value = T::nearest(generator.normal(mean, std));
        }
        return;
    }
    let (mean, std) = (T::nearest(mean), T::nearest(std));
    let (blocks, rest) = out.as_chunks_mut::<BLOCK>();
    let whole = blocks.as_flattened_mut();
    for part in whole.chunks_mut(interrupt::STRIDE) {
        if interrupt::requested() {
            return;
        }
        T::units(generator, part);
    }
    // The words come from one stream; the computation on them is distributed over cores, in parts that begin at block
    // boundaries. It fails only after Ctrl-C.
    let made = parallel::parts(whole, BLOCK, &|_, part| {
        vectorised_kernel(Normal { part, mean, std });
        Ok(())
    });
    if rest.is_empty() || made.is_err() {
        return;
    }
    // PyTorch draws a word for every element before it generates the first normal number: these words are discarded.
    for _ in rest {
        T::unit(generator);
    }
    if let Some(last) = out.last_chunk_mut::<BLOCK>() {
        T::units(generator, last);
        T::box_muller(last, mean, std, false);
    }
}

/// Maps numbers from [0, 1) to the requested range.
struct UniformRange<'a, T> {
    part: &'a mut [T],
    span: f64,
    from: f64,
}

impl<T: Real> Kernel for UniformRange<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self, fuses: bool) {
        for value in self.part {
            *value = T::nearest(T::fma(value.widen(), self.span, self.from, fuses));
        }
    }
}

/// Converts whole blocks of numbers from [0, 1) to normal numbers.
struct Normal<'a, T> {
    part: &'a mut [T],
    mean: T,
    std: T,
}

impl<T: Real> Kernel for Normal<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self, fuses: bool) {
        for block in self.part.as_chunks_mut().0 {
            T::box_muller(block, self.mean, self.std, fuses);
        }
    }
}
