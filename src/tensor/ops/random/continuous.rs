//! Distributions that PyTorch computes in double precision for every dtype and rounds at the end.

use super::RealKind;
use super::generator::Generator;
use std::f64::consts::PI;

/// Draws samples of the exponential distribution with rate `lambda`: `exponential_(lambd)`.
pub fn exponential(generator: &mut Generator, out: &mut [f64], kind: RealKind, lambda: f64) {
    rounded(out, kind, || -1.0 / lambda * (-generator.unit()).ln_1p())
}

/// Draws counts of trials up to the first success of probability `p`: `geometric_(p)`.
///
/// For an integer dtype, request `F64` and truncate.
pub fn geometric(generator: &mut Generator, out: &mut [f64], kind: RealKind, p: f64) {
    rounded(out, kind, || (generator.unit().ln() / (-p).ln_1p()).ceil())
}

/// Draws samples whose logarithms are normal with `mean` and `std`: `log_normal_(mean, std)`.
pub fn log_normal(generator: &mut Generator, out: &mut [f64], kind: RealKind, mean: f64, std: f64) {
    rounded(out, kind, || generator.normal(mean, std).exp())
}

/// Draws samples of a Cauchy distribution: `cauchy_(median, sigma)`.
pub fn cauchy(generator: &mut Generator, out: &mut [f64], kind: RealKind, median: f64, sigma: f64) {
    rounded(out, kind, || (PI * (generator.unit() - 0.5)).tan().mul_add(sigma, median))
}

fn rounded(out: &mut [f64], kind: RealKind, mut draw: impl FnMut() -> f64) {
    out.iter_mut().for_each(|value| *value = kind.round(draw()));
}
