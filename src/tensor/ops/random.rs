//! Random numbers as PyTorch 2.7 makes them on an x86-64 CPU with AVX2, bit for bit: from the same seed and the same
//! order of calls come the same values. Works on plain slices; knows no tensor, and checks no parameters: a caller
//! has to refuse, say, a negative standard deviation or more elements than there is memory for with PyTorch's message.
//!
//! What follows from bit equality:
//! - every function draws its words in a fixed order, so none may skip values, and only what is computed of the words
//!   may be shared by all cores;
//! - tensors that are not contiguous are filled in the order of their memory;
//! - complex tensors are filled as pairs of reals; normal ones with `std / √2`.
//!
//! Uniform numbers, and normal ones of single precision where 16 or more are made, are pure arithmetic. The others call
//! the system's `log`, `sin`, `cos`, `tan` and `exp`, which are PyTorch's own where the C library is glibc; elsewhere
//! last bits may differ.

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

/// The floating-point dtypes that random numbers are made for.
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
    /// The nearest value of this dtype, in double precision.
    pub fn round(self, value: f64) -> f64 {
        with_real!(self, T => T::nearest(value).widen())
    }

    /// Bits of precision: 11, 8, 24 and 53.
    fn digits(self) -> u32 {
        with_real!(self, T => T::PRECISION)
    }

    /// A number from [0, 1) with as many random bits as the dtype has precision.
    fn unit(self, generator: &mut Generator) -> f64 {
        with_real!(self, T => T::unit(generator))
    }
}

/// `n` numbers from [from, to): `torch.rand` and `uniform_(from, to)`. Rounded to the dtype, in double precision.
#[cfg(test)]
pub(crate) fn uniform(generator: &mut Generator, n: usize, kind: RealKind, from: f64, to: f64) -> Vec<f64> {
    with_real!(kind, T => widened(n, |out: &mut [T]| uniform_into(generator, out, from, to)))
}

/// `n` normal numbers: `torch.randn` and `normal_(mean, std)`. Rounded to the dtype, in double precision.
///
/// `contiguous` tells whether the tensor to be filled is.
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
        vectorised_kernel(Spread { part, span, from });
    }
}

/// Fills `out` with normal numbers, as [`normal`].
///
/// Fewer than 16 numbers, and the elements of a tensor that is not contiguous, come one by one out of a stream of
/// doubles of which every second is kept for the next call. All others are made 16 at a time; if that does not come
/// out even, the last 16 elements are made anew, those that already had a value included.
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
    // The words come from one stream; what becomes of them is for all cores, whose parts begin where blocks do. Nothing
    // but Ctrl-C ends that early.
    let made = parallel::parts(whole, 1, &|_, part| {
        vectorised_kernel(Normal { part, mean, std });
        Ok(())
    });
    if rest.is_empty() || made.is_err() {
        return;
    }
    // PyTorch draws for all elements before it makes the first normal number: these words are spent in vain.
    for _ in rest {
        T::unit(generator);
    }
    if let Some(last) = out.last_chunk_mut::<BLOCK>() {
        T::units(generator, last);
        T::box_muller(last, mean, std, false);
    }
}

/// Moves numbers from [0, 1) to where they are wanted.
struct Spread<'a, T> {
    part: &'a mut [T],
    span: f64,
    from: f64,
}

impl<T: Real> Kernel for Spread<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self, fuses: bool) {
        for value in self.part {
            *value = T::nearest(T::fma(value.widen(), self.span, self.from, fuses));
        }
    }
}

/// Makes whole blocks of numbers from [0, 1) normal.
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
