//! Differences, derivatives and integrals of sampled functions: `diff`, `gradient`, `trapezoid`. Composed of arithmetic
//! on slices, as in PyTorch.

use super::check::size_at;
use super::compare::CompareOp;
use super::compose::{Math, number};
use super::join::cat;
use super::promote::Operand;
use super::reduce::{Running, cumulative, sum};
use super::view::{narrow, reshape, select};
use crate::bail;
use crate::layout::wrap_dim;
use crate::{DType, Result, Scalar, View, interrupt};

/// Returns all slices along a dimension except the first, and all except the last.
fn neighbours(view: &View, dim: i64) -> Result<(View, View)> {
    let (_, size) = size_at(&view.layout, dim)?;
    Ok((narrow(view, dim, 1.min(size), (size - 1).max(0))?, narrow(view, dim, 0, (size - 1).max(0))?))
}

/// Computes the `n`-th differences along a dimension, after joining the tensors of `around` before and after it.
///
/// # Errors
/// RuntimeError for 0-d tensors, negative orders, and tensors of different shapes.
pub fn diff(view: &View, n: i64, dim: i64, around: [Option<&View>; 2], default: DType) -> Result<View> {
    if view.ndim() == 0 {
        bail!(RuntimeError, "diff expects input to be at least one-dimensional");
    }
    if n < 0 {
        bail!(RuntimeError, "order must be non-negative but got {n}");
    }
    // Order 0 with nothing to join returns a copy; `dim` is not checked.
    if n == 0 && around.iter().all(Option::is_none) {
        return super::copy::clone(view);
    }
    let d = wrap_dim(dim, view.ndim())?;
    for other in around.into_iter().flatten() {
        if other.ndim() != view.ndim() {
            bail!(RuntimeError, "diff expects prepend or append to be the same dimension as input");
        }
        let clash = (0..view.ndim()).find(|&i| i != d && other.sizes().get(i) != view.sizes().get(i));
        if let Some(i) = clash {
            bail!(
                RuntimeError,
                "diff expects the shape of tensor to prepend or append to match that of input except along the \
                 differencing dimension; input.size({i}) = {}, but got tensor.size({i}) = {}",
                view.sizes()[i],
                other.sizes()[i]
            );
        }
    }
    if n == 0 {
        return super::copy::clone(view);
    }
    let dim = d as i64;
    let mut result = match around {
        [None, None] => view.clone(),
        [before, after] => {
            let parts: Vec<View> = before.into_iter().chain([view]).chain(after).cloned().collect();
            cat(&parts, dim)?
        }
    };
    let math = Math(default);
    let (_, size) = size_at(&result.layout, dim)?;
    let times = n.min(size.max(1));
    if result.numel() == 0 {
        return super::copy::clone(&narrow(&result, dim, 0, (size - times).max(0))?);
    }
    for _ in 0..times {
        interrupt::check()?;
        let (above, below) = neighbours(&result, dim)?;
        result = match result.dtype {
            DType::Bool => math.compare(CompareOp::LogicalXor, &above, &below)?,
            _ => math.sub(&above, &below)?,
        };
    }
    Ok(result)
}

/// The points at which a function was sampled.
pub enum Spacing<'v> {
    /// At equal distances.
    Even(f64),
    /// At these coordinates.
    At(&'v View),
}

/// Returns the distances between samples as a tensor that broadcasts with the samples along `dim`.
fn distances(places: &View, samples: &View, dim: i64, name: &str, math: Math) -> Result<View> {
    let (d, size) = size_at(&samples.layout, dim)?;
    if places.ndim() != 1 {
        let (above, below) = neighbours(places, dim)?;
        return math.sub(&above, &below);
    }
    if places.sizes() != [size] {
        bail!(RuntimeError, "{name}: There must be one `x` value for each sample point");
    }
    let (above, below) = neighbours(places, 0)?;
    let mut shape = vec![1; samples.ndim()];
    shape[d] = (size - 1).max(0);
    reshape(&math.sub(&above, &below)?, &shape)
}

