//! The functions of C's library for machines that have another one than glibc for x86-64, whose digits are the ones meant.
//! On ARM, glibc fuses multiplications and additions: one in eight of its hypotenuses differs.
//!
//! glibc 2.36 has two kinds. Functions of the first are rounded correctly but for a few results of a thousand, close to the
//! middle of two numbers; here they are rounded correctly but for even fewer. Those of the second are formulas, with errors of
//! a unit in the last place and more; here they are the same formulas.

pub mod double;
pub mod exponentials;
mod pair;
pub mod single;

/// The decadic logarithm. `x` is halved or doubled until it is between 1 and 2, or a half and 1 where it was below 1. The
/// logarithm of the rest is divided by ln 10, and log10(2) is added in two parts for each halving.
macro_rules! log10 {
    ($t:ident, $library:path, $frexp:path, $log10_e:expr, $log10_2:expr) => {
        pub fn log10(x: $t) -> $t {
            if !(x.is_finite() && x > 0.0) {
                return $library(x);
            }
            let (fraction, exponent) = $frexp(x);
            let (fraction, halvings) =
                if exponent > 0 { (fraction * 2.0, (exponent - 1) as $t) } else { (fraction, exponent as $t) };
            let [high, low] = $log10_2.map($t::from_bits);
            (halvings * low + $log10_e * log(fraction)) + halvings * high
        }
    };
}
use log10;

#[cfg(all(test, target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod tests;
