//! The functions beside the system's, and plain steps beside fused ones.

use super::*;
use half::{bf16, f16};

/// The results equal those of the system's functions, rounded to `f32`, except for one in many thousands that
/// rounds a near tie the other way.
fn agrees(quick: impl Fn(f64) -> f64, exact: impl Fn(f64) -> f64) {
    let (mut seen, mut differ) = (0, 0);
    for bits in (0..=u32::MAX).step_by(9973) {
        let x = f32::from_bits(bits);
        let (quick, exact) = (quick(f64::from(x)) as f32, exact(f64::from(x)) as f32);
        seen += 1;
        if quick.to_bits() != exact.to_bits() && !(quick.is_nan() && exact.is_nan()) {
            differ += 1;
            let apart = i64::from(quick.to_bits()).abs_diff(i64::from(exact.to_bits()));
            assert!(apart <= 1, "{x:e}: {quick:e}, not {exact:e}");
        }
    }
    assert!(differ * 10_000 <= seen, "{differ} of {seen} differ");
}

/// Checks every 16-bit number, because [`exp_single`] replaces [`exp`] for them.
#[test]
fn single_precision_is_enough_for_sixteen_bits() {
    for bits in 0..=u16::MAX {
        let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
        let (quick, wanted) = (exp_single(half.to_f32()), f64::from(half).exp() as f32);
        assert!(half.is_nan() || f16::from_f32(quick) == f16::from_f32(wanted), "{half}");
        let (quick, wanted) = (exp_single(brain.to_f32()), f64::from(brain).exp() as f32);
        assert!(brain.is_nan() || bf16::from_f32(quick) == bf16::from_f32(wanted), "{brain}");
    }
}

#[test]
fn series_round_as_the_functions_do() {
    agrees(exp::<Fused>, f64::exp);
    agrees(exp2::<Fused>, f64::exp2);
    agrees(exp_m1::<Fused>, f64::exp_m1);
    agrees(ln::<Fused>, f64::ln);
    agrees(log2::<Fused>, f64::log2);
    agrees(log10::<Fused>, f64::log10);
    agrees(ln_1p::<Fused>, f64::ln_1p);
    agrees(sinh::<Fused>, f64::sinh);
    agrees(cosh::<Fused>, f64::cosh);
    agrees(tanh::<Fused>, f64::tanh);
    agrees(atan::<Fused>, f64::atan);
    agrees(asin::<Fused>, f64::asin);
    agrees(acos::<Fused>, f64::acos);
    agrees(erf::<Fused>, libm::erf);
    agrees(erfc::<Fused>, libm::erfc);
    agrees(atanh::<Fused>, f64::atanh);
    for y in [2.5, -0.7, 0.0, -0.0, 1e-40, 1e38, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let y = f64::from(y as f32);
        agrees(|x| hypot::<Fused>(x, y), |x| x.hypot(y));
        agrees(|x| atan2::<Fused>(x, y), |x| x.atan2(y));
        agrees(|x| atan2::<Fused>(y, x), |x| y.atan2(x));
    }
    for y in [2.5, -0.7, 3.0, 1e-3, -31.0, 0.0] {
        let near =
            |function: fn(f64, f64) -> f64| move |x: f64| if x.is_finite() && x != 0.0 { function(x, y) } else { 0.0 };
        agrees(near(pow::<Fused>), near(f64::powf));
    }
    let near = |function: fn(f64) -> f64| move |x: f64| if x.abs() <= TURNS { function(x) } else { 0.0 };
    agrees(near(sin::<Fused>), near(f64::sin));
    agrees(near(cos::<Fused>), near(f64::cos));
    agrees(near(tan::<Fused>), near(f64::tan));
}

/// Plain steps give the `f32` of fused ones, or are found doubtful. Returns the share that is.
fn rounds_alike(plain: impl Fn(f64) -> f64, fused: impl Fn(f64) -> f64, step: usize) -> f64 {
    let (mut seen, mut doubtful) = (0, 0);
    for bits in (0..=u32::MAX).step_by(step) {
        let x = f64::from(f32::from_bits(bits));
        let value = plain(x);
        let wanted = fused(x);
        if value.is_nan() && wanted.is_nan() {
            continue;
        }
        // Near zero, where every number is doubtful, there are as many as elsewhere.
        if x.abs() > 1e-3 && x.abs() < 5.0 {
            seen += 1;
            doubtful += u32::from(is_doubtful(value));
        }
        let got = checked(value, || wanted) as f32;
        assert_eq!(got.to_bits(), (wanted as f32).to_bits(), "{x:e}: {value:e} beside {wanted:e}");
    }
    f64::from(doubtful) / f64::from(seen)
}

fn all_round_alike(step: usize) {
    macro_rules! each {
        ($($function:ident)*) => {$(
            let share = rounds_alike($function::<Plain>, $function::<Fused>, step);
            assert!(share < 0.01, "{} of {} are doubtful", share, stringify!($function));
        )*};
    }
    each! { exp exp2 exp_m1 ln log2 log10 ln_1p sinh cosh tanh atan erf erfc atanh erfinv asin acos }
    macro_rules! near {
        ($($function:ident)*) => {$(
            let near = |function: fn(f64) -> f64| move |x: f64| if x.abs() <= TURNS { function(x) } else { 0.0 };
            rounds_alike(near($function::<Plain>), near($function::<Fused>), step);
        )*};
    }
    near! { sin cos tan }
    for y in [2.5, -0.7, 3.0, 1e-3, -31.0, 0.0] {
        let y = f64::from(y as f32);
        rounds_alike(|x| atan2::<Plain>(x, y), |x| atan2::<Fused>(x, y), step);
        rounds_alike(|x| atan2::<Plain>(y, x), |x| atan2::<Fused>(y, x), step);
        let near =
            |function: fn(f64, f64) -> f64| move |x: f64| if x.is_finite() && x != 0.0 { function(x, y) } else { 0.0 };
        rounds_alike(near(pow::<Plain>), near(pow::<Fused>), step);
    }
}

#[test]
fn plain_steps_round_alike_or_are_doubtful() {
    all_round_alike(9973);
}

/// The same for every `f32`; takes three hours: `cargo test --release -p tensorsh-tensor -- --ignored every_single`
#[test]
#[ignore = "takes three hours"]
fn every_single_rounds_alike_or_is_doubtful() {
    all_round_alike(1);
}

#[test]
fn remainders_are_exact() {
    let mut bits = 1u64;
    let mut draw = || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        f64::from_bits(bits)
    };
    for step in 0..200_000 {
        let (a, b) = (draw(), draw());
        // Multiples, their neighbours, and numbers of similar size.
        let whole = (b * (step % 1000) as f64, b);
        for (a, b) in [(a, b), (a, a * 0.37), whole, (whole.0.next_up(), b), (whole.0.next_down(), -b)] {
            if b.is_finite() && (a / b).abs() <= QUOTIENT {
                assert_eq!(rest(a, b).to_bits(), (a % b).to_bits(), "{a:e} % {b:e}");
            }
        }
    }
}