/// Integrates along a dimension by the trapezoidal rule.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError if the coordinates do not match the samples.
pub fn trapezoid(y: &View, spacing: Spacing, dim: i64, default: DType) -> Result<View> {
    let math = Math(default);
    if let (0, Spacing::At(_)) = (y.ndim(), &spacing) {
        bail!(IndexError, "Dimension specified as 0 but tensor has no dimensions");
    }
    let (d, size) = size_at(&y.layout, dim)?;
    let dim = d as i64;
    if size == 0 {
        let mut sizes = y.sizes().to_vec();
        sizes.remove(d);
        return View::zeros(&sizes, y.dtype, y.device());
    }
    check_numbers("trapezoid", y, &spacing)?;
    match spacing {
        Spacing::Even(step) => {
            let ends = math.add(&select(y, dim, 0)?, &select(y, dim, -1)?)?;
            let inner = math.sub(&sum(y, Some(&[dim]), false, None)?, &math.mul(&ends, number(0.5))?)?;
            math.mul(&inner, number(step))
        }
        Spacing::At(places) => {
            let steps = distances(places, y, dim, "trapezoid", math)?;
            let (above, below) = neighbours(y, dim)?;
            let areas = math.mul(&steps, &math.add(&above, &below)?)?;
            math.div(&sum(&areas, Some(&[dim]), false, None)?, number(2.0))
        }
    }
}

/// Refuses `bool` tensors.
fn check_numbers(name: &str, y: &View, spacing: &Spacing) -> Result<()> {
    match spacing {
        Spacing::At(x) if x.dtype == DType::Bool || y.dtype == DType::Bool => {
            bail!(RuntimeError, "{name}: received a bool input for `x` or `y`, but bool is not supported")
        }
        Spacing::Even(_) if y.dtype == DType::Bool => {
            bail!(RuntimeError, "{name}: received a bool input for `y`, but bool is not supported")
        }
        _ => Ok(()),
    }
}

/// Computes the running integral along a dimension by the trapezoidal rule.
///
/// # Errors
/// Those of [`trapezoid`].
pub fn cumulative_trapezoid(y: &View, spacing: Spacing, dim: i64, default: DType) -> Result<View> {
    let math = Math(default);
    if y.ndim() == 0 {
        if let Spacing::At(places) = spacing
            && places.ndim() > 0
        {
            bail!(IndexError, "Dimension specified as 0 but tensor has no dimensions");
        }
        bail!(IndexError, "slice() cannot be applied to a 0-dim tensor.");
    }
    let (d, _) = size_at(&y.layout, dim)?;
    let dim = d as i64;
    check_numbers("cumulative_trapezoid", y, &spacing)?;
    let (above, below) = neighbours(y, dim)?;
    let both = math.add(&above, &below)?;
    match spacing {
        Spacing::Even(step) => cumulative(Running::Sum, &math.mul(&both, number(step / 2.0))?, dim, None),
        Spacing::At(places) => {
            let steps = distances(places, y, dim, "cumulative_trapezoid", math)?;
            math.div(&cumulative(Running::Sum, &math.mul(&steps, &both)?, dim, None)?, number(2.0))
        }
    }
}

