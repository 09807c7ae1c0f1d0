//! Single elements. Every element can be converted to and from a [`Scalar`]; only this code knows how PyTorch rounds
//! between dtypes. Kernels that compute in an element's own type are in `ops`.

use super::dtype::{Category, DType, TypeOf};
use super::float8::{Float8, Format};
use super::memory::{BoolByte, Plain};
use half::{bf16, f16};
use num_complex::Complex;

/// A single value that can hold any element exactly, like PyTorch's `Scalar`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Bool(bool),
    Int(i64),
    /// Only for values above `i64::MAX`.
    UInt(u64),
    Float(f64),
    Complex(Complex<f64>),
}

impl Scalar {
    pub fn category(self) -> Category {
        match self {
            Scalar::Bool(_) => Category::Bool,
            Scalar::Int(_) | Scalar::UInt(_) => Category::Integral,
            Scalar::Float(_) => Category::Floating,
            Scalar::Complex(_) => Category::Complex,
        }
    }

    /// Returns whether the value is nonzero. NaN counts as true.
    #[inline(always)]
    pub fn truth(self) -> bool {
        match self {
            Scalar::Bool(b) => b,
            Scalar::Int(i) => i != 0,
            Scalar::UInt(u) => u != 0,
            Scalar::Float(f) => f != 0.0,
            Scalar::Complex(c) => c.re != 0.0 || c.im != 0.0,
        }
    }

    /// Converts the value to `f64`; of a complex number, the real part.
    #[inline(always)]
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Bool(b) => f64::from(u8::from(b)),
            Scalar::Int(i) => i as f64,
            Scalar::UInt(u) => u as f64,
            Scalar::Float(f) => f,
            Scalar::Complex(c) => c.re,
        }
    }

    /// Converts the value to `f32`, rounded once: integers do not pass through `f64`.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        match self {
            Scalar::Int(i) => i as f32,
            Scalar::UInt(u) => u as f32,
            other => other.to_f64() as f32,
        }
    }

    /// Converts the value to a complex number.
    pub fn to_complex(self) -> Complex<f64> {
        match self {
            Scalar::Complex(c) => c,
            other => Complex::new(other.to_f64(), 0.0),
        }
    }

    /// Truncates towards zero to 64 bits. NaN and values out of range give `i64::MIN`, like the x86 instruction.
    #[inline(always)]
    pub fn to_i64(self) -> i64 {
        match self {
            Scalar::Bool(b) => i64::from(b),
            Scalar::Int(i) => i,
            Scalar::UInt(u) => u as i64,
            Scalar::Float(f) => truncate_i64(f),
            Scalar::Complex(c) => truncate_i64(c.re),
        }
    }

    /// Like [`Scalar::to_i64`] for 32 bits: wider integers wrap, floats out of range give `i32::MIN`.
    #[inline(always)]
    fn to_i32(self) -> i32 {
        match self {
            Scalar::Float(f) | Scalar::Complex(Complex { re: f, .. }) => {
                if f > -2147483649.0 && f < 2147483648.0 {
                    whole(f) as i32
                } else {
                    i32::MIN
                }
            }
            other => other.to_i64() as i32,
        }
    }

    fn to_u64(self) -> u64 {
        const HALF_RANGE: f64 = 9223372036854775808.0;
        match self {
            Scalar::Float(f) | Scalar::Complex(Complex { re: f, .. }) if f >= HALF_RANGE => {
                (truncate_i64(f - HALF_RANGE) as u64) ^ (1 << 63)
            }
            other => other.to_i64() as u64,
        }
    }

    /// Returns whether the value fits the dtype, by the check that PyTorch makes before filling a tensor with a number.
    /// Negative integers may wrap into unsigned types; infinities and NaN fit every floating type.
    pub fn fits(self, dtype: DType) -> bool {
        let within = |low: f64, high: f64, v: f64| v >= low && v <= high;
        match dtype.category() {
            Category::Bool => true,
            Category::Integral => match self {
                Scalar::Bool(_) => true,
                Scalar::Int(i) => {
                    let (low, high) = integer_limits(dtype);
                    // Unsigned types also accept negative numbers whose magnitude they can hold.
                    let low = if dtype.is_signed() { low } else { -high };
                    i128::from(i) >= low && i128::from(i) <= high
                }
                Scalar::UInt(u) => i128::from(u) <= integer_limits(dtype).1,
                Scalar::Float(f) => {
                    let (low, high) = integer_limits(dtype);
                    within(low as f64, high as f64, f)
                }
                Scalar::Complex(c) => c.im == 0.0 && Scalar::Float(c.re).fits(dtype),
            },
            Category::Floating => match self {
                Scalar::Complex(c) => c.im == 0.0 && Scalar::Float(c.re).fits(dtype),
                other => {
                    let v = other.to_f64();
                    v.is_nan() || v.is_infinite() && has_infinity(dtype) || v.abs() <= largest_finite(dtype)
                }
            },
            Category::Complex => {
                let c = self.to_complex();
                let part = dtype.to_real();
                Scalar::Float(c.re).fits(part) && Scalar::Float(c.im).fits(part)
            }
        }
    }
}

