//! Reductions, and cumulative functions along a dimension.

use crate::context::{Context, Expr};
use crate::derivative::{Derivative, RESULT, row};
use tensor::bail;
use tensor::layout::wrap_dim;
use tensor::{Dims, Result};
use value::Value;

pub(super) const ROWS: &[Derivative] = &[
    row("sum", "SumBackward0").grad(0, &[], |c| spread(c, c.g(), &[], true)),
    row("sum.dim_IntList", "SumBackward1").grad(0, &[], |c| spread(c, c.g(), &c.dims(1), c.flag(2))),
    row("mean", "MeanBackward0").grad(0, &[], |c| spread(c, c.g(), &[], true) / count(c, &[])),
    row("mean.dim", "MeanBackward1").grad(0, &[], |c| spread(c, c.g(), &c.dims(1), c.flag(2)) / count(c, &c.dims(1))),
    row("prod", "ProdBackward0").grad(0, &[0, RESULT], product),
    row("prod.dim_int", "ProdBackward1").grad(0, &[0, RESULT], product_along),
    row("max", "MaxBackward1").grad(0, &[0, RESULT], shared),
    row("min", "MinBackward1").grad(0, &[0, RESULT], shared),
    row("median", "MedianBackward0").grad(0, &[0, RESULT], shared),
    row("nanmedian", "NanmedianBackward0").grad(0, &[0, RESULT], shared),
    row("amax", "AmaxBackward0").grad(0, &[0, RESULT], |c| shared_along(c, &c.dims(1), c.flag(2))),
    row("amin", "AminBackward0").grad(0, &[0, RESULT], |c| shared_along(c, &c.dims(1), c.flag(2))),
    row("max.dim", "MaxBackward0").grad(0, &[RESULT], |c| put_back(c, 1, c.flag(2))),
    row("min.dim", "MinBackward0").grad(0, &[RESULT], |c| put_back(c, 1, c.flag(2))),
    row("median.dim", "MedianBackward1").grad(0, &[RESULT], |c| put_back(c, 1, c.flag(2))),
    row("nanmedian.dim", "NanmedianBackward1").grad(0, &[RESULT], |c| put_back(c, 1, c.flag(2))),
    row("mode", "ModeBackward0").grad(0, &[RESULT], |c| put_back(c, 1, c.flag(2))),
    row("kthvalue", "KthvalueBackward0").grad(0, &[RESULT], |c| put_back(c, 2, c.flag(3))),
    row("sort", "SortBackward0").grad(0, &[RESULT], |c| put_back(c, 1, true)),
    row("sort.stable", "SortBackward1").grad(0, &[RESULT], |c| put_back(c, 2, true)),
    row("topk", "TopkBackward0").grad(0, &[RESULT], |c| put_back(c, 2, true)),
    row("cummax", "CummaxBackward0").grad(0, &[RESULT], |c| put_back_with(c, "scatter_add_", 1, true)),
    row("cummin", "CumminBackward0").grad(0, &[RESULT], |c| put_back_with(c, "scatter_add_", 1, true)),
    row("var.correction", "VarBackward0").grad(0, &[0], |c| variance(c, c.g())),
    row("std.correction", "StdBackward0").grad(0, &[0, RESULT], |c| variance(c, by_root(c))),
    row("var_mean.correction", "VarMeanBackward0").grad(0, &[0], |c| with_mean(c, c.gradient(0))),
    row("std_mean.correction", "StdMeanBackward0").grad(0, &[0, RESULT], |c| with_mean(c, by_root(c))),
    row("nansum", "NansumBackward0").grad(0, &[0], |c| {
        spread(c, c.g(), &c.dims(1), c.flag(2)) * c.arg(0).call("isnan", &[]).call("logical_not", &[])
    }),
    row("logsumexp", "LogsumexpBackward0").grad(0, &[0, RESULT], |c| {
        let (sizes, dims, kept) = (c.sizes(0), c.dims(1), c.flag(2));
        let (grad, result) = (restored(c.g(), &sizes, &dims, kept), restored(c.result(), &sizes, &dims, kept));
        grad * (c.arg(0) - result).call("exp", &[]).conj()
    }),
    row("logcumsumexp", "LogcumsumexpBackward0").grad(0, &[0, RESULT], running_logarithm),
    row("cumsum", "CumsumBackward0").grad(0, &[], |c| backwards_sum(&c.g(), c.value(1))),
    row("cumprod", "CumprodBackward0").grad(0, &[0, RESULT], running_product),
];

/// Expands a reduced value to all elements that it was reduced from. Without dimensions, all were reduced.
pub(super) fn spread<'a>(c: &Context<'a>, value: Expr<'a>, dims: &[i64], kept: bool) -> Expr<'a> {
    let sizes = c.sizes(0);
    restored(value, &sizes, dims, kept).call("expand", &[Value::Size(sizes)])
}

