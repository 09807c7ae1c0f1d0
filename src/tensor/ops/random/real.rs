//! How the four floating-point dtypes differ in generating random numbers: how many bits they draw, how they round, and
//! how they convert 16 uniform numbers to 16 normal ones.

use super::generator::Generator;
use super::single::{self, BLOCK};
use crate::parallel::fused;
use half::{bf16, f16};
use std::f64::consts::PI;

/// A floating-point element type of random numbers.
pub trait Real: Copy + Send + Sync {
    /// The bits of precision; a uniform number has as many random bits.
    const PRECISION: u32;

    /// Rounds to the nearest value of this type. The 16-bit types round through single precision, as in PyTorch.
    fn nearest(value: f64) -> Self;

    /// Converts the value to double precision.
    fn widen(self) -> f64;

    /// Draws a number from [0, 1) with [`PRECISION`](Self::PRECISION) random bits.
    #[inline(always)]
    fn unit(generator: &mut Generator) -> f64 {
        fraction(generator.random(), Self::PRECISION)
    }

    /// Fills `out` with such numbers; the type represents each exactly.
    fn units(generator: &mut Generator, out: &mut [Self]) {
        generator.fill(out, |word| Self::nearest(fraction(word, Self::PRECISION)));
    }

    /// `a * b + c`, rounded once to the precision that this type computes in, which is single for the 16-bit types.
    /// `fuses` tells whether the processor has a fused multiply-add instruction.
    #[inline(always)]
    fn fma(a: f64, b: f64, c: f64, fuses: bool) -> f64 {
        f64::from(fused::fma(a as f32, b as f32, c as f32, fuses))
    }

    /// Converts numbers from [0, 1) to normal ones by the Box–Muller transform. `fuses` is as for [`fma`](Self::fma).
    ///
    /// The default implementation rounds the result of every operation to the type.
    fn box_muller(block: &mut [Self; BLOCK], mean: Self, std: Self, _fuses: bool) {
        let round = |value: f32| Self::nearest(f64::from(value)).widen() as f32;
        let (mean, std) = (mean.widen() as f32, std.widen() as f32);
        for j in 0..BLOCK / 2 {
            let u1 = round(1.0 - block[j].widen() as f32);
            let radius = round(round(-2.0 * round(u1.ln())).sqrt());
            let angle = Self::nearest(2.0 * PI * block[j + BLOCK / 2].widen()).widen() as f32;
            let point = |side: f32| Self::nearest(f64::from(round(round(radius * round(side)) * std) + mean));
            block[j] = point(angle.cos());
            block[j + BLOCK / 2] = point(angle.sin());
        }
    }
}

/// Returns the lowest `bits` of a word as a number from [0, 1).
#[inline(always)]
fn fraction(word: u32, bits: u32) -> f64 {
    let below = 1u32 << bits;
    f64::from(word & (below - 1)) * (1.0 / f64::from(below))
}

impl Real for f16 {
    const PRECISION: u32 = f16::MANTISSA_DIGITS;

    fn nearest(value: f64) -> Self {
        f16::from_f32(value as f32)
    }

    fn widen(self) -> f64 {
        self.to_f64()
    }
}

impl Real for bf16 {
    const PRECISION: u32 = bf16::MANTISSA_DIGITS;

    fn nearest(value: f64) -> Self {
        bf16::from_f32(value as f32)
    }

    fn widen(self) -> f64 {
        self.to_f64()
    }
}

impl Real for f32 {
    const PRECISION: u32 = f32::MANTISSA_DIGITS;

    #[inline]
    fn nearest(value: f64) -> Self {
        value as f32
    }

    #[inline]
    fn widen(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn box_muller(block: &mut [Self; BLOCK], mean: Self, std: Self, fuses: bool) {
        single::box_muller(block, mean, std, fuses);
    }
}

impl Real for f64 {
    const PRECISION: u32 = f64::MANTISSA_DIGITS;

    fn nearest(value: f64) -> Self {
        value
    }

    fn widen(self) -> f64 {
        self
    }

    #[inline(always)]
    fn unit(generator: &mut Generator) -> f64 {
        generator.unit()
    }

    fn units(generator: &mut Generator, out: &mut [Self]) {
        out.iter_mut().for_each(|value| *value = generator.unit());
    }

    #[inline(always)]
    fn fma(a: f64, b: f64, c: f64, _fuses: bool) -> f64 {
        a.mul_add(b, c)
    }

    fn box_muller(block: &mut [Self; BLOCK], mean: Self, std: Self, _fuses: bool) {
        for j in 0..BLOCK / 2 {
            let radius = (-2.0 * (1.0 - block[j]).ln()).sqrt();
            let angle = 2.0 * PI * block[j + BLOCK / 2];
            block[j] = (radius * angle.cos()).mul_add(std, mean);
            block[j + BLOCK / 2] = (radius * angle.sin()).mul_add(std, mean);
        }
    }
}
