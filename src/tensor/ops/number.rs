//! The compute types of kernels, and how each dtype's elements convert to one: 16-bit and 8-bit floats compute in
//! `float32`, everything else in its own type. Independent of tensors.

use crate::float8::{Float8, Format};
use crate::memory::{BoolByte, Plain};
use crate::parallel::{halves, singles, vectorised};
use crate::{DType, Element, Scalar};
use half::{bf16, f16};
use num_complex::Complex;
use num_traits::{Float, PrimInt, WrappingAdd, WrappingMul, WrappingNeg, WrappingSub};

/// A type that kernels compute in.
pub trait Number: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// Converts a number to this type, wrapped or rounded like an element.
    fn from_scalar(value: Scalar) -> Self;
    fn to_scalar(self) -> Scalar;
    fn conjugate(self) -> Self {
        self
    }
    fn negate(self) -> Self;
    /// Returns whether the number is nonzero; NaN is.
    fn truth(self) -> bool;
    /// Returns the slices as what they are if this is `f32`, whose loops have a form of their own on a page.
    #[cfg(target_feature = "simd128")]
    fn as_singles<'s>(_from: &'s [Self], _to: &'s mut [Self]) -> Option<(&'s [f32], &'s mut [f32])> {
        None
    }
}

/// An element type and its compute type.
pub trait Stored: Element {
    type Compute: Number;
    /// The type that conversions to other dtypes pass through; it can hold every value.
    type Intermediate: Copy + Default;
    fn widen(self) -> Self::Compute;
    fn narrow(value: Self::Compute) -> Self;

    /// Returns the elements themselves if they need no conversion.
    fn as_computed(_elements: &[Self]) -> Option<&[Self::Compute]> {
        None
    }

    /// Returns the elements as a destination for results if they need no conversion.
    fn as_computed_mut(_elements: &mut [Self]) -> Option<&mut [Self::Compute]> {
        None
    }

    /// Widens as many elements as `into` can hold.
    #[inline(never)]
    fn widen_all(elements: &[Self], into: &mut [Self::Compute]) {
        vectorised(|| into.iter_mut().zip(elements).for_each(|(value, element)| *value = element.widen()));
    }

    /// Narrows as many values as `into` can hold.
    #[inline(never)]
    fn narrow_all(values: &[Self::Compute], into: &mut [Self]) {
        vectorised(|| into.iter_mut().zip(values).for_each(|(element, &value)| *element = Self::narrow(value)));
    }
}

/// Integers; arithmetic wraps.
pub trait Integer: Number + PrimInt + WrappingAdd + WrappingSub + WrappingMul {
    const BITS: u32;
    const SIGNED: bool;
    fn wrapping_negate(self) -> Self;
    fn as_f64(self) -> f64;
    /// Returns the lowest bits of `value`.
    fn wrapped(value: i64) -> Self;
    /// Truncating division; the one overflowing quotient wraps. The divisor must not be zero.
    fn quotient(self, divisor: Self) -> Self;
    /// The remainder of [`Integer::quotient`], with the dividend's sign.
    fn rest(self, divisor: Self) -> Self;
    fn power(self, exponent: u64) -> Self;
}

/// Rounds a number in single precision to the 16-bit float `S`.
#[inline(always)]
pub fn rounded<S: Stored<Compute = f32>>(value: f32) -> f32 {
    S::narrow(value).widen()
}

/// Returns whether this is `f32`, not `f64`.
#[inline(always)]
pub(crate) const fn is_single<T: Real>() -> bool {
    size_of::<T>() == size_of::<f32>()
}

/// `f32` and `f64`, which kernels compute in, and the 16-bit floats, which round after every step.
pub trait Real: Number + Float {
    /// A type that holds the rounding errors of a sum.
    type Wide: Real;
    /// Applies a function of `f64` and rounds once. `f32` results are then correctly rounded, except for rare ties.
    fn via_f64(self, function: impl Fn(f64) -> f64) -> Self;
    fn from_f64(value: f64) -> Self;
    fn as_f64(self) -> f64;
    /// `self * factor + addend` with one rounding.
    fn fused(self, factor: Self, addend: Self) -> Self;
    /// Returns the next number of this type, upwards or downwards.
    fn neighbour(self, up: bool) -> Self;
}

impl Number for BoolByte {
    #[inline]
    fn from_scalar(value: Scalar) -> BoolByte {
        BoolByte::store(value)
    }
    #[inline]
    fn to_scalar(self) -> Scalar {
        self.load()
    }
    #[inline]
    fn negate(self) -> BoolByte {
        self
    }
    #[inline]
    fn truth(self) -> bool {
        self.get()
    }
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Number for $t {
            #[inline]
            fn from_scalar(value: Scalar) -> $t {
                <$t as Element>::store(value)
            }
            #[inline]
            fn to_scalar(self) -> Scalar {
                self.load()
            }
            #[inline]
            fn negate(self) -> $t {
                self.wrapping_neg()
            }
            #[inline]
            fn truth(self) -> bool {
                self != 0
            }
        }

