//! The kernels of `clip`: the smaller of the upper bound and the larger of value and lower bound.

use super::compare::Compared;
use super::run::Three;
use num_complex::Complex;
use tensor::memory::BoolByte;
use tensor::parallel::vectorised;

/// An element that can be clipped; a NaN in any operand is the result.
pub(super) trait Clipped: Compared {
    fn is_nan(self) -> bool {
        false
    }
}

impl Clipped for BoolByte {}

macro_rules! whole {
    ($($t:ty)*) => {$( impl Clipped for $t {} )*};
}
whole!(u8 i8 u16 i16 u32 i32 u64 i64);

macro_rules! inexact {
    ($($t:ty)*) => {$(
        impl Clipped for $t {
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
        }
        impl Clipped for Complex<$t> {
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
        }
    )*};
}
inexact!(f32 f64);

#[inline(always)]
fn clipped<T: Clipped>(value: T, low: T, high: T) -> T {
    let raised = if value.is_nan() || low.less(value) { value } else { low };
    if raised.is_nan() || raised.less(high) { raised } else { high }
}

pub(super) fn clip<T: Clipped>() -> Three<T> {
    |value, low, high, out| {
        vectorised(|| {
            for (((out, &value), &low), &high) in out.iter_mut().zip(value).zip(low).zip(high) {
                *out = clipped(value, low, high);
            }
        });
    }
}

/// Clips half-precision numbers: those that equal a bound, so zeros, stay.
pub(super) fn clip_half() -> Three<f32> {
    |value, low, high, out| {
        for (((out, &value), &low), &high) in out.iter_mut().zip(value).zip(low).zip(high) {
            let raised = if value.is_nan() || value >= low { value } else { low };
            *out = if raised.is_nan() || raised <= high { raised } else { high };
        }
    }
}
