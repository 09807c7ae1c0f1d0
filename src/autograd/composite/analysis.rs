//! Differences, integrals, quantiles and covariances, composed of simpler functions.

use super::{Composite, arg, flag, int, ndim, on, reshape, self_, sizes_of, tensor, unrecorded};
use crate::Functions;
use crate::context::Expr;
use tensor::bail;
use tensor::layout::wrap_dim;
use tensor::{Dims, Error, Result, interrupt};
use value::Value;

pub(super) const ROWS: &[(&str, Composite)] = &[
    ("diff", diff),
    ("trapezoid.x", trapezoid_at),
    ("trapezoid.dx", trapezoid),
    ("trapz.dx", trapezoid),
    ("cumulative_trapezoid.x", |f, a| {
        let dim = Value::Int(int(a, 2));
        areas(f, a)?.call("cumsum", &[dim]).call("div.Scalar", &[Value::Float(2.0)]).value
    }),
    ("cumulative_trapezoid.dx", |f, a| {
        let (above, below) = neighbours(&on(f, self_(a)?), int(a, 2))?;
        let half = arg(a, 1).as_scalar().map_or(0.5, |step| step.to_f64() / 2.0);
        (above + below).call("mul.Scalar", &[Value::Float(half)]).call("cumsum", &[arg(a, 2)]).value
    }),
    ("gradient.scalararray", gradient),
    ("gradient.array", |f, a| gradient(f, &[arg(a, 0), Value::None, arg(a, 1), arg(a, 2)])),
    ("quantile", |f, a| quantile(f, a, false)),
    ("quantile.scalar", |f, a| quantile(f, a, false)),
    ("nanquantile", |f, a| quantile(f, a, true)),
    ("nanquantile.scalar", |f, a| quantile(f, a, true)),
    ("nanmean", |f, a| {
        let numbers = on(f, self_(a)?).call("isnan", &[]).call("logical_not", &[]);
        let count = match arg(a, 1) {
            Value::None => numbers.call("sum", &[]),
            dims => numbers.call("sum.dim_IntList", &[dims, arg(a, 2)]),
        };
        (on(f, self_(a)?).call("nansum", &[arg(a, 1), arg(a, 2), arg(a, 3)]) / count).value
    }),
    ("cov", |f, a| cov(f, a)?.value),
    ("corrcoef", corrcoef),
    ("msort", |f, a| on(f, self_(a)?).call("sort", &[Value::Int(0), Value::Bool(false)]).field(0).value),
    ("vander", vander),
    ("linalg.vander", |f, a| {
        let x = on(f, self_(a)?);
        let sizes = tensor(a, 0)?.borrow().layout.sizes.clone();
        let columns = match arg(a, 1) {
            Value::Int(columns) => columns,
            _ => sizes.last().copied().unwrap_or(0),
        };
        if columns < 2 {
            return unrecorded(f, "linalg.vander", a);
        }
        let mut wide = sizes;
        wide.push(columns - 1);
        let powers = x.call("unsqueeze", &[Value::Int(-1)]).call("expand", &[Value::Size(wide)]);
        let powers = powers.call("cumprod", &[Value::Int(-1)]);
        let mut first = sizes_of(a, 0)?;
        if let Value::Size(sizes) = &mut first {
            sizes.push(1);
        }
        let ones = on(f, self_(a)?).call("new_ones", &[first]);
        let parts = Value::list([ones.value?, powers.value?]);
        f.call("cat", &[parts, Value::Int(-1)])
    }),
    ("special.ndtr", |f, a| {
        let number = |value: f64| [Value::Float(value)];
        let erf = on(f, self_(a)?).call("mul.Scalar", &number(std::f64::consts::FRAC_1_SQRT_2)).call("erf", &[]);
        erf.call("add.Number", &number(1.0)).call("mul.Scalar", &number(0.5)).value
    }),
];

/// Returns a range of a dimension.
fn cut<'a>(x: &Expr<'a>, dim: i64, start: i64, length: i64) -> Expr<'a> {
    let range = [Value::Int(dim), Value::Int(start), Value::Int(start.saturating_add(length)), Value::Int(1)];
    x.call("slice.Tensor", &range)
}

