//! Normal samples in single precision, with the same rounding steps as PyTorch's vector kernel.
//!
//! The logarithm, sine and cosine use the polynomials of the Cephes library. They differ from the system's `logf`,
//! `sinf` and `cosf` in last bits and are only for this kernel. The compiler decided where PyTorch's kernel uses fused
//! multiply-adds; this affects the results and is reproduced here. Everything is plain arithmetic, so results are the
//! same on every machine.

use crate::parallel::fused::{Exact, Fma, Quick};

/// The number of samples generated at a time: the first eight uniform numbers give the radii of eight points, the last
/// eight their angles.
pub(super) const BLOCK: usize = 16;

/// Converts numbers from [0, 1) to normal ones by the Box–Muller transform. `fuses` tells whether the processor has a
/// fused multiply-add instruction.
#[inline(always)]
pub(super) fn box_muller(block: &mut [f32; BLOCK], mean: f32, std: f32, fuses: bool) {
    if !fuses {
        let mut quick = Quick::default();
        let normal = points(&mut quick, block, mean, std);
        if !quick.doubtful {
            *block = normal;
            return;
        }
    }
    *block = points(&mut Exact, block, mean, std);
}

/// Returns the points' abscissas followed by their ordinates, scaled by `std` and shifted by `mean`.
#[inline(always)]
fn points(by: &mut impl Fma, uniform: &[f32; BLOCK], mean: f32, std: f32) -> [f32; BLOCK] {
    let mut points = [0.0; BLOCK];
    for j in 0..BLOCK / 2 {
        let radius = (-2.0 * ln(by, 1.0 - uniform[j])).sqrt();
        let (sin, cos) = sin_cos(by, std::f32::consts::TAU * uniform[j + BLOCK / 2]);
        points[j] = by.fma(radius * cos, std, mean);
        points[j + BLOCK / 2] = by.fma(radius * sin, std, mean);
    }
    points
}

/// The natural logarithm of a normal float in (0, 1].
#[inline(always)]
fn ln(by: &mut impl Fma, x: f32) -> f32 {
    /// ln 2 in two parts; the first is short enough for its multiples by an exponent to be exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

    // x = (1 + fraction) * 2^exponent with 1 + fraction in [√½, √2).
    let half = f32::from_bits((x.to_bits() & 0x007F_FFFF) | 0x3F00_0000);
    let small = half < std::f32::consts::FRAC_1_SQRT_2;
    let exponent = ((x.to_bits() >> 23) as i32 - 126 - i32::from(small)) as f32;
    let fraction = half - 1.0 + if small { half } else { 0.0 };

    let mut series = 7.037_683_6e-2;
    for term in [
        -1.151_461e-1,
        1.167_699_84e-1,
        -1.242_014_1e-1,
        1.424_932_3e-1,
        -1.666_805_8e-1,
        2.000_071_4e-1,
        -2.499_999_4e-1,
        3.333_333e-1,
    ] {
        series = by.fma(series, fraction, term);
    }
    let square = fraction * fraction;
    let rest = by.fma(series * fraction, square, exponent * LN_2[1]) - square * 0.5;
    fraction + rest + exponent * LN_2[0]
}

/// The sine and the cosine of an angle in [0, 2π].
#[inline(always)]
fn sin_cos(by: &mut impl Fma, angle: f32) -> (f32, f32) {
    /// π/4 in three parts; the first two are short enough for their multiples by 2, 4, 6 and 8 to be exact.
    const QUARTER_PI: [f32; 3] = [0.785_156_25, 2.418_756_5e-4, 3.774_895e-8];

    // Subtract an even number of eighth turns, which leaves x in [-π/4, π/4].
    let eighths = ((angle * (4.0 / std::f32::consts::PI)) as i32 + 1) & !1;
    let turned = eighths as f32;
    let x = by.fma(turned, -QUARTER_PI[2], angle - turned * QUARTER_PI[0] - turned * QUARTER_PI[1]);
    let square = x * x;

    let cos = by.fma(2.443_315_7e-5, square, -1.388_731_6e-3);
    let cos = by.fma(cos, square, 4.166_664_6e-2) * square;
    let cos = by.fma(cos, square, -(square * 0.5)) + 1.0;
    let sin = by.fma(-1.951_529_6e-4, square, 8.332_161e-3);
    let sin = by.fma(sin, square, -1.666_665_5e-1) * square;
    let sin = by.fma(sin, x, x);

    let (sin, cos) = if eighths & 2 == 0 { (sin, cos) } else { (cos, sin) };
    // Bit 2 of each number tells which half turn the angle is in; it becomes the sign.
    let negate = |value: f32, half_turn: i32| f32::from_bits(value.to_bits() ^ ((half_turn & 4) as u32) << 29);
    (negate(sin, eighths), negate(cos, !(eighths - 2)))
}