/// Restores the reduced dimensions with size 1.
pub(super) fn restored<'a>(value: Expr<'a>, sizes: &Dims, dims: &[i64], kept: bool) -> Expr<'a> {
    if kept || sizes.is_empty() {
        return value;
    }
    let mut places: Vec<usize> = if dims.is_empty() {
        (0..sizes.len()).collect()
    } else {
        dims.iter().filter_map(|&d| wrap_dim(d, sizes.len()).ok()).collect()
    };
    places.sort_unstable();
    places.iter().fold(value, |value, &d| value.call("unsqueeze", &[Value::Int(d as i64)]))
}

/// Counts the elements that were reduced to each result.
fn count(c: &Context, dims: &[i64]) -> f64 {
    let sizes = c.sizes(0);
    if dims.is_empty() {
        return sizes.iter().product::<i64>() as f64;
    }
    let reduced = dims.iter().filter_map(|&d| wrap_dim(d, sizes.len()).ok()).filter_map(|d| sizes.get(d));
    reduced.product::<i64>() as f64
}

/// Computes, for every element, the product of all others. Multiplies from both ends, because a division fails at zero.
fn others<'a>(x: &Expr<'a>, dim: i64) -> Expr<'a> {
    let before = |x: &Expr<'a>| -> Expr<'a> {
        x.clone().and(|tensor| {
            let length = tensor.borrow().sizes().get(dim as usize).copied().unwrap_or(1);
            let slice = |start, length| x.call("narrow", &[Value::Int(dim), Value::Int(start), Value::Int(length)]);
            let (first, rest) = (slice(0, length.min(1)).call("ones_like", &[]), slice(0, (length - 1).max(0)));
            let shifted = Value::list([first.value?, rest.value?]);
            Ok(Expr { functions: x.functions, value: Ok(shifted) }
                .call("cat", &[Value::Int(dim)])
                .call("cumprod", &[Value::Int(dim)]))
        })
    };
    let flipped = |x: &Expr<'a>| x.call("flip", &[Value::size(&[dim])]);
    before(x) * flipped(&before(&flipped(x)))
}

fn any_zero(x: &Expr) -> Result<bool> {
    let none = x.compare("eq", Value::Int(0)).call("any", &[]).tensor()?;
    let truth = none.borrow().item()?.truth();
    Ok(truth)
}

fn product<'a>(c: &Context<'a>) -> Expr<'a> {
    c.arg(0).and(|_| {
        let x = c.arg(0);
        if !any_zero(&x)? {
            return Ok(c.g() * (c.result() / x).conj());
        }
        let flat = x.reshape(&[-1]);
        Ok((c.g() * others(&flat, 0).conj()).reshape(&c.sizes(0)))
    })
}

fn product_along<'a>(c: &Context<'a>) -> Expr<'a> {
    c.arg(0).and(|_| {
        let (x, sizes) = (c.arg(0), c.sizes(0));
        if sizes.is_empty() {
            return Ok(c.g());
        }
        let dim = wrap_dim(c.int(1), sizes.len())?;
        let grad = restored(c.g(), &sizes, &[dim as i64], c.flag(2));
        if any_zero(&x)? {
            return Ok(grad * others(&x, dim as i64).conj());
        }
        Ok(grad * (restored(c.result(), &sizes, &[dim as i64], c.flag(2)) / x).conj())
    })
}

/// Divides the gradient among the elements that equal the result, or among NaN elements if the result is NaN.
fn shared<'a>(c: &Context<'a>) -> Expr<'a> {
    c.result().and(|result| {
        let no_number = result.borrow().item()?.to_complex().is_nan();
        let mask = if no_number { c.arg(0).call("isnan", &[]) } else { c.arg(0).with("eq", &c.result(), &[]) };
        let share = c.g() / mask.call("sum", &[]);
        Ok(c.room(0).apply("masked_fill_.Tensor", [mask.value, share.value]))
    })
}

/// Like [`shared`], but along dimensions: each result's gradient goes to the elements that equal it.
fn shared_along<'a>(c: &Context<'a>, dims: &[i64], kept: bool) -> Expr<'a> {
    let sizes = c.sizes(0);
    let (grad, result) = (restored(c.g(), &sizes, dims, kept), restored(c.result(), &sizes, dims, kept));
    let mask = c.arg(0).with("eq", &result, &[]);
    let winners = if dims.is_empty() { mask.call("sum", &[]) } else { mask.sum(dims, true) };
    (grad * mask) / winners
}

/// Puts the gradient of selected values back at the indices in the second result.
fn put_back<'a>(c: &Context<'a>, dim: usize, kept: bool) -> Expr<'a> {
    put_back_with(c, "scatter_.src", dim, kept)
}

/// Like [`put_back`], but with another function than `scatter_.src`, because a value can be selected several times.
fn put_back_with<'a>(c: &Context<'a>, scatter: &str, dim: usize, kept: bool) -> Expr<'a> {
    let sizes = c.sizes(0);
    let dim = match c.value(dim) {
        Value::Int(dim) => dim,
        _ => -1,
    };
    if sizes.is_empty() {
        return c.g();
    }
    let (grad, index) = (restored(c.g(), &sizes, &[dim], kept), restored(c.result_at(1), &sizes, &[dim], kept));
    c.room(0).apply(scatter, [Ok(Value::Int(dim)), index.value, grad.value])
}

