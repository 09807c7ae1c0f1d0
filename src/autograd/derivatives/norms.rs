//! Norms and distances.

use super::reduce::restored;
use crate::context::{Context, Expr};
use crate::derivative::{Derivative, RESULT, row};
use tensor::layout::wrap_dim;
use tensor::{Dims, Result};
use value::Value;

pub(super) const ROWS: &[Derivative] = &[
    row("linalg.vector_norm", "LinalgVectorNormBackward0").grad(0, &[0, RESULT], |c| {
        let (sizes, dims, kept) = (c.sizes(0), c.dims(2), c.flag(3));
        let (grad, norm) = (restored(c.g(), &sizes, &dims, kept), restored(c.result(), &sizes, &dims, kept));
        of_norm(c.arg(0), c.number(1).to_f64(), &grad, &norm, &dims)
    }),
    row("dist", "DistBackward0")
        .grad(0, &[0, 1, RESULT], |c| of_norm(c.arg(0) - c.arg(1), c.number(2).to_f64(), &c.g(), &c.result(), &[]))
        .grad(1, &[0, 1, RESULT], |c| -of_norm(c.arg(0) - c.arg(1), c.number(2).to_f64(), &c.g(), &c.result(), &[])),
    row("cdist", "CdistBackward0").grad(0, &[0, 1, RESULT], |c| between(c).sum(&[-2], false)).grad(
        1,
        &[0, 1, RESULT],
        |c| -between(c).sum(&[-3], false),
    ),
    row("renorm", "RenormBackward0").grad(0, &[0], renormed),
    row("native_layer_norm", "NativeLayerNormBackward0")
        .grad(0, &[0, 2, RESULT], |c| {
            let within = (c.sizes(0).len() - c.dims(1).len()) as i64..c.sizes(0).len() as i64;
            normal_input(c, 2, c.result_at(1), c.result_at(2), &within.collect::<Dims>())
        })
        .grad(2, &[0, RESULT], |c| (c.g() * (c.arg(0) - c.result_at(1)) * c.result_at(2)).sum(&outer(c), false))
        .grad(3, &[], |c| c.g().sum(&outer(c), false)),
    row("native_batch_norm", "NativeBatchNormBackward0")
        .grad(0, &[0, 1, 3, 4, RESULT], |c| {
            let [mean, scale] = statistics(c);
            match c.flag(5) {
                true => normal_input(c, 1, mean, scale, &but_channels(c)),
                false => weighted(c, 1) * scale,
            }
        })
        .grad(1, &[0, 3, 4, RESULT], |c| {
            let [mean, scale] = statistics(c);
            (c.g() * (c.arg(0) - mean) * scale).sum(&but_channels(c), false)
        })
        .grad(2, &[], |c| c.g().sum(&but_channels(c), false)),
];

/// Returns the dimensions before the normalized ones of `native_layer_norm`.
fn outer(c: &Context) -> Dims {
    (0..(c.sizes(0).len() - c.dims(1).len()) as i64).collect()
}

fn but_channels(c: &Context) -> Dims {
    (0..c.sizes(0).len() as i64).filter(|&d| d != 1).collect()
}

/// Returns the mean and the scale that `native_batch_norm` used, in a shape that broadcasts with the input.
fn statistics<'a>(c: &Context<'a>) -> [Expr<'a>; 2] {
    let found = match c.flag(5) {
        true => [c.result_at(1), c.result_at(2)],
        false => [c.arg(3), (c.arg(4) + c.number(7).to_f64()).pow(Value::Float(-0.5))],
    };
    found.map(|channels| beside(c, channels))
}

/// Reshapes one number per channel so that it broadcasts with the input.
fn beside<'a>(c: &Context<'a>, channels: Expr<'a>) -> Expr<'a> {
    let sizes: Dims = c.sizes(0).iter().enumerate().map(|(d, _)| if d == 1 { -1 } else { 1 }).collect();
    channels.reshape(&sizes)
}