#[inline(always)]
fn truncate_i64(f: f64) -> i64 {
    // 2^63 itself is out of range; -2^63 is in range.
    const HALF: f64 = (1u64 << 32) as f64;
    let high = (f * (1.0 / HALF)).trunc();
    let value = (whole(high) << 32).wrapping_add(whole(f - high * HALF));
    if (-9223372036854775808.0..9223372036854775808.0).contains(&f) { value } else { i64::MIN }
}

/// Truncates a number of a magnitude below 2^51. Compilers do not vectorise casts that saturate.
#[inline(always)]
pub(crate) fn whole(f: f64) -> i64 {
    /// Adding this leaves an integer in the lowest bits of the sum.
    const ROUND: f64 = 1.5 * (1u64 << 52) as f64;
    (f.trunc() + ROUND).to_bits().wrapping_sub(ROUND.to_bits()).cast_signed()
}

/// Returns the smallest and largest value of an integral dtype.
pub fn integer_limits(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.itemsize() as u32;
    match dtype {
        DType::Bool => (0, 1),
        d if d.is_signed() => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    }
}

/// Returns whether the floating dtype has infinities. Most 8-bit formats do not.
fn has_infinity(dtype: DType) -> bool {
    !matches!(dtype, DType::Float8_e4m3fn | DType::Float8_e4m3fnuz | DType::Float8_e5m2fnuz | DType::Float8_e8m0fnu)
}

/// Returns the largest finite value of a floating dtype.
pub fn largest_finite(dtype: DType) -> f64 {
    match dtype {
        DType::Half => f64::from(f16::MAX.to_f32()),
        DType::BFloat16 => f64::from(bf16::MAX.to_f32()),
        DType::Float => f64::from(f32::MAX),
        DType::Float8_e4m3fn => 448.0,
        DType::Float8_e4m3fnuz => 240.0,
        DType::Float8_e5m2 | DType::Float8_e5m2fnuz => 57344.0,
        DType::Float8_e8m0fnu => 2f64.powi(127),
        _ => f64::MAX,
    }
}

/// A Rust type that is the element type of some dtype.
pub trait Element: Plain + TypeOf + Default {
    /// Widens the value without loss.
    fn load(self) -> Scalar;
    /// Narrows a value with PyTorch's rounding.
    fn store(value: Scalar) -> Self;
}

impl Element for BoolByte {
    #[inline]
    fn load(self) -> Scalar {
        Scalar::Bool(self.get())
    }
    #[inline]
    fn store(value: Scalar) -> Self {
        BoolByte::new(value.truth())
    }
}

macro_rules! integers {
    ($($t:ty: $narrow:expr;)*) => {$(
        impl Element for $t {
            #[inline]
            fn load(self) -> Scalar {
                Scalar::Int(self as i64)
            }
            #[inline]
            fn store(value: Scalar) -> Self {
                let narrow: fn(Scalar) -> $t = $narrow;
                narrow(value)
            }
        }
    )*};
}

// Floats are converted to the narrow types through 32 bits, except uint8 and uint32, which PyTorch converts through 64.
integers! {
    u8:  |v| v.to_i64() as u8;
    i8:  |v| v.to_i32() as i8;
    i16: |v| v.to_i32() as i16;
    i32: |v| v.to_i32();
    i64: |v| v.to_i64();
    u16: |v| v.to_i32() as u16;
    u32: |v| v.to_i64() as u32;
}