        impl Integer for $t {
            const BITS: u32 = <$t>::BITS;
            #[allow(unused_comparisons)]
            const SIGNED: bool = <$t>::MIN < 0;
            #[inline]
            fn wrapping_negate(self) -> $t {
                WrappingNeg::wrapping_neg(&self)
            }
            #[inline(always)]
            fn as_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn wrapped(value: i64) -> $t {
                value as $t
            }
            #[inline]
            fn quotient(self, divisor: $t) -> $t {
                self.wrapping_div(divisor)
            }
            #[inline]
            fn rest(self, divisor: $t) -> $t {
                self.wrapping_rem(divisor)
            }
            #[inline]
            fn power(self, mut exponent: u64) -> $t {
                let (mut result, mut square): ($t, $t) = (1, self);
                while exponent > 0 {
                    if exponent & 1 == 1 {
                        result = result.wrapping_mul(square);
                    }
                    square = square.wrapping_mul(square);
                    exponent >>= 1;
                }
                result
            }
        }

    )*};
}
integers!(u8 i8 i16 i32 i64 u16 u32 u64);

/// Types that are their own compute type.
macro_rules! stored_as_computed {
    ($($t:ty: $through:ty;)*) => {$(
        impl Stored for $t {
            type Compute = $t;
            type Intermediate = $through;
            #[inline(always)]
            fn widen(self) -> $t {
                self
            }
            #[inline(always)]
            fn narrow(value: $t) -> $t {
                value
            }
            fn as_computed(elements: &[Self]) -> Option<&[Self]> {
                Some(elements)
            }
            fn as_computed_mut(elements: &mut [Self]) -> Option<&mut [Self]> {
                Some(elements)
            }
        }
    )*};
}
stored_as_computed! {
    u8: i64;
    i8: i64;
    i16: i64;
    i32: i64;
    i64: i64;
    u16: i64;
    u32: i64;
    u64: u64;
    f32: f64;
    f64: f64;
    Complex<f32>: Complex<f64>;
    Complex<f64>: Complex<f64>;
}

macro_rules! reals {
    ($($t:ty: $wide:ty, $as_singles:expr;)*) => {$(
        impl Number for $t {
            #[cfg(target_feature = "simd128")]
            #[inline(always)]
            fn as_singles<'s>(from: &'s [$t], to: &'s mut [$t]) -> Option<(&'s [f32], &'s mut [f32])> {
                $as_singles(from, to)
            }
            #[inline]
            fn from_scalar(value: Scalar) -> $t {
                <$t as Element>::store(value)
            }
            #[inline]
            fn to_scalar(self) -> Scalar {
                Scalar::Float(f64::from(self))
            }
            #[inline]
            fn negate(self) -> $t {
                -self
            }
            #[inline]
            fn truth(self) -> bool {
                self != 0.0
            }
        }

        impl Real for $t {
            type Wide = $wide;
            #[inline]
            fn via_f64(self, function: impl Fn(f64) -> f64) -> $t {
                function(f64::from(self)) as $t
            }
            #[inline]
            fn from_f64(value: f64) -> $t {
                value as $t
            }
            #[inline]
            fn as_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline]
            fn fused(self, factor: $t, addend: $t) -> $t {
                self.mul_add(factor, addend)
            }
            #[inline]
            fn neighbour(self, up: bool) -> $t {
                if up { self.next_up() } else { self.next_down() }
            }
        }

        impl Number for Complex<$t> {
            #[inline]
            fn from_scalar(value: Scalar) -> Self {
                <Complex<$t> as Element>::store(value)
            }
            #[inline]
            fn to_scalar(self) -> Scalar {
                self.load()
            }
            #[inline]
            fn conjugate(self) -> Self {
                self.conj()
            }
            #[inline]
            fn negate(self) -> Self {
                -self
            }
            #[inline]
            fn truth(self) -> bool {
                self.re != 0.0 || self.im != 0.0
            }
        }
    )*};
}
reals! {
    f32: f64, |from, to| Some((from, to));
    f64: f64, |_, _| None;
}