fn length(x: &Expr, dim: i64) -> Result<i64> {
    let tensor = x.tensor()?;
    let dim = wrap_dim(dim, tensor.borrow().ndim())?;
    let length = tensor.borrow().sizes().get(dim).copied();
    Ok(length.unwrap_or(1))
}

/// Returns all elements of a dimension but the first, and all but the last.
fn neighbours<'a>(x: &Expr<'a>, dim: i64) -> Result<(Expr<'a>, Expr<'a>)> {
    let size = length(x, dim)?;
    let rest = (size - 1).max(0);
    Ok((cut(x, dim, size - rest, rest), cut(x, dim, 0, rest)))
}

fn diff(f: &dyn Functions, a: &[Value]) -> Result<Value> {
    let dim = int(a, 2);
    let around = [arg(a, 3), self_(a)?, arg(a, 4)];
    let parts: Vec<Value> = around.into_iter().filter(|part| matches!(part, Value::Tensor(_))).collect();
    let mut x = match parts.len() {
        1 => on(f, self_(a)?),
        _ => on(f, Value::list(parts)).call("cat", &[Value::Int(dim)]),
    };
    let times = int(a, 1).min(length(&x, dim)?.max(1));
    if times < 0 {
        bail!(RuntimeError, "order must be non-negative");
    }
    if times == 0 {
        return x.call("clone", &[]).value;
    }
    for _ in 0..times {
        interrupt::check()?;
        let (above, below) = neighbours(&x, dim)?;
        x = above - below;
    }
    x.value
}

/// Computes the distances between sample positions, in a shape that broadcasts with the samples along `dim`.
fn distances<'a>(places: &Expr<'a>, samples: &Expr<'a>, dim: i64) -> Result<Expr<'a>> {
    if ndim(&places.value.clone()?) != 1 {
        let (above, below) = neighbours(places, dim)?;
        return Ok(above - below);
    }
    let (above, below) = neighbours(places, 0)?;
    let dimensions = samples.tensor()?.borrow().ndim();
    let dim = wrap_dim(dim, dimensions)?;
    if length(places, 0)? != length(samples, dim as i64)? {
        bail!(RuntimeError, "there must be one `x` value for each sample point");
    }
    let steps = above - below;
    if dimensions == 1 {
        return Ok(steps);
    }
    let shape: Dims = (0..dimensions).map(|d| if d == dim { -1 } else { 1 }).collect();
    Ok(steps.call("view", &[Value::Size(shape)]))
}

fn areas<'a>(f: &'a dyn Functions, a: &[Value]) -> Result<Expr<'a>> {
    let (y, x) = (on(f, self_(a)?), on(f, arg(a, 1)));
    let steps = distances(&x, &y, int(a, 2))?;
    let (above, below) = neighbours(&y, int(a, 2))?;
    Ok((below + above) * steps)
}

fn trapezoid_at(f: &dyn Functions, a: &[Value]) -> Result<Value> {
    areas(f, a)?.sum(&[int(a, 2)], false).call("div.Scalar", &[Value::Float(2.0)]).value
}

fn trapezoid(f: &dyn Functions, a: &[Value]) -> Result<Value> {
    let y = on(f, self_(a)?);
    let end = |at: i64| y.call("select.int", &[arg(a, 2), Value::Int(at)]);
    let ends = (end(0) + end(-1)).call("mul.Scalar", &[Value::Float(0.5)]);
    (y.sum(&[int(a, 2)], false) - ends).call("mul.Scalar", &[arg(a, 1)]).value
}

fn gradient(f: &dyn Functions, a: &[Value]) -> Result<Value> {
    // Called for its errors about the arguments only.
    unrecorded(f, "gradient.scalararray", a)?;
    let x = on(f, self_(a)?);
    let all = tensor(a, 0)?.borrow().ndim() as i64;
    let dimensions: Vec<i64> = match arg(a, 2) {
        Value::None => (0..all).collect(),
        Value::Int(dim) => vec![dim],
        list => list.sequence().unwrap_or_default().iter().filter_map(Value::as_scalar).map(|d| d.to_i64()).collect(),
    };
    let spacing = arg(a, 1);
    let listed = spacing.sequence();
    let mut parts = Vec::new();
    for (n, &dim) in dimensions.iter().enumerate() {
        let spacing = match &listed {
            Some(items) => items.get(n).cloned().unwrap_or(Value::None),
            None => spacing.clone(),
        };
        parts.push(gradient_along(&x, &spacing, dim, int(a, 3) == 2)?.value?);
    }
    Ok(Value::tuple(parts))
}

