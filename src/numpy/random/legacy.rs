//! The distributions of `RandomState`, frozen as they were in NumPy 1.16: normal numbers by the polar method, and
//! exponential numbers by the inverse.

use super::common::requested_at;
use super::common::{self, geometric_searching, log_gamma, poisson, to_long};
use super::source::Source;

/// `standard_normal()` and `randn()`. Every other call returns the cached second number of a pair.
pub(super) fn standard_normal(source: &mut Source<'_>) -> f64 {
    if let Some(cached) = source.cache.gauss.take() {
        return cached;
    }
    loop {
        let x = 2.0 * source.uniform() - 1.0;
        let y = 2.0 * source.uniform() - 1.0;
        let square = x * x + y * y;
        if square < 1.0 && square != 0.0 {
            let factor = (-2.0 * square.ln() / square).sqrt();
            source.cache.gauss = Some(factor * x);
            return factor * y;
        }
    }
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
    -(1.0 - source.uniform()).ln()
}

/// `exponential(scale)`.
pub(super) fn exponential(source: &mut Source<'_>, scale: f64) -> f64 {
    scale * standard_exponential(source)
}

/// `standard_gamma(shape)`.
pub(super) fn standard_gamma(source: &mut Source<'_>, shape: f64) -> f64 {
    common::standard_gamma(source, shape, standard_exponential, standard_normal)
}

/// `gamma(shape, scale)`.
pub(super) fn gamma(source: &mut Source<'_>, shape: f64, scale: f64) -> f64 {
    scale * standard_gamma(source, shape)
}

/// `beta(a, b)`.
pub(super) fn beta(source: &mut Source<'_>, a: f64, b: f64) -> f64 {
    if !(a <= 1.0 && b <= 1.0) {
        let first = standard_gamma(source, a);
        let second = standard_gamma(source, b);
        return first / (first + second);
    }
    loop {
        let u = source.uniform();
        let v = source.uniform();
        let x = u.powf(1.0 / a);
        let y = v.powf(1.0 / b);
        if !(x + y <= 1.0) {
            continue;
        }
        if x + y > 0.0 {
            return x / (x + y);
        }
        // Both powers underflowed: go on with their logarithms.
        let (log_x, log_y) = (u.ln() / a, v.ln() / b);
        let larger = if log_x > log_y { log_x } else { log_y };
        let (log_x, log_y) = (log_x - larger, log_y - larger);
        return (log_x - (log_x.exp() + log_y.exp()).ln()).exp();
    }
}

/// `chisquare(df)`.
pub(super) fn chisquare(source: &mut Source<'_>, df: f64) -> f64 {
    2.0 * standard_gamma(source, df / 2.0)
}

/// `noncentral_chisquare(df, nonc)`.
pub(super) fn noncentral_chisquare(source: &mut Source<'_>, df: f64, nonc: f64) -> f64 {
    if nonc == 0.0 {
        return chisquare(source, df);
    }
    if 1.0 < df {
        let central = chisquare(source, df - 1.0);
        let shifted = standard_normal(source) + nonc.sqrt();
        return central + shifted * shifted;
    }
    let events = poisson(source, nonc / 2.0);
    let result = chisquare(source, df + events.wrapping_mul(2) as f64);
    if nonc.is_nan() { f64::NAN } else { result }
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
    (standard_exponential(source) / a).exp() - 1.0
}

/// `weibull(a)`.
pub(super) fn weibull(source: &mut Source<'_>, a: f64) -> f64 {
    if a == 0.0 { 0.0 } else { standard_exponential(source).powf(1.0 / a) }
}

/// `power(a)`.
pub(super) fn power(source: &mut Source<'_>, a: f64) -> f64 {
    (1.0 - (-standard_exponential(source)).exp()).powf(1.0 / a)
}

/// `rayleigh(scale)`.
pub(super) fn rayleigh(source: &mut Source<'_>, scale: f64) -> f64 {
    scale * (-2.0 * (-source.uniform()).ln_1p()).sqrt()
}

/// `wald(mean, scale)`.
pub(super) fn wald(source: &mut Source<'_>, mean: f64, scale: f64) -> f64 {
    let ratio = mean / (2.0 * scale);
    let y = standard_normal(source);
    let y = mean * y * y;
    let x = mean + ratio * (y - (4.0 * scale * y + y * y).sqrt());
    if source.uniform() <= mean / (mean + x) { x } else { mean * mean / x }
}