/// Types computed in single precision and rounded after every step.
macro_rules! narrow_reals {
    ($($t:ty)*) => {$(
        impl Number for $t {
            fn from_scalar(value: Scalar) -> $t {
                <$t as Element>::store(value)
            }
            fn to_scalar(self) -> Scalar {
                self.load()
            }
            fn negate(self) -> $t {
                -self
            }
            fn truth(self) -> bool {
                self.to_f32() != 0.0
            }
        }

        impl Real for $t {
            type Wide = f32;
            fn via_f64(self, function: impl Fn(f64) -> f64) -> $t {
                <$t>::from_f32(function(f64::from(self)) as f32)
            }
            fn from_f64(value: f64) -> $t {
                <$t>::from_f32(value as f32)
            }
            fn as_f64(self) -> f64 {
                f64::from(self)
            }
            fn fused(self, factor: $t, addend: $t) -> $t {
                self * factor + addend
            }
            fn neighbour(self, up: bool) -> $t {
                let bits = if self.to_f32() == 0.0 {
                    // The smallest number above or below zero.
                    1 | u16::from(!up) << 15
                } else if (self.to_f32() < 0.0) == up {
                    self.to_bits() - 1
                } else {
                    self.to_bits() + 1
                };
                <$t>::from_bits(bits)
            }
        }
    )*};
}
narrow_reals!(f16 bf16);

impl Stored for BoolByte {
    type Compute = BoolByte;
    type Intermediate = i64;
    #[inline(always)]
    fn widen(self) -> BoolByte {
        self
    }
    #[inline(always)]
    fn narrow(value: BoolByte) -> BoolByte {
        BoolByte::new(value.get())
    }
    fn as_computed(elements: &[BoolByte]) -> Option<&[BoolByte]> {
        Some(elements)
    }
    fn as_computed_mut(elements: &mut [BoolByte]) -> Option<&mut [BoolByte]> {
        Some(elements)
    }
}

impl Stored for f16 {
    type Compute = f32;
    type Intermediate = f64;
    #[inline(always)]
    fn widen(self) -> f32 {
        half_to_single(self.to_bits())
    }
    #[inline(always)]
    fn narrow(value: f32) -> f16 {
        f16::from_bits(single_to_half(value))
    }
    fn widen_all(elements: &[f16], into: &mut [f32]) {
        let done = singles(elements, into);
        into.iter_mut().zip(elements).skip(done).for_each(|(value, element)| *value = element.widen());
    }
    fn narrow_all(values: &[f32], into: &mut [f16]) {
        let done = halves(values, into);
        into.iter_mut().zip(values).skip(done).for_each(|(element, &value)| *element = f16::narrow(value));
    }
}

/// Converts half precision to single precision with arithmetic that has no branches and vectorises. The `half` crate
/// checks the processor's features for each number.
#[inline(always)]
fn half_to_single(bits: u16) -> f32 {
    const QUIET: u32 = 1 << 22;
    let magnitude = u32::from(bits & 0x7fff);
    let sign = u32::from(bits & 0x8000) << 16;
    // The fields of a normal number are shifted; a subnormal number is a multiple of the smallest one.
    let moved = magnitude << 13;
    let normal = moved + (112 << 23);
    let subnormal = (magnitude as f32 * (1.0 / (1 << 24) as f32)).to_bits();
    let value = if magnitude < 0x0400 { subnormal } else { normal };
    let endless = moved | f32::INFINITY.to_bits() | if magnitude > 0x7c00 { QUIET } else { 0 };
    f32::from_bits(sign | if magnitude < 0x7c00 { value } else { endless })
}

/// Rounds to the nearest half-precision number, ties to even. Without branches, like [`half_to_single`].
#[inline(always)]
fn single_to_half(value: f32) -> u16 {
    let sign = (value.to_bits() >> 16) as u16 & 0x8000;
    let magnitude = value.to_bits() & 0x7fff_ffff;
    // As in `Float8::from_f32`: normal numbers are rounded in their bits. Smaller ones are rounded by adding a number
    // whose last bit has the value of the smallest subnormal.
    let even = (magnitude >> 13) & 1;
    let normal = ((magnitude + 0x0fff + even) >> 13).wrapping_sub(112 << 10);
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let code = if magnitude < 113 << 23 { subnormal } else { normal.min(0x7c00) };
    let nan = 0x7e00 | (magnitude >> 13 & 0x03ff);
    sign | if magnitude > f32::INFINITY.to_bits() { nan } else { code } as u16
}

impl Stored for bf16 {
    type Compute = f32;
    type Intermediate = f64;
    #[inline(always)]
    fn widen(self) -> f32 {
        brain_to_single(self.to_bits())
    }
    #[inline(always)]
    fn narrow(value: f32) -> bf16 {
        bf16::from_bits(single_to_brain(value))
    }
}