/// Computes central differences inside, and one-sided ones at the edges.
fn gradient_along<'a>(x: &Expr<'a>, spacing: &Value, dim: i64, second_order: bool) -> Result<Expr<'a>> {
    let size = length(x, dim)?;
    let sample = |i: i64| cut(x, dim, if i < 0 { size + i } else { i }, 1);
    let inside = |start: i64| cut(x, dim, start, size - 2);
    let parts = if let Value::Tensor(_) = spacing {
        let places = Expr { functions: x.functions, value: Ok(spacing.clone()) };
        let steps = distances(&places, x, dim)?;
        let step = |i: i64| cut(&steps, dim, if i < 0 { size - 1 + i } else { i }, 1);
        let weighted = |weights: [Expr<'a>; 3], samples: [Expr<'a>; 3]| {
            let products = samples.into_iter().zip(weights).map(|(sample, weight)| sample * weight);
            products.reduce(|sum, product| sum + product)
        };
        let (left, right) = (cut(&steps, dim, 0, size - 2), cut(&steps, dim, 1, size - 2));
        let center = weighted(three_point(left, right, 0), [inside(0), inside(1), inside(2)]);
        let (first, last) = if second_order {
            let (before, after) = (three_point(step(0), step(1), -1), three_point(step(-2), step(-1), 1));
            (weighted(before, [sample(0), sample(1), sample(2)]), weighted(after, [sample(-3), sample(-2), sample(-1)]))
        } else {
            (Some((sample(1) - sample(0)) / step(0)), Some((sample(-1) - sample(-2)) / step(-1)))
        };
        [first, center, last]
    } else {
        let step = spacing.as_scalar().map_or(1.0, |step| step.to_f64());
        let by = |difference: Expr<'a>, steps: f64| difference.call("div.Scalar", &[Value::Float(steps * step)]);
        let times = |x: Expr<'a>, number: f64| x.call("mul.Scalar", &[Value::Float(number)]);
        let center = by(inside(2) - inside(0), 2.0);
        let (first, last) = if second_order {
            let first = times(sample(0), -1.5) + times(sample(1), 2.0) + times(sample(2), -0.5);
            let last = times(sample(-3), 0.5) + times(sample(-2), -2.0) + times(sample(-1), 1.5);
            (by(first, 1.0), by(last, 1.0))
        } else {
            (by(sample(1) - sample(0), 1.0), by(sample(-1) - sample(-2), 1.0))
        };
        [first, center, last].map(Some)
    };
    let parts: Result<Vec<Value>> = parts.into_iter().flatten().map(|part| part.value).collect();
    Ok(Expr { functions: x.functions, value: parts.map(Value::list) }.call("cat", &[Value::Int(dim)]))
}

/// Computes the weights of three samples in the derivative of the parabola through them. The samples are `left` and
/// `right` apart. The derivative is taken at the first sample if `end` is negative, at the last if it is positive, and
/// else at the middle one.
fn three_point<'a>(left: Expr<'a>, right: Expr<'a>, end: i64) -> [Expr<'a>; 3] {
    let both = left.clone() + right.clone();
    let (outer_left, outer_right) = (left.clone() * both.clone(), right.clone() * both.clone());
    let inner = left.clone() * right.clone();
    match end.signum() {
        -1 => [-((left.clone() * 2.0 + right) / outer_left), both / inner, -(left / outer_right)],
        1 => [right.clone() / outer_left, -(both / inner), (right * 2.0 + left) / outer_right],
        _ => [-(right.clone() / outer_left), (right - left.clone()) / inner, left / outer_right],
    }
}

