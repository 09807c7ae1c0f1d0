//! The results of functions along a dimension, or over everything, for one line of numbers: each computed in the
//! simplest way.

use tensorsh::tensor::{DType, Scalar};

/// A result, and how precisely it must agree.
pub(crate) enum Want {
    /// To the last bit.
    Exactly(Vec<Scalar>),
    /// Up to rounding, which grows with the length of the line.
    Nearly(Vec<Scalar>),
    /// The results are indices of these values.
    At(Vec<Scalar>),
    /// The results are all indices, each once, in the order of the values.
    Ordered { descending: bool },
}
use Want::{At, Exactly, Nearly, Ordered};

/// Half the difference between both neighbours; at either end, the difference to the only one.
fn slopes(line: &[Scalar]) -> Vec<Scalar> {
    let line = floats(line);
    let last = line.len() - 1;
    let slope = |i: usize| {
        let (from, to) = (i.saturating_sub(1), (i + 1).min(last));
        (line[to] - line[from]) / (to - from) as f64
    };
    (0..=last).map(|i| Scalar::Float(slope(i))).collect()
}

fn nan(value: &Scalar) -> bool {
    match value {
        Scalar::Float(value) => value.is_nan(),
        Scalar::Complex(value) => value.re.is_nan() || value.im.is_nan(),
        _ => false,
    }
}

/// Returns whether `a` comes before `b` when sorted. NaN is the largest.
pub(crate) fn before(a: &Scalar, b: &Scalar) -> bool {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => a < b || b.is_nan() && !a.is_nan(),
        (a, b) => a.to_i64() < b.to_i64(),
    }
}

fn sorted(line: &[Scalar]) -> Vec<Scalar> {
    let mut sorted = line.to_vec();
    sorted.sort_by(|a, b| before(b, a).cmp(&before(a, b)));
    sorted
}

fn extreme(line: &[Scalar], largest: bool) -> Scalar {
    let first_nan = line.iter().find(|value| nan(value));
    let better = |a: &Scalar, b: &Scalar| if largest { before(b, a) } else { before(a, b) };
    let best = line.iter().fold(line[0], |best, value| if better(value, &best) { *value } else { best });
    *first_nan.unwrap_or(&best)
}

fn first_extreme(line: &[Scalar], largest: bool) -> Scalar {
    let best = extreme(line, largest);
    let same = |value: &Scalar| *value == best || nan(value) && nan(&best);
    Scalar::Int(line.iter().position(same).unwrap() as i64)
}

fn floats(line: &[Scalar]) -> Vec<f64> {
    line.iter().map(|value| value.to_f64()).collect()
}

fn truth(value: &Scalar) -> bool {
    value.to_complex().norm() != 0.0 || nan(value)
}

/// Returns cumulative sums or products. Integers wrap; floats are accumulated in a wider type.
fn running(dtype: DType, line: &[Scalar], product: bool) -> Want {
    if dtype.is_complex() {
        let start = if product { 1.0 } else { 0.0 };
        let mut carried = num_complex::Complex::new(start, 0.0);
        let each = line.iter().map(|value| {
            carried = if product { carried * value.to_complex() } else { carried + value.to_complex() };
            Scalar::Complex(carried)
        });
        return Nearly(each.collect());
    }
    if dtype.is_floating_point() {
        let single = dtype.is_reduced_floating_point();
        let mut carried = if product { 1.0 } else { 0.0 };
        let each = floats(line).into_iter().map(|value| {
            carried = if product { carried * value } else { carried + value };
            if single {
                carried = f64::from(carried as f32);
            }
            Scalar::Float(carried)
        });
        return Exactly(each.collect());
    }
    let mut carried = i64::from(product);
    let each = line.iter().map(|value| {
        carried = if product { carried.wrapping_mul(value.to_i64()) } else { carried.wrapping_add(value.to_i64()) };
        Scalar::Int(carried)
    });
    Exactly(each.collect())
}