impl Element for u64 {
    #[inline]
    fn load(self) -> Scalar {
        i64::try_from(self).map_or(Scalar::UInt(self), Scalar::Int)
    }
    #[inline]
    fn store(value: Scalar) -> Self {
        value.to_u64()
    }
}

macro_rules! floats {
    ($($t:ty: $widen:expr, $narrow:expr;)*) => {$(
        impl Element for $t {
            #[inline]
            fn load(self) -> Scalar {
                let widen: fn($t) -> f64 = $widen;
                Scalar::Float(widen(self))
            }
            #[inline]
            fn store(value: Scalar) -> Self {
                let narrow: fn(Scalar) -> $t = $narrow;
                narrow(value)
            }
        }
    )*};
}

// The 16-bit formats are converted through float32. This rounds a float64 twice, as in PyTorch.
floats! {
    f16:  f16::to_f64,   |v| f16::from_f32(v.to_f32());
    bf16: bf16::to_f64,  |v| bf16::from_f32(v.to_f32());
    f32:  f64::from,     |v| v.to_f32();
    f64:  |v| v,         |v| v.to_f64();
}

impl<F: Format + 'static> Default for Float8<F> {
    fn default() -> Self {
        Float8::from_bits(0)
    }
}

impl<F: Format + 'static> Element for Float8<F>
where
    Float8<F>: TypeOf + Plain,
{
    #[inline]
    fn load(self) -> Scalar {
        Scalar::Float(f64::from(self.to_f32()))
    }
    #[inline]
    fn store(value: Scalar) -> Self {
        Float8::from_f32(value.to_f32())
    }
}

impl<P: Element + num_traits::Num> Element for Complex<P>
where
    Complex<P>: TypeOf + Plain,
{
    #[inline]
    fn load(self) -> Scalar {
        Scalar::Complex(Complex::new(self.re.load().to_f64(), self.im.load().to_f64()))
    }
    #[inline]
    fn store(value: Scalar) -> Self {
        match value {
            Scalar::Complex(c) => Complex::new(P::store(Scalar::Float(c.re)), P::store(Scalar::Float(c.im))),
            real => Complex::new(P::store(real), P::zero()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast(value: f64, to: DType) -> Scalar {
        dispatch!(to, T => T::store(Scalar::Float(value)).load())
    }

    /// Rows from PyTorch 2.7.0: `torch.tensor([value]).to(dtype).item()`.
    #[test]
    fn floats_to_integers_follow_x86() {
        let nan = f64::NAN;
        let inf = f64::INFINITY;
        for (value, dtype, want) in [
            (1e10, DType::Char, 0),
            (200.0, DType::Char, -56),
            (-1.0, DType::Byte, 255),
            (5e9 + 3.0, DType::Byte, 3),
            (70000.0, DType::Short, 4464),
            (1e10, DType::Int, -2147483648),
            (nan, DType::Int, -2147483648),
            (inf, DType::Long, i64::MIN),
            (-200.0, DType::UInt16, 65336),
            (3e9, DType::UInt16, 0),
            (1e10, DType::UInt32, 1410065408),
            (nan, DType::UInt32, 0),
            (inf, DType::UInt64, 0),
        ] {
            assert_eq!(cast(value, dtype), Scalar::Int(want), "{value} to {dtype:?}");
        }
        for power in 0..63 {
            for size in [2f64.powi(power), 2f64.powi(power) - 0.5, 1.7 * 2f64.powi(power), 2f64.powi(power).next_down()]
            {
                for value in [size, -size] {
                    assert_eq!(cast(value, DType::Long), Scalar::Int(value as i64), "{value}");
                    let narrow = if size < 2f64.powi(31) { value as i32 } else { i32::MIN };
                    assert_eq!(cast(value, DType::Int), Scalar::Int(i64::from(narrow)), "{value}");
                }
            }
        }
        assert_eq!(cast(-2f64.powi(63), DType::Long), Scalar::Int(i64::MIN));
        assert_eq!(cast(-1.0, DType::UInt64), Scalar::UInt(u64::MAX));
        assert_eq!(cast(nan, DType::UInt64), Scalar::UInt(1 << 63));
        assert_eq!(cast(nan, DType::Bool), Scalar::Bool(true));
    }
}