fn quantile(f: &dyn Functions, a: &[Value], ignore_nan: bool) -> Result<Value> {
    let key = if ignore_nan { "nanquantile" } else { "quantile" };
    let key = if matches!(arg(a, 1), Value::Tensor(_)) { String::from(key) } else { format!("{key}.scalar") };
    unrecorded(f, &key, a)?;
    let x = on(f, self_(a)?);
    let (sizes, dtype) = {
        let view = tensor(a, 0)?.borrow();
        (view.layout.sizes.clone(), view.dtype)
    };
    let keep = flag(a, 3);
    let (sorted, mut shape) = match arg(a, 2) {
        Value::Int(dim) if !sizes.is_empty() => {
            let dim = wrap_dim(dim, sizes.len())?;
            let last = dim + 1 == sizes.len();
            let turned = if last {
                x
            } else {
                x.call("unsqueeze", &[Value::Int(-1)]).call("transpose.int", &[Value::Int(dim as i64), Value::Int(-1)])
            };
            let mut shape = sizes.clone();
            if let Some(size) = shape.get_mut(dim) {
                *size = 1;
            }
            if !keep {
                shape.remove(dim);
            }
            (turned, shape)
        }
        _ => {
            let flat = on(f, reshape(f, x.value?, &[-1])?);
            (flat, if keep { Dims::from_elem(1, sizes.len()) } else { Dims::new() })
        }
    };
    let sorted = sorted.call("sort", &[Value::Int(-1), Value::Bool(false)]).field(0);
    let count = length(&sorted, -1)?;
    shape.push(count);
    let sorted = sorted.call("view", &[Value::Size(shape)]);
    let recording = f.set_recording(false);
    let ranks = ranks(f, a, &sorted, count, ignore_nan, dtype);
    f.set_recording(recording);
    let (below, above, weights) = ranks?;
    let at = |ranks: &Expr| sorted.apply("gather", [Ok(Value::Int(-1)), ranks.value.clone()]);
    let mut values = at(&below);
    if let Some((above, weights)) = above.zip(weights) {
        values = values.apply("lerp_.Tensor", [at(&above).value, weights.value]);
    }
    let one_share = !matches!(arg(a, 1), Value::Tensor(q) if q.borrow().ndim() > 0);
    if !one_share {
        values = values.call("unsqueeze_", &[Value::Int(0)]);
        values = values.call("transpose_", &[Value::Int(0), Value::Int(-1)]);
    }
    values.call("squeeze_.dim", &[Value::Int(-1)]).value
}

/// For each quantile: the rank below it, the rank above it, and the weight of the upper one.
type Ranks<'a> = (Expr<'a>, Option<Expr<'a>>, Option<Expr<'a>>);

fn ranks<'a>(
    f: &'a dyn Functions,
    a: &[Value],
    sorted: &Expr<'a>,
    count: i64,
    ignore_nan: bool,
    dtype: tensor::DType,
) -> Result<Ranks<'a>> {
    let shares = match arg(a, 1) {
        Value::Tensor(q) => on(f, Value::Tensor(q)).reshape(&[-1]),
        number => sorted.call("new_ones", &[Value::size(&[1])]).with("mul", &on(f, number), &[]),
    };
    let nan = sorted.call("isnan", &[]);
    let ranks = if ignore_nan {
        let numbers = nan.call("logical_not", &[]).sum(&[-1], true);
        let ranks = shares * (numbers - 1.0).call("to.dtype", &[Value::DType(dtype)]);
        ranks.with("masked_fill.Scalar", &ranks.compare("lt", Value::Int(0)), &[Value::Int(0)])
    } else {
        let any = nan.call("any.dim", &[Value::Int(-1), Value::Bool(true)]);
        let last = on(f, Value::Int(count - 1));
        let zeros = any.call("to.dtype", &[Value::DType(dtype)]) * 0.0;
        let ranks = zeros + shares.with("mul", &last, &[]);
        ranks.with("masked_fill.Scalar", &any, &[Value::Int(count - 1)])
    };
    let to_index = |ranks: &Expr<'a>| ranks.call("to.dtype", &[Value::DType(tensor::DType::Long)]);
    let interpolation = match arg(a, 4) {
        Value::Str(text) => text.to_string(),
        _ => String::from("linear"),
    };
    Ok(match interpolation.as_str() {
        "lower" => (to_index(&ranks.call("floor", &[])), None, None),
        "higher" => (to_index(&ranks.call("ceil", &[])), None, None),
        "nearest" => (to_index(&ranks.call("round", &[])), None, None),
        kind => {
            let below = to_index(&ranks);
            let weights = match kind {
                "midpoint" => ranks.call("ones_like", &[]) * 0.5,
                _ => ranks.clone() - below.clone(),
            };
            (below, Some(to_index(&ranks.call("ceil", &[]))), Some(weights))
        }
    })
}

