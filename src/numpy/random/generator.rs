//! The distributions of `Generator`: normal and exponential numbers by the ziggurat method.

use super::common::{self, geometric_searching, poisson, to_long};
use super::source::Source;
use super::ziggurat;

/// `standard_normal()`.
pub(super) fn standard_normal(source: &mut Source<'_>) -> f64 {
    ziggurat::standard_normal(source.bits)
}

/// `normal(loc, scale)`.
pub(super) fn normal(source: &mut Source<'_>, loc: f64, scale: f64) -> f64 {
    loc + scale * standard_normal(source)
}

/// `lognormal(mean, sigma)`.
pub(super) fn lognormal(source: &mut Source<'_>, mean: f64, sigma: f64) -> f64 {
    normal(source, mean, sigma).exp()
}

/// `standard_exponential()`.
pub(super) fn standard_exponential(source: &mut Source<'_>) -> f64 {
    ziggurat::standard_exponential(source.bits)
}

/// `exponential(scale)`.
pub(super) fn exponential(source: &mut Source<'_>, scale: f64) -> f64 {
    scale * standard_exponential(source)
}

/// `standard_gamma(shape)`.
pub(super) fn standard_gamma(source: &mut Source<'_>, shape: f64) -> f64 {
    common::standard_gamma(source, shape, standard_exponential, standard_normal)
}

/// `standard_gamma(shape, dtype=np.float32)`: [`standard_gamma`] with all arithmetic in `f32`.
pub(super) fn standard_gamma_f32(source: &mut Source<'_>, shape: f32) -> f32 {
    let bits = &mut *source.bits;
    if shape == 1.0 {
        return ziggurat::standard_exponential_f32(bits);
    }
    if shape == 0.0 {
        return 0.0;
    }
    if shape < 1.0 {
        loop {
            let u = bits.next_float();
            let v = ziggurat::standard_exponential_f32(bits);
            if u <= 1.0 - shape {
                let x = u.powf(1.0 / shape);
                if x <= v {
                    return x;
                }
            } else {
                let y = -((1.0 - u) / shape).ln();
                let x = (1.0 - shape + shape * y).powf(1.0 / shape);
                if x <= v + y {
                    return x;
                }
            }
        }
    }
    let b = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * b).sqrt();
    loop {
        let (x, v) = loop {
            let x = ziggurat::standard_normal_f32(bits);
            let v = 1.0 + c * x;
            if !(v <= 0.0) {
                break (x, v * v * v);
            }
        };
        let u = bits.next_float();
        if u < 1.0 - 0.0331 * (x * x) * (x * x) || u.ln() < 0.5 * x * x + b * (1.0 - v + v.ln()) {
            return b * v;
        }
    }
}

/// `gamma(shape, scale)`.
pub(super) fn gamma(source: &mut Source<'_>, shape: f64, scale: f64) -> f64 {
    scale * standard_gamma(source, shape)
}

/// `beta(a, b)`.
pub(super) fn beta(source: &mut Source<'_>, a: f64, b: f64) -> f64 {
    /// Below it, a result other than 0 and 1 is as good as impossible.
    const TINY: f64 = 3e-103;
    if !(a <= 1.0 && b <= 1.0) {
        let first = standard_gamma(source, a);
        let second = standard_gamma(source, b);
        return first / (first + second);
    }
    if a < TINY && b < TINY {
        return if (a + b) * source.uniform() < a { 1.0 } else { 0.0 };
    }
    loop {
        let u = source.uniform();
        let v = source.uniform();
        let x = u.powf(1.0 / a);
        let y = v.powf(1.0 / b);
        let sum = x + y;
        if !(sum <= 1.0 && u + v > 0.0) {
            continue;
        }
        if x > 0.0 && y > 0.0 {
            return x / sum;
        }
        // A power underflowed: go on with logarithms.
        let delta = u.ln() / a - v.ln() / b;
        return if delta > 0.0 { (-(-delta).exp().ln_1p()).exp() } else { (delta - delta.exp().ln_1p()).exp() };
    }
}

/// `chisquare(df)`.
pub(super) fn chisquare(source: &mut Source<'_>, df: f64) -> f64 {
    2.0 * standard_gamma(source, df / 2.0)
}

/// `noncentral_chisquare(df, nonc)`.
pub(super) fn noncentral_chisquare(source: &mut Source<'_>, df: f64, nonc: f64) -> f64 {
    if nonc.is_nan() {
        return f64::NAN;
    }
    if nonc == 0.0 {
        return chisquare(source, df);
    }
    if 1.0 < df {
        let central = chisquare(source, df - 1.0);
        let shifted = standard_normal(source) + nonc.sqrt();
        return central + shifted * shifted;
    }
    let events = poisson(source, nonc / 2.0);
    chisquare(source, df + events.wrapping_mul(2) as f64)
}