/// Multiplies the gradient by the weight argument, if there is one.
fn weighted<'a>(c: &Context<'a>, weight: usize) -> Expr<'a> {
    match c.shape(weight) {
        Err(_) => c.g(),
        Ok(_) if weight == 1 => c.g() * beside(c, c.arg(weight)),
        Ok(_) => c.g() * c.arg(weight),
    }
}

/// The gradient of elements that were normalized by their mean and standard deviation over `dims`.
fn normal_input<'a>(c: &Context<'a>, weight: usize, mean: Expr<'a>, scale: Expr<'a>, dims: &[i64]) -> Expr<'a> {
    let over = |x: Expr<'a>| x.call("mean.dim", &[Value::size(dims), Value::Bool(true)]);
    let (grad, normal) = (weighted(c, weight), (c.arg(0) - mean) * scale.clone());
    let along = over(grad.clone() * normal.clone());
    (grad.clone() - over(grad) - normal * along) * scale
}

/// The gradient of the distances between all pairs of rows, for each difference.
fn between<'a>(c: &Context<'a>) -> Expr<'a> {
    let one = |x: Expr<'a>| x.call("unsqueeze", &[Value::Int(-1)]);
    let difference = c.arg(0).call("unsqueeze", &[Value::Int(-2)]) - c.arg(1).call("unsqueeze", &[Value::Int(-3)]);
    of_norm(difference, c.number(2).to_f64(), &one(c.g()), &one(c.result()), &[-1])
}

/// The gradient of a norm over `dims`, or over all elements if `dims` is empty. The reduced dimensions are kept with
/// size 1.
fn of_norm<'a>(x: Expr<'a>, order: f64, grad: &Expr<'a>, norm: &Expr<'a>, dims: &[i64]) -> Expr<'a> {
    let (grad, zero_norm) = (grad.clone(), || norm.compare("eq", Value::Int(0)));
    let (length, sign) = (|| x.call("abs", &[]), || x.call("sgn", &[]));
    if order == 0.0 {
        return x.call("zeros_like", &[]);
    }
    if order == 1.0 {
        return sign() * grad;
    }
    if order == 2.0 {
        return grad * (x.clone() / norm.clone()).cleared(&zero_norm());
    }
    if order.is_infinite() {
        let mask = length().with("eq", norm, &[]).with("logical_or", &x.call("isnan", &[]), &[]);
        let winners = if dims.is_empty() { mask.call("sum", &[]) } else { mask.sum(dims, true) };
        return sign() * ((grad / winners) * mask);
    }
    let scale = |by: f64| grad.clone() * norm.pow(Value::Float(by));
    if order < 2.0 {
        let powers = sign() * length().pow(Value::Float(order - 1.0));
        let powers = powers.cleared(&x.compare("eq", Value::Int(0)));
        return powers * scale(1.0 - order).cleared(&zero_norm());
    }
    x.clone() * length().pow(Value::Float(order - 2.0)) * scale(1.0 - order).cleared(&zero_norm())
}

/// The gradient of `renorm`, which scales down the slices that are too long.
fn renormed<'a>(c: &Context<'a>) -> Expr<'a> {
    c.arg(0).and(|x| {
        let (all, order, most) = (x.borrow().ndim(), c.number(1).to_f64(), c.number(3).to_f64());
        let dim = wrap_dim(c.int(2), all)?;
        let dims: Dims = (0..all).filter(|&d| d != dim).map(|d| d as i64).collect();
        let how = [Value::Float(order), Value::Size(dims.clone()), Value::Bool(true)];
        let norm = c.arg(0).call("linalg.vector_norm", &how);
        let mut along = (c.arg(0).conj() * c.g()).sum(&dims, true);
        if along.is_complex() {
            along = along.call("real", &[]);
        }
        let turned = of_norm(c.arg(0), order, &along, &norm, &dims);
        let inverse = (norm.clone() + 1e-7).call("reciprocal", &[]);
        let shortened = inverse.clone() * (c.g() - inverse * turned) * most;
        let long: Result<Value> = norm.compare("gt", Value::Float(most)).value;
        Ok(shortened.or_where(&c.expr(long), c.g()))
    })
}
