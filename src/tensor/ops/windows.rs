//! Windows for spectra: `torch.hann_window` and its relatives, and those of `torch.signal.windows`. Every step is
//! computed in the window's dtype, as in PyTorch, so that rounding errors agree.

use super::compose::{Math, number};
use super::create::{ones, rounded};
use super::pointwise::{BinaryOp, UnaryOp, check_kernel, classes};
use super::promote::Operand;
use super::special;
use super::view::narrow;
use crate::{DType, Device, Result, Scalar, View};
use std::f64::consts::PI;

/// `torch.hamming_window` with `alpha` and `beta`; `hann_window` uses 0.5 and 0.5.
///
/// # Errors
/// RuntimeError if there is not enough memory.
pub fn raised_cosine(length: i64, periodic: bool, alpha: f64, beta: f64, dtype: DType) -> Result<View> {
    sampled(length, periodic, dtype, |math, index, last| {
        let cosine = math.unary(UnaryOp::Cos, &math.mul(index, constant(math, 2.0 * PI / last))?)?;
        math.add(&math.mul(&cosine, constant(math, -beta))?, constant(math, alpha))
    })
}

/// `torch.blackman_window`.
///
/// # Errors
/// Those of [`raised_cosine`].
pub fn blackman(length: i64, periodic: bool, dtype: DType) -> Result<View> {
    sampled(length, periodic, dtype, |math, index, last| {
        let angle = math.mul(index, constant(math, PI / last))?;
        let cosine = |by: f64, weight: f64| {
            math.mul(&math.unary(UnaryOp::Cos, &math.mul(&angle, constant(math, by))?)?, constant(math, weight))
        };
        math.add(&math.sub(&cosine(4.0, 0.08)?, &cosine(2.0, 0.5)?)?, constant(math, 0.42))
    })
}

/// `torch.bartlett_window`.
///
/// # Errors
/// Those of [`raised_cosine`].
pub fn bartlett(length: i64, periodic: bool, dtype: DType) -> Result<View> {
    sampled(length, periodic, dtype, |math, index, last| {
        let rising = math.mul(index, constant(math, 2.0 / last))?;
        let falling = math.add(&math.mul(&rising, constant(math, -1.0))?, constant(math, 2.0))?;
        math.binary(BinaryOp::Minimum, &rising, &falling)
    })
}

/// `torch.kaiser_window`.
///
/// # Errors
/// Those of [`raised_cosine`].
pub fn kaiser(length: i64, periodic: bool, beta: f64, dtype: DType) -> Result<View> {
    let count = if periodic { length.saturating_add(1) } else { length };
    let middle = (count - 1) as f64 / 2.0;
    let value = |i: i64| {
        let x = (i as f64 - middle) / middle;
        Scalar::Float(special::i0(beta * (1.0 - x * x).max(0.0).sqrt()) / special::i0(beta))
    };
    match short(length, dtype)? {
        Some(window) => Ok(window),
        None => {
            let room = View::zeros(&[length], dtype, Device::CPU)?;
            View::from_scalars(&[length], dtype, (0..room.numel()).map(value))
        }
    }
}

/// Returns a number rounded to the window's dtype, which is also the default dtype of its arithmetic.
fn constant<'a>(math: Math, value: f64) -> Operand<'a> {
    number(rounded(Scalar::Float(value), math.0))
}

/// Returns windows of fewer than two values. Longer windows cannot be complex.
fn short(length: i64, dtype: DType) -> Result<Option<View>> {
    match length {
        0 => View::zeros(&[0], dtype, Device::CPU).map(Some),
        1 => ones(&[1], dtype, Device::CPU).map(Some),
        _ => check_kernel("arange_cpu", classes::NUMBERS, dtype).map(|()| None),
    }
}

/// Computes a window as a function of the index; a periodic window omits the last value.
fn sampled(
    length: i64,
    periodic: bool,
    dtype: DType,
    window: impl Fn(Math, &View, f64) -> Result<View>,
) -> Result<View> {
    if let Some(window) = short(length, dtype)? {
        return Ok(window);
    }
    let count = if periodic { length.saturating_add(1) } else { length };
    let room = View::zeros(&[count], dtype, Device::CPU)?;
    let index = View::from_scalars(&[count], dtype, (0..room.numel()).map(Scalar::Int))?;
    let window = window(Math(dtype), &index, (count - 1) as f64)?;
    if periodic { narrow(&window, 0, 0, length) } else { Ok(window) }
}