/// `f(dfnum, dfden)`.
pub(super) fn f(source: &mut Source<'_>, dfnum: f64, dfden: f64) -> f64 {
    let above = chisquare(source, dfnum) * dfden;
    above / (chisquare(source, dfden) * dfnum)
}

/// `noncentral_f(dfnum, dfden, nonc)`.
pub(super) fn noncentral_f(source: &mut Source<'_>, dfnum: f64, dfden: f64, nonc: f64) -> f64 {
    let above = noncentral_chisquare(source, dfnum, nonc) * dfden;
    above / (chisquare(source, dfden) * dfnum)
}

/// `standard_t(df)`.
pub(super) fn standard_t(source: &mut Source<'_>, df: f64) -> f64 {
    let above = standard_normal(source);
    let below = standard_gamma(source, df / 2.0);
    (df / 2.0).sqrt() * above / below.sqrt()
}

/// `standard_cauchy()`.
pub(super) fn standard_cauchy(source: &mut Source<'_>) -> f64 {
    let above = standard_normal(source);
    above / standard_normal(source)
}

/// `pareto(a)`.
pub(super) fn pareto(source: &mut Source<'_>, a: f64) -> f64 {
    (standard_exponential(source) / a).exp_m1()
}

/// `weibull(a)`.
pub(super) fn weibull(source: &mut Source<'_>, a: f64) -> f64 {
    if a == 0.0 { 0.0 } else { standard_exponential(source).powf(1.0 / a) }
}

/// `power(a)`.
pub(super) fn power(source: &mut Source<'_>, a: f64) -> f64 {
    (-(-standard_exponential(source)).exp_m1()).powf(1.0 / a)
}

/// `rayleigh(scale)`.
pub(super) fn rayleigh(source: &mut Source<'_>, scale: f64) -> f64 {
    scale * (2.0 * standard_exponential(source)).sqrt()
}

/// `wald(mean, scale)`.
pub(super) fn wald(source: &mut Source<'_>, mean: f64, scale: f64) -> f64 {
    let y = standard_normal(source);
    let y = mean * y * y;
    let d = 1.0 + (1.0 + 4.0 * scale / y).sqrt();
    let x = mean * (1.0 - 2.0 / d);
    if source.uniform() <= mean / (mean + x) { x } else { mean * mean / x }
}

/// `vonmises(mu, kappa)`.
pub(super) fn vonmises(source: &mut Source<'_>, mu: f64, kappa: f64) -> f64 {
    common::vonmises(source, mu, kappa, Some(standard_normal))
}

/// `negative_binomial(n, p)`.
pub(super) fn negative_binomial(source: &mut Source<'_>, n: f64, p: f64) -> i64 {
    let lam = gamma(source, n, (1.0 - p) / p);
    poisson(source, lam)
}

/// `geometric(p)`.
pub(super) fn geometric(source: &mut Source<'_>, p: f64) -> i64 {
    if p >= 1.0 / 3.0 {
        return geometric_searching(source, p);
    }
    let trials = (-standard_exponential(source) / (-p).ln_1p()).ceil();
    if trials >= 9.223372036854776e+18 { i64::MAX } else { to_long(trials) }
}

/// `zipf(a)`.
pub(super) fn zipf(source: &mut Source<'_>, a: f64) -> i64 {
    // Larger exponents overflow, and give 1 almost surely.
    if a >= 1025.0 {
        return 1;
    }
    // Smaller uniform numbers lead to numbers that are too large and rejected.
    let smallest = (i64::MAX as f64).powf(-(a - 1.0));
    common::zipf(source, a, |u| u * smallest + (1.0 - u))
}

/// `logseries(p)`.
pub(super) fn logseries(source: &mut Source<'_>, p: f64) -> i64 {
    common::logseries(source, p, (-p).ln_1p(), |x| -x.exp_m1())
}

/// Fills one `dirichlet(alpha)` draw.
pub(super) fn dirichlet(source: &mut Source<'_>, alpha: &[f64], out: &mut [f64]) {
    // `max` of an array with NaN is NaN, which is not small.
    if alpha.is_empty() || !alpha.iter().all(|shape| *shape < 0.1) {
        common::normalised_gammas(source, alpha, out, standard_gamma);
        return;
    }
    // Small shapes: all gamma numbers could be zero, so break a stick by beta numbers instead.
    out.fill(0.0);
    let mut sum = 0.0;
    let mut rests = Vec::with_capacity(alpha.len());
    for shape in alpha.iter().rev() {
        rests.push(sum);
        sum += shape;
    }
    rests.reverse();
    if !(sum > 0.0) {
        return;
    }
    let mut stick = 1.0;
    let last = out.len().saturating_sub(1);
    for ((number, shape), rest) in out.iter_mut().zip(alpha).zip(&rests).take(last) {
        let share = beta(source, *shape, *rest);
        *number = stick * share;
        stick *= 1.0 - share;
        if *rest == 0.0 {
            break;
        }
    }
    if let Some(number) = out.last_mut() {
        *number = stick;
    }
}
