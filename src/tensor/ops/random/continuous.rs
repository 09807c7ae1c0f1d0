//! Distributions that PyTorch computes in double precision for every dtype and rounds at the end.

use super::RealKind;
use super::generator::Generator;
use crate::interrupt::watched;
use std::f64::consts::PI;

/// Draws `n` samples of the exponential distribution with rate `lambda`: `exponential_(lambd)`.
pub fn exponential(generator: &mut Generator, n: usize, kind: RealKind, lambda: f64) -> Vec<f64> {
    rounded(n, kind, || -1.0 / lambda * (-generator.unit()).ln_1p())
}

/// Draws `n` counts of trials up to the first success of probability `p`: `geometric_(p)`.
///
/// For an integer dtype, request `F64` and truncate.
pub fn geometric(generator: &mut Generator, n: usize, kind: RealKind, p: f64) -> Vec<f64> {
    rounded(n, kind, || (generator.unit().ln() / (-p).ln_1p()).ceil())
}

/// Draws `n` samples whose logarithms are normal with `mean` and `std`: `log_normal_(mean, std)`.
pub fn log_normal(generator: &mut Generator, n: usize, kind: RealKind, mean: f64, std: f64) -> Vec<f64> {
    rounded(n, kind, || generator.normal(mean, std).exp())
}

/// Draws `n` samples of a Cauchy distribution: `cauchy_(median, sigma)`.
pub fn cauchy(generator: &mut Generator, n: usize, kind: RealKind, median: f64, sigma: f64) -> Vec<f64> {
    rounded(n, kind, || (PI * (generator.unit() - 0.5)).tan().mul_add(sigma, median))
}

fn rounded(n: usize, kind: RealKind, mut draw: impl FnMut() -> f64) -> Vec<f64> {
    watched(0..n).map(|_| kind.round(draw())).collect()
}