/// Converts the gradient of a standard deviation to that of the variance.
fn by_root<'a>(c: &Context<'a>) -> Expr<'a> {
    (c.g() / (c.result() * 2.0)).cleared(&c.result().compare("eq", Value::Int(0)))
}

/// Adds the gradients of a variance and of the mean that was returned with it.
fn with_mean<'a>(c: &Context<'a>, grad: Expr<'a>) -> Expr<'a> {
    let dims = c.dims(1);
    if !c.has_gradient(1) {
        return variance(c, grad);
    }
    let of_mean = spread(c, c.gradient(1), &dims, c.flag(3)) / count(c, &dims);
    if c.has_gradient(0) { variance(c, grad) + of_mean } else { of_mean }
}

fn variance<'a>(c: &Context<'a>, grad: Expr<'a>) -> Expr<'a> {
    let (sizes, dims) = (c.sizes(0), c.dims(1));
    let correction = match c.value(2) {
        Value::None => 1.0,
        number => number.as_scalar().map_or(1.0, |n| n.to_f64()),
    };
    let freedom = count(c, &dims) - correction;
    let mean = if dims.is_empty() || sizes.is_empty() {
        c.arg(0).call("mean", &[])
    } else {
        c.arg(0).call("mean.dim", &[Value::Size(dims.clone()), Value::Bool(true)])
    };
    restored(grad, &sizes, &dims, c.flag(3)) * (2.0 / freedom) * (c.arg(0) - mean)
}

/// Computes, for each element, the sum from it to the end.
fn backwards_sum<'a>(x: &Expr<'a>, dim: Value) -> Expr<'a> {
    let flip = |x: &Expr<'a>| match dim {
        Value::Int(dim) => x.call("flip", &[Value::size(&[dim])]),
        _ => x.clone(),
    };
    match &x.value {
        Ok(Value::Tensor(tensor)) if tensor.borrow().ndim() == 0 => x.clone(),
        _ => flip(&flip(x).call("cumsum", std::slice::from_ref(&dim))),
    }
}

/// The gradient of `logcumsumexp`. It is summed as logarithms, separately for positive and negative gradients.
fn running_logarithm<'a>(c: &Context<'a>) -> Expr<'a> {
    if c.sizes(0).is_empty() {
        return c.g();
    }
    let dim = c.value(1);
    let flip = |x: &Expr<'a>| x.call("flip", &[Value::size(&[c.int(1)])]);
    if c.g().is_complex() || c.arg(0).is_complex() {
        return backwards_sum(&(c.g() * (-c.result()).call("exp", &[]).conj()), dim) * c.arg(0).call("exp", &[]).conj();
    }
    let logarithm = c.g().call("abs", &[]).call("log", &[]);
    let part = |sign: &str| {
        let of_sign =
            logarithm.clone().or_where(&c.g().compare(sign, Value::Int(0)), c.expr(Ok(Value::Float(f64::MIN))));
        let sums = flip(&flip(&(of_sign - c.result())).call("logcumsumexp", std::slice::from_ref(&dim)));
        (sums + c.arg(0)).call("exp", &[])
    };
    part("gt") - part("lt")
}

fn running_product<'a>(c: &Context<'a>) -> Expr<'a> {
    c.arg(0).and(|_| {
        let (x, sizes) = (c.arg(0), c.sizes(0));
        if sizes.is_empty() {
            return Ok(c.g());
        }
        let dim = wrap_dim(c.int(1), sizes.len())?;
        if !any_zero(&x)? {
            return Ok(backwards_sum(&(c.result().conj() * c.g()), c.value(1)) / x.conj());
        }
        // With a zero factor: for each element, the product of those before it, times the weighted products of those
        // after it.
        let Some(&length) = sizes.get(dim) else { bail!(IndexError, "no such dimension") };
        let x = x.conj();
        let at = |x: &Expr<'a>, start: i64, length: i64| {
            x.call("narrow", &[Value::Int(dim as i64), Value::Int(start), Value::Int(length)])
        };
        let product = |x: &Expr<'a>| x.call("prod.dim_int", &[Value::Int(dim as i64), Value::Bool(true)]);
        let mut parts = Vec::new();
        for k in 0..length {
            let ones = at(&x, k, 1).call("ones_like", &[]);
            let after = Value::list([ones.value?, at(&x, k + 1, length - k - 1).value?]);
            let after = c.expr(Ok(after)).call("cat", &[Value::Int(dim as i64)]);
            let after = after.call("cumprod", &[Value::Int(dim as i64)]);
            let weighted = (after * at(&c.g(), k, length - k)).sum(&[dim as i64], true);
            parts.push((product(&at(&x, 0, k)) * weighted).value?);
        }
        Ok(c.expr(Ok(Value::list(parts))).call("cat", &[Value::Int(dim as i64)]))
    })
}