/// Computes the derivative along one dimension: central differences inside, one-sided differences of order `edge_order`
/// at the ends.
///
/// # Errors
/// RuntimeError for too few samples, IndexError for a wrong dimension.
pub fn gradient(view: &View, spacing: &Spacing, dim: i64, edge_order: i64, default: DType) -> Result<View> {
    if edge_order != 1 && edge_order != 2 {
        bail!(RuntimeError, "torch.gradient only supports edge_order=1 and edge_order=2.");
    }
    let (d, size) = size_at(&view.layout, dim)?;
    if size <= edge_order {
        bail!(RuntimeError, "torch.gradient expected each dimension size to be at least edge_order+1");
    }
    let dim = d as i64;
    let math = Math(default);
    let sample = |i: i64| narrow(view, dim, if i < 0 { size + i } else { i }, 1);
    let inside = |start: i64| narrow(view, dim, start, size - 2);
    let weighted = |parts: [(&View, Operand); 3]| -> Result<View> {
        let [a, b, c] = parts.map(|(part, weight)| math.mul(part, weight));
        math.add(&math.add(&a?, &b?)?, &c?)
    };
    let parts = match spacing {
        Spacing::Even(step) => {
            let by = |difference: View, steps: f64| math.div(&difference, number(steps * step));
            let center = by(math.sub(&inside(2)?, &inside(0)?)?, 2.0)?;
            let (first, last) = if edge_order == 1 {
                (by(math.sub(&sample(1)?, &sample(0)?)?, 1.0)?, by(math.sub(&sample(-1)?, &sample(-2)?)?, 1.0)?)
            } else {
                let first = [(&sample(0)?, number(-1.5)), (&sample(1)?, number(2.0)), (&sample(2)?, number(-0.5))];
                let last = [(&sample(-3)?, number(0.5)), (&sample(-2)?, number(-2.0)), (&sample(-1)?, number(1.5))];
                (by(weighted(first)?, 1.0)?, by(weighted(last)?, 1.0)?)
            };
            [first, center, last]
        }
        Spacing::At(places) => {
            let steps = distances(places, view, dim, "gradient", math)?;
            let step = |i: i64| narrow(&steps, dim, if i < 0 { size - 1 + i } else { i }, 1);
            let (left, right) = (narrow(&steps, dim, 0, size - 2)?, narrow(&steps, dim, 1, size - 2)?);
            let center = {
                let [a, b, c] = three_point(math, &left, &right, 0.0)?;
                weighted([(&inside(0)?, (&a).into()), (&inside(1)?, (&b).into()), (&inside(2)?, (&c).into())])?
            };
            if edge_order == 1 {
                let first = math.div(&math.sub(&sample(1)?, &sample(0)?)?, &step(0)?)?;
                let last = math.div(&math.sub(&sample(-1)?, &sample(-2)?)?, &step(-1)?)?;
                [first, center, last]
            } else {
                let [a, b, c] = three_point(math, &step(0)?, &step(1)?, -1.0)?;
                let first = [(&sample(0)?, (&a).into()), (&sample(1)?, (&b).into()), (&sample(2)?, (&c).into())];
                let first = weighted(first)?;
                let [a, b, c] = three_point(math, &step(-2)?, &step(-1)?, 1.0)?;
                let last = [(&sample(-3)?, (&a).into()), (&sample(-2)?, (&b).into()), (&sample(-1)?, (&c).into())];
                [first, center, weighted(last)?]
            }
        }
    };
    cat(&parts, dim)
}

/// Computes the weights of three samples, `left` and `right` apart, in the derivative of the parabola through them. The
/// derivative is taken at the first sample if `end` is negative, at the middle one if it is 0, else at the last.
fn three_point(math: Math, left: &View, right: &View, end: f64) -> Result<[View; 3]> {
    let both = math.add(left, right)?;
    let (outer_left, outer_right) = (math.mul(left, &both)?, math.mul(right, &both)?);
    let inner = math.mul(left, right)?;
    let negative = |view: View| math.mul(&view, Operand::Number(Scalar::Int(-1)));
    let twice_and = |twice: &View, other: &View| math.add(&math.mul(twice, number(2.0))?, other);
    Ok(if end < 0.0 {
        [
            negative(math.div(&twice_and(left, right)?, &outer_left)?)?,
            math.div(&both, &inner)?,
            negative(math.div(left, &outer_right)?)?,
        ]
    } else if end > 0.0 {
        [
            math.div(right, &outer_left)?,
            negative(math.div(&both, &inner)?)?,
            math.div(&twice_and(right, left)?, &outer_right)?,
        ]
    } else {
        [
            negative(math.div(right, &outer_left)?)?,
            math.div(&math.sub(right, left)?, &inner)?,
            math.div(left, &outer_right)?,
        ]
    })
}