fn cov<'a>(f: &'a dyn Functions, a: &[Value]) -> Result<Expr<'a>> {
    unrecorded(f, "cov", a)?;
    let x = on(f, self_(a)?);
    let rows = if ndim(&arg(a, 0)) < 2 { x.call("view", &[Value::size(&[1, -1])]) } else { x };
    let given = |index: usize| match arg(a, index) {
        Value::Tensor(tensor) => Some(on(f, Value::Tensor(tensor))),
        _ => None,
    };
    let weights = match (given(2), given(3)) {
        (Some(frequencies), Some(importances)) => Some(frequencies * importances),
        (one, other) => one.or(other),
    };
    let correction = int(a, 1);
    let weighted = |rows: &Expr<'a>| match &weights {
        Some(weights) => rows.clone() * weights.clone(),
        None => rows.clone(),
    };
    let total = match &weights {
        Some(weights) => weights.call("sum", &[]),
        None => rows.call("new_ones", &[Value::size(&[])]) * length(&rows, 1)? as f64,
    };
    let freedom = match (&weights, given(3)) {
        (Some(weights), Some(importances)) if correction != 0 => {
            let spread = (weights.clone() * importances).call("sum", &[]) / total.clone();
            total.clone() - spread * correction as f64
        }
        _ => total.clone() - correction as f64,
    };
    let freedom = freedom.call("clamp_min", &[Value::Int(0)]);
    let mean = weighted(&rows).sum(&[1], false) / total;
    let centered = rows - mean.call("unsqueeze", &[Value::Int(1)]);
    let products = centered.with("mm", &weighted(&centered).call("t", &[]).conj(), &[]);
    Ok((products / freedom).call("squeeze", &[]))
}

fn corrcoef(f: &dyn Functions, a: &[Value]) -> Result<Value> {
    let covariance = cov(f, &[self_(a)?, Value::Int(1), Value::None, Value::None])?;
    if ndim(&covariance.value.clone()?) == 0 {
        return (covariance.clone() / covariance).value;
    }
    let variances = covariance.call("diagonal", &[]);
    let variances = if variances.is_complex() { variances.call("real", &[]) } else { variances };
    let deviations = variances.call("sqrt", &[]);
    let shaped = |sizes: &[i64]| deviations.call("view", &[Value::size(sizes)]);
    let ratios = covariance / shaped(&[-1, 1]) / shaped(&[1, -1]);
    let bounds = [Value::Int(-1), Value::Int(1)];
    if !ratios.is_complex() {
        return ratios.call("clamp", &bounds).value;
    }
    let imaginary = ratios.call("imag", &[]).call("clamp", &bounds);
    ratios.call("real", &[]).call("clamp", &bounds).with("complex", &imaginary, &[]).value
}

fn vander(f: &dyn Functions, a: &[Value]) -> Result<Value> {
    let rows = tensor(a, 0)?.borrow().numel();
    let columns = match arg(a, 1) {
        Value::Int(columns) => columns,
        _ => rows,
    };
    if ndim(&arg(a, 0)) != 1 || columns < 2 {
        return Err(Error::runtime("a vector and at least two columns are needed"));
    }
    let x = on(f, self_(a)?);
    let whole = x.call("new_ones", &[Value::size(&[rows, columns])]);
    let powers = |whole: &Expr<'_>| cut(&Expr { functions: f, value: whole.value.clone() }, 1, 1, columns - 1);
    powers(&whole).with("copy_", &x.call("unsqueeze", &[Value::Int(1)]), &[]).value?;
    powers(&whole).with("copy_", &powers(&whole).call("cumprod", &[Value::Int(1)]), &[]).value?;
    if flag(a, 2) { whole.value } else { whole.call("flip", &[Value::size(&[1])]).value }
}