fn running_extreme(line: &[Scalar], largest: bool) -> Vec<Want> {
    let mut best = line[0];
    let each: Vec<Scalar> = line
        .iter()
        .map(|value| {
            let beaten = if largest { !before(value, &best) } else { !before(&best, value) };
            if !nan(&best) && (beaten || nan(value)) {
                best = *value;
            }
            best
        })
        .collect();
    vec![Exactly(each.clone()), At(each)]
}

fn spread(line: &[Scalar], root: bool) -> Vec<Scalar> {
    let count = line.len() as f64;
    let sum = line.iter().fold(num_complex::Complex::new(0.0, 0.0), |sum, value| sum + value.to_complex());
    let mean = sum / count;
    let total: f64 = line.iter().map(|value| (value.to_complex() - mean).norm_sqr()).sum();
    let variance = total / (count - 1.0).max(0.0);
    vec![Scalar::Float(if root { variance.sqrt() } else { variance })]
}

fn mean(line: &[Scalar]) -> Vec<Scalar> {
    let sum = line.iter().fold(num_complex::Complex::new(0.0, 0.0), |sum, value| sum + value.to_complex());
    vec![Scalar::Complex(sum / line.len() as f64)]
}

/// Returns the numbers of a line without NaN.
fn numbers(line: &[Scalar]) -> Vec<Scalar> {
    line.iter().copied().filter(|value| !nan(value)).collect()
}

fn shares(line: &[Scalar], logarithm: bool) -> Vec<Scalar> {
    let values = floats(line);
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = values.iter().map(|value| (value - largest).exp()).sum();
    let share = |value: &f64| if logarithm { value - largest - total.ln() } else { (value - largest).exp() / total };
    values.iter().map(|value| Scalar::Float(share(value))).collect()
}

fn log_sum(line: &[Scalar]) -> f64 {
    let values = floats(line);
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    largest + values.iter().map(|value| (value - largest).exp()).sum::<f64>().ln()
}

/// Returns the most frequent value; of several, the smallest.
fn mode(line: &[Scalar]) -> Scalar {
    let sorted = sorted(line);
    let (mut best, mut most, mut run) = (sorted[0], 0, 0);
    for (i, value) in sorted.iter().enumerate() {
        run = if i > 0 && sorted[i - 1] == *value { run + 1 } else { 1 };
        if run > most {
            (best, most) = (*value, run);
        }
    }
    best
}

fn median(line: &[Scalar], ignoring_nan: bool) -> Scalar {
    let numbers = numbers(line);
    if numbers.is_empty() || !ignoring_nan && numbers.len() < line.len() {
        return *line.iter().find(|value| nan(value)).unwrap();
    }
    sorted(&numbers)[(numbers.len() - 1) / 2]
}

fn quantile(line: &[Scalar], share: f64) -> f64 {
    let sorted = floats(&sorted(line));
    if sorted.iter().any(|value| value.is_nan()) {
        return f64::NAN;
    }
    let rank = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    low + (high - low) * rank.fract()
}