/// Converts `bfloat16`, the upper half of a single, to single precision. Signalling NaNs stay signalling, as in
/// PyTorch.
#[inline(always)]
fn brain_to_single(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Rounds to the nearest `bfloat16`, ties to even.
#[inline(always)]
fn single_to_brain(value: f32) -> u16 {
    let bits = value.to_bits();
    // Adds half of the last place, or less if that would round a tie to odd.
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let nan = bits >> 16 | 0x0040;
    (if bits & 0x7fff_ffff > f32::INFINITY.to_bits() { nan } else { rounded }) as u16
}

impl Stored for Complex<f16> {
    type Compute = Complex<f32>;
    type Intermediate = Complex<f64>;
    #[inline]
    fn widen(self) -> Complex<f32> {
        Complex::new(self.re.to_f32(), self.im.to_f32())
    }
    #[inline]
    fn narrow(value: Complex<f32>) -> Self {
        Complex::new(f16::from_f32(value.re), f16::from_f32(value.im))
    }
}

impl<F: Format + 'static> Stored for Float8<F>
where
    Float8<F>: Element + Plain,
{
    type Compute = f32;
    type Intermediate = f64;
    #[inline]
    fn widen(self) -> f32 {
        self.to_f32()
    }
    #[inline]
    fn narrow(value: f32) -> Self {
        Float8::from_f32(value)
    }
}

/// Returns the dtype whose elements have the compute type of `dtype`.
pub(crate) fn compute_dtype(dtype: DType) -> DType {
    match dtype {
        DType::Half | DType::BFloat16 => DType::Float,
        DType::ComplexHalf => DType::ComplexFloat,
        d if d.is_float8() => DType::Float,
        d => d,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel;

    /// Elements are converted one by one, and all together with vectors of every width.
    #[test]
    fn sixteen_bits_convert_as_their_crate_does() {
        fn check<S: Stored<Compute = f32>>(from_bits: fn(u16) -> S, bits: fn(S) -> u16, known: fn(u16) -> f32) {
            let elements: Vec<S> = (0..=u16::MAX).map(from_bits).collect();
            for width in [128, 256, 512] {
                parallel::set_width(width);
                let (mut values, mut back) = (vec![0.0; elements.len()], vec![from_bits(0); elements.len()]);
                S::widen_all(&elements, &mut values);
                S::narrow_all(&values, &mut back);
                for (code, (value, back)) in (0..=u16::MAX).zip(values.iter().zip(back)) {
                    assert_eq!(value.to_bits(), known(code).to_bits(), "{code:#x}, {width} bits");
                    assert_eq!(value.to_bits(), from_bits(code).widen().to_bits(), "{code:#x}");
                    let quiet = if value.is_nan() { code | bits(S::narrow(*value)) } else { code };
                    assert_eq!(bits(back), quiet, "{code:#x}, {width} bits");
                }
            }
            parallel::set_width(0);
        }
        check(f16::from_bits, f16::to_bits, |bits| f16::from_bits(bits).to_f32());
        // The `half` crate quiets NaN; PyTorch moves its bits (tests/transcripts/bytes.md).
        check(bf16::from_bits, bf16::to_bits, |bits| match bf16::from_bits(bits).to_f32() {
            value if value.is_nan() => f32::from_bits(u32::from(bits) << 16),
            value => value,
        });
    }

    #[test]
    fn singles_are_rounded_to_sixteen_bits_as_their_crate_does() {
        let values: Vec<f32> = (0..=u32::MAX).step_by(9973).map(f32::from_bits).collect();
        for width in [128, 256, 512] {
            parallel::set_width(width);
            let (mut halves, mut brains) = (vec![f16::ZERO; values.len()], vec![bf16::ZERO; values.len()]);
            f16::narrow_all(&values, &mut halves);
            bf16::narrow_all(&values, &mut brains);
            for (value, (half, brain)) in values.iter().zip(halves.iter().zip(&brains)) {
                assert_eq!(half.to_bits(), f16::from_f32(*value).to_bits(), "{value:e}, {width} bits");
                assert_eq!(brain.to_bits(), bf16::from_f32(*value).to_bits(), "{value:e}, {width} bits");
            }
        }
        parallel::set_width(0);
    }

    #[test]
    fn half_precision_converts_as_the_processor_does() {
        for bits in 0..=u16::MAX {
            assert_eq!(half_to_single(bits).to_bits(), f16::from_bits(bits).to_f32().to_bits(), "{bits:#x}");
        }
        for bits in (0..=u32::MAX).step_by(997) {
            let value = f32::from_bits(bits);
            assert_eq!(single_to_half(value), f16::from_f32(value).to_bits(), "{bits:#x}");
        }
        // Ties, and the limits of subnormal numbers and infinity.
        for bits in (0..=u16::MAX - 1).map(f16::from_bits).filter(|half| half.to_f32().is_finite()) {
            let (low, high) = (f64::from(bits), f64::from(f16::from_bits(bits.to_bits() + 1)));
            let middle = ((low + high) / 2.0) as f32;
            for value in [middle, middle.next_up(), middle.next_down()] {
                assert_eq!(single_to_half(value), f16::from_f32(value).to_bits(), "{value:e}");
            }
        }
    }
}
