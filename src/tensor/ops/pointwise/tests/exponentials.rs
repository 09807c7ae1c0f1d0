//! The exponential functions of `f64` beside those of the system.

use crate::ops::pointwise::{Output, UnaryOp, unary};
use crate::parallel::{set_width, vectorised};
use crate::{DType, Scalar, View};
use elementary::glibc::exponentials::*;
use std::f64::consts::LN_2;

/// Compares a function with the system's, at random numbers of all magnitudes up to `limit` and at special ones, and
/// at all widths of vectors.
fn agrees(name: &str, limit: f64, quick: impl Fn(f64) -> f64, exact: fn(f64) -> f64) {
    let mut bits = 1u64;
    let mut draw = || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        let unit = (bits >> 11) as f64 / (1u64 << 53) as f64;
        let scale = [limit, 30.0, 2.0, 0.4, 1e-7, 1e-300][(bits % 6) as usize].min(limit);
        scale * if bits & 64 == 0 { unit } else { -unit }
    };
    let special = [0.0, -0.0, 1.0, -1.0, 0.5, 22.0, -22.0, 0.346_573_590_279_972_65, 5e-324, -5e-324, limit, -limit];
    let steps = (-400..400).map(|step| f64::from(step) * LN_2 / 2.0).filter(|x| x.abs() <= limit);
    let near = special.into_iter().chain(steps).flat_map(|x: f64| [x.next_down(), x, x.next_up()]);
    let all: Vec<f64> = near.filter(|x| x.abs() <= limit).chain((0..100_000).map(|_| draw())).collect();
    for width in [128, 256, 512] {
        set_width(width);
        let mut results = vec![0.0; all.len()];
        vectorised(|| results.iter_mut().zip(&all).for_each(|(result, &x)| *result = quick(x)));
        for (&x, result) in all.iter().zip(results) {
            let wanted = exact(x);
            assert!(result.to_bits() == wanted.to_bits(), "{name} of {x:e}: {result:e} is not {wanted:e}");
        }
    }
    set_width(0);
}

/// Numbers beyond the limits go through the system's functions.
#[test]
fn far_numbers_have_results_too() {
    let far = [600.0, 710.0, 745.5, 1023.0, 1100.0, 22.0, 1e300, f64::INFINITY, f64::NAN, 0.0, 0.25];
    let numbers: Vec<f64> = far.into_iter().flat_map(|x| [x, -x]).collect();
    type Exact = fn(f64) -> f64;
    let rows: [(UnaryOp, Exact); 7] = [
        (UnaryOp::Exp, f64::exp),
        (UnaryOp::Exp2, f64::exp2),
        (UnaryOp::Expm1, f64::exp_m1),
        (UnaryOp::Sinh, f64::sinh),
        (UnaryOp::Cosh, f64::cosh),
        (UnaryOp::Tanh, f64::tanh),
        (UnaryOp::Sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
    ];
    for (op, exact) in rows {
        let scalars = numbers.iter().map(|&x| Scalar::Float(x));
        let view = View::from_scalars(&[numbers.len() as i64], DType::Double, scalars).unwrap();
        let results = unary(op, &view, Output::New, DType::Float).unwrap();
        let results = crate::ops::block::values::<f64>(&results).unwrap();
        for (&x, result) in numbers.iter().zip(results) {
            let wanted = exact(x);
            let same = result.to_bits() == wanted.to_bits() || result.is_nan() && wanted.is_nan();
            assert!(same, "{op:?} of {x:e}: {result:e} is not {wanted:e}");
        }
    }
}

/// The system's library has these digits if it is the GNU C library and the processor fuses multiply-adds.
#[test]
fn digits_are_those_of_the_library() {
    if !std::arch::is_x86_feature_detected!("fma") {
        return;
    }
    agrees("exp", EXP_LIMIT, exp, f64::exp);
    agrees("exp2", EXP2_LIMIT, exp2, f64::exp2);
    agrees("sigmoid", EXP_LIMIT, sigmoid, |x| 1.0 / (1.0 + (-x).exp()));
    agrees("exp_m1", EXP_M1_LIMIT, exp_m1, f64::exp_m1);
    agrees("tanh", 1e300, tanh, f64::tanh);
    agrees("sinh", HYPERBOLIC_LIMIT, sinh, f64::sinh);
    agrees("cosh", HYPERBOLIC_LIMIT, cosh, f64::cosh);
}