/// `vonmises(mu, kappa)`.
pub(super) fn vonmises(source: &mut Source<'_>, mu: f64, kappa: f64) -> f64 {
    common::vonmises(source, mu, kappa, None)
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
    to_long(((-source.uniform()).ln_1p() / (1.0 - p).ln()).ceil())
}

/// `zipf(a)`.
pub(super) fn zipf(source: &mut Source<'_>, a: f64) -> i64 {
    common::zipf(source, a, |u| 1.0 - u)
}

/// `logseries(p)`.
pub(super) fn logseries(source: &mut Source<'_>, p: f64) -> i64 {
    common::logseries(source, p, (1.0 - p).ln(), |x| 1.0 - x.exp())
}

/// `hypergeometric(ngood, nbad, nsample)`.
pub(super) fn hypergeometric(source: &mut Source<'_>, good: i64, bad: i64, sample: i64) -> i64 {
    match sample {
        11.. => hypergeometric_by_ratio(source, good, bad, sample),
        1..=10 => hypergeometric_by_counting(source, good, bad, sample),
        _ => 0,
    }
}

fn hypergeometric_by_counting(source: &mut Source<'_>, good: i64, bad: i64, sample: i64) -> i64 {
    let rest = bad.wrapping_add(good).wrapping_sub(sample);
    let smaller = good.min(bad) as f64;
    let mut left = smaller;
    let mut to_draw = sample;
    while left > 0.0 {
        let u = source.uniform();
        left -= to_long((u + left / rest.wrapping_add(to_draw) as f64).floor()) as f64;
        to_draw -= 1;
        if to_draw == 0 {
            break;
        }
    }
    let drawn = to_long(smaller - left);
    if good > bad { sample.wrapping_sub(drawn) } else { drawn }
}

/// Stadlober's ratio of uniforms (HRUA, 1989).
fn hypergeometric_by_ratio(source: &mut Source<'_>, good: i64, bad: i64, sample: i64) -> i64 {
    // 2 sqrt(2 / e), and 3 - 2 sqrt(3 / e).
    const SLOPE: f64 = 1.7155277699214135;
    const OFFSET: f64 = 0.8989161620588988;
    let (smaller, larger) = (good.min(bad), good.max(bad));
    let population = good.wrapping_add(bad);
    let m = sample.min(population.wrapping_sub(sample));
    let share = smaller as f64 / population as f64;
    let other = 1.0 - share;
    let centre = m as f64 * share + 0.5;
    let spread =
        (population.wrapping_sub(m) as f64 * sample as f64 * share * other / population.wrapping_sub(1) as f64 + 0.5)
            .sqrt();
    let width = SLOPE * spread + OFFSET;
    let mode = (m.wrapping_add(1) as f64 * smaller.wrapping_add(1) as f64 / population.wrapping_add(2) as f64).floor();
    let mode = to_long(mode);
    let log_density = |z: i64| {
        let gamma = |count: i64| log_gamma(count as f64);
        gamma(z.wrapping_add(1))
            + gamma(smaller.wrapping_sub(z).wrapping_add(1))
            + gamma(m.wrapping_sub(z).wrapping_add(1))
            + gamma(larger.wrapping_sub(m).wrapping_add(z).wrapping_add(1))
    };
    let at_mode = log_density(mode);
    let limit = (centre + 16.0 * spread).floor();
    let most = m.min(smaller) as f64 + 1.0;
    let limit = if most < limit { most } else { limit };
    let mut step = 0;
    let z = loop {
        // Taking nearly all of a huge population rejects nearly every number.
        step += 1;
        if requested_at(step) {
            return 0;
        }
        let x = source.uniform();
        let y = source.uniform();
        let w = centre + width * (y - 0.5) / x;
        if w < 0.0 || w >= limit {
            continue;
        }
        let z = to_long(w.floor());
        let t = at_mode - log_density(z);
        if x * (4.0 - x) - 3.0 <= t {
            break z;
        }
        if x * (x - t) >= 1.0 {
            continue;
        }
        if 2.0 * x.ln() <= t {
            break z;
        }
    };
    let z = if good > bad { m.wrapping_sub(z) } else { z };
    if m < sample { good.wrapping_sub(z) } else { z }
}

/// Fills one `dirichlet(alpha)` draw.
pub(super) fn dirichlet(source: &mut Source<'_>, alpha: &[f64], out: &mut [f64]) {
    common::normalised_gammas(source, alpha, out, standard_gamma);
}