/// Returns the expected results of a function for a line. `None` for a function that is checked elsewhere. Sums and
/// means of floats are in `sums.rs`, because their order depends on the whole tensor.
pub(crate) fn wanted(name: &str, dtype: DType, line: &[Scalar]) -> Option<Vec<Want>> {
    let k = 3.min(line.len());
    let bools = |value: bool| vec![Exactly(vec![Scalar::Bool(value)])];
    let values = |value: Scalar| vec![Exactly(vec![value]), At(vec![value])];
    let sum = || line.iter().fold(0i64, |sum, value| sum.wrapping_add(value.to_i64()));
    Some(match name {
        "sum" | "nansum" => vec![Exactly(vec![Scalar::Int(sum())])],
        "any" => bools(line.iter().any(truth)),
        "all" => bools(line.iter().all(truth)),
        "max" => values(extreme(line, true)),
        "min" => values(extreme(line, false)),
        "amax" => vec![Exactly(vec![extreme(line, true)])],
        "amin" => vec![Exactly(vec![extreme(line, false)])],
        "aminmax" => vec![Exactly(vec![extreme(line, false)]), Exactly(vec![extreme(line, true)])],
        "argmax" => vec![Exactly(vec![first_extreme(line, true)])],
        "argmin" => vec![Exactly(vec![first_extreme(line, false)])],
        "count_nonzero" => vec![Exactly(vec![Scalar::Int(line.iter().filter(|value| truth(value)).count() as i64)])],
        // Not computed with complex numbers, whose products are NaN beyond infinity.
        "prod" if dtype.is_floating_point() => vec![Nearly(vec![Scalar::Float(floats(line).iter().product())])],
        "prod" if dtype.is_complex() => {
            let one = num_complex::Complex::new(1.0, 0.0);
            vec![Nearly(vec![Scalar::Complex(line.iter().fold(one, |product, value| product * value.to_complex()))])]
        }
        "prod" => {
            let product = line.iter().fold(1i64, |product, value| product.wrapping_mul(value.to_i64()));
            vec![Exactly(vec![Scalar::Int(product)])]
        }
        "cumsum" => vec![running(dtype, line, false)],
        "cumprod" => vec![running(dtype, line, true)],
        "cummax" => running_extreme(line, true),
        "cummin" => running_extreme(line, false),
        "logcumsumexp" if !dtype.is_complex() => {
            let each = (1..=line.len().min(400)).map(|n| Scalar::Float(log_sum(&line[..n])));
            vec![Nearly(each.collect())]
        }
        // The sum of so many powers exceeds float16, in PyTorch too.
        "logsumexp" if dtype == DType::Half && line.len() > 60_000 => return None,
        "logsumexp" if !dtype.is_complex() => vec![Nearly(vec![Scalar::Float(log_sum(line))])],
        "softmax" if !dtype.is_complex() => vec![Nearly(shares(line, false))],
        "log_softmax" if !dtype.is_complex() => vec![Nearly(shares(line, true))],
        "mean" => vec![Nearly(mean(line))],
        "nanmean" => vec![Nearly(mean(&numbers(line)))],
        "var" => vec![Nearly(spread(line, false))],
        "std" => vec![Nearly(spread(line, true))],
        "var_mean" => vec![Nearly(spread(line, false)), Nearly(mean(line))],
        "std_mean" => vec![Nearly(spread(line, true)), Nearly(mean(line))],
        "sort" => vec![Exactly(sorted(line)), Ordered { descending: false }],
        "msort" => vec![Exactly(sorted(line))],
        "argsort" => vec![Ordered { descending: false }],
        "topk" => {
            let top: Vec<Scalar> = sorted(line).into_iter().rev().take(k).collect();
            vec![Exactly(top.clone()), At(top)]
        }
        "kthvalue" => values(sorted(line)[k - 1]),
        "median" => values(median(line, false)),
        "nanmedian" => values(median(line, true)),
        "mode" if !line.iter().any(nan) => values(mode(line)),
        "quantile" => vec![Nearly(vec![Scalar::Float(quantile(line, 0.5))])],
        "gradient" if matches!(dtype, DType::Float | DType::Double) => vec![Nearly(slopes(line))],
        "flip" => vec![Exactly(line.iter().rev().copied().collect())],
        "roll" => vec![Exactly((0..line.len()).map(|i| line[(i + line.len() - 1) % line.len()]).collect())],
        "unsqueeze" | "squeeze" => vec![Exactly(line.to_vec())],
        "norm" | "vector_norm" => {
            let total: f64 = line.iter().map(|value| value.to_complex().norm_sqr()).sum();
            vec![Nearly(vec![Scalar::Float(total.sqrt())])]
        }
        _ => return None,
    })
}
