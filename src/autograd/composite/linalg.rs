//! Linear algebra composed of the operations that have derivatives, as PyTorch's Python-facing functions are.

use super::{Composite, arg, dims, flag, ndim, on, reshape, self_, tensor};
use crate::Functions;
use crate::context::Expr;
use tensor::bail;
use tensor::layout::wrap_dim;
use tensor::{Dims, Result};
use value::Value;

pub(super) const ROWS: &[(&str, Composite)] = &[
    ("linalg.inv", inverse),
    ("inverse", inverse),
    ("linalg.solve", |f, a| {
        let how = [arg(a, 1), arg(a, 2), Value::Bool(true)];
        on(f, self_(a)?).call("linalg.solve_ex", &how).field(0).value
    }),
    ("linalg.cholesky", |f, a| {
        on(f, self_(a)?).call("linalg.cholesky_ex", &[arg(a, 1), Value::Bool(true)]).field(0).value
    }),
    ("linalg.lu_factor", |f, a| {
        let parts = f.call("linalg.lu_factor_ex", &[self_(a)?, arg(a, 1), Value::Bool(true)])?;
        named("torch.return_types.linalg_lu_factor", &["LU", "pivots"], &parts)
    }),
    ("lu", |f, a| {
        let parts = lu(f, a)?;
        if flag(a, 2) {
            return named("torch.return_types._lu_with_info", &["LU", "pivots", "info"], &parts);
        }
        Ok(Value::tuple(parts.sequence().unwrap_or_default().into_iter().take(2).collect::<Vec<Value>>()))
    }),
    ("lu.method", |f, a| {
        let count = if flag(a, 2) { 3 } else { 2 };
        Ok(Value::tuple(lu(f, a)?.sequence().unwrap_or_default().into_iter().take(count).collect::<Vec<Value>>()))
    }),
    ("lu_solve", |f, a| f.call("linalg.lu_solve", &[arg(a, 1), arg(a, 2), self_(a)?])),
    ("qr", |f, a| {
        let mode = if flag(a, 1) { "reduced" } else { "complete" };
        let parts = f.call("linalg.qr", &[self_(a)?, Value::str(mode)])?;
        named("torch.return_types.qr", &["Q", "R"], &parts)
    }),
    ("svd", |f, a| {
        if !flag(a, 2) {
            bail!(RuntimeError, "the vectors were not computed");
        }
        let parts = f.call("linalg.svd", &[self_(a)?, Value::Bool(!flag(a, 1))])?;
        let vectors = adjoint(on(f, parts.clone()).field(2));
        let parts = parts.sequence().unwrap_or_default();
        let parts: Vec<Value> = parts.into_iter().take(2).chain([vectors.value?]).collect();
        named("torch.return_types.svd", &["U", "S", "V"], &Value::tuple(parts))
    }),
    ("linalg.svdvals", |f, a| singular_values(on(f, self_(a)?)).value),
    ("linalg.eigvals", |f, a| on(f, self_(a)?).call("linalg.eig", &[]).field(0).value),
    ("linalg.eigvalsh", |f, a| on(f, self_(a)?).call("linalg.eigh", &[arg(a, 1)]).field(0).value),
    ("logdet", |f, a| {
        let parts = on(f, self_(a)?).call("linalg.slogdet", &[]);
        let (sign, logarithm) = (parts.field(0), parts.field(1));
        if sign.is_complex() {
            return (sign.call("log", &[]) + logarithm).value;
        }
        let negative = sign.compare("eq", Value::Int(-1));
        negative.apply("where.self", [Ok(Value::Float(f64::NAN)), logarithm.value]).value
    }),
    ("norm", |f, a| match arg(a, 1) {
        Value::Str(kind) if &*kind == "nuc" => matrix_norm(f, a, &Value::str("nuc"), 2),
        Value::Str(_) | Value::None => {
            let mut with_order = a.to_vec();
            if let Some(order) = with_order.get_mut(1) {
                *order = Value::Float(2.0);
            }
            f.call("linalg.vector_norm", &with_order)
        }
        _ => f.call("linalg.vector_norm", a),
    }),
    ("linalg.norm", norm),
    ("linalg.matrix_norm", |f, a| matrix_norm(f, a, &arg(a, 1), 2)),
    ("linalg.cond", cond),
    ("linalg.diagonal", |f, a| f.call("diagonal", a)),
    ("linalg.tensorinv", |f, a| {
        let split = usize::try_from(super::int(a, 1)).unwrap_or(0);
        let sizes = tensor(a, 0)?.borrow().layout.sizes.clone();
        let (Some(first), Some(second)) = (sizes.get(..split), sizes.get(split..)) else {
            bail!(RuntimeError, "there are not so many dimensions");
        };
        let shape: Dims = second.iter().chain(first).copied().collect();
        let matrix = reshape(f, self_(a)?, &[first.iter().product(), second.iter().product()])?;
        let inverse = inverse(f, &[matrix])?;
        reshape(f, inverse, &shape)
    }),
    ("linalg.tensorsolve", |f, a| {
        let (mut x, right) = (self_(a)?, arg(a, 1));
        if !matches!(arg(a, 2), Value::None) {
            let moved = dims(a, 2);
            let last: Dims = (0..moved.len() as i64).map(|i| i - moved.len() as i64).collect();
            x = f.call("movedim.intlist", &[x, Value::Size(moved), Value::Size(last)])?;
        }
        let sizes = tensor(std::slice::from_ref(&x), 0)?.borrow().layout.sizes.clone();
        let shape: Dims = sizes.iter().skip(ndim(&right)).copied().collect();
        let unknowns = shape.iter().product();
        let matrix = reshape(f, x, &[unknowns, unknowns])?;
        let right = reshape(f, right, &[-1])?;
        let solution = f.call("linalg.solve", &[matrix, right])?;
        reshape(f, solution, &shape)
    }),
    ("cross", |f, a| match arg(a, 2) {
        Value::None => {
            let first = tensor(a, 0)?.borrow().sizes().iter().position(|&size| size == 3);
            let Some(dim) = first else { bail!(RuntimeError, "no dimension of size 3 in input") };
            f.call("linalg.cross", &[self_(a)?, arg(a, 1), Value::Int(dim as i64)])
        }
        dim => f.call("linalg.cross", &[self_(a)?, arg(a, 1), dim]),
    }),
];

/// Renames the first values of a tuple.
fn named(type_name: &'static str, names: &[&'static str], parts: &Value) -> Result<Value> {
    let fields = names.iter().copied().zip(parts.sequence().unwrap_or_default()).collect();
    Ok(Value::named_tuple(type_name, fields))
}

fn inverse(f: &dyn Functions, a: &[Value]) -> Result<Value> {
    on(f, self_(a)?).call("linalg.inv_ex", &[Value::Bool(true)]).field(0).value
}

fn adjoint(matrices: Expr<'_>) -> Expr<'_> {
    matrices.call("transpose.int", &[Value::Int(-2), Value::Int(-1)]).conj()
}

fn singular_values(matrices: Expr<'_>) -> Expr<'_> {
    matrices.call("linalg.svd", &[Value::Bool(false)]).field(1)
}

/// Computes a matrix norm from the elements, rows, columns or singular values. The dimensions are the argument at `at`,
/// followed by `keepdim` and `dtype`.
fn matrix_norm(f: &dyn Functions, a: &[Value], order: &Value, at: usize) -> Result<Value> {
    let x = on(f, self_(a)?);
    let given = match arg(a, at) {
        Value::None => Dims::from_slice(&[-2, -1]),
        _ => dims(a, at),
    };
    let (&[row, column], all) = (given.as_slice(), ndim(&arg(a, 0))) else {
        bail!(RuntimeError, "linalg.matrix_norm: dim must be a 2-tuple");
    };
    let (row, column) = (wrap_dim(row, all)? as i64, wrap_dim(column, all)? as i64);
    let (keep, dtype) = (flag(a, at + 1), a.iter().skip(at + 2).find(|v| matches!(v, Value::DType(_))).cloned());
    let lines = |along: i64, across: i64, largest: bool| {
        let how = [Value::Float(1.0), Value::size(&[along]), Value::Bool(keep), dtype.clone().unwrap_or(Value::None)];
        let sums = x.call("linalg.vector_norm", &how);
        // Without `keepdim`, the dimensions after the removed one move down.
        let across = if !keep && across > along { across - 1 } else { across };
        sums.call(if largest { "amax" } else { "amin" }, &[Value::size(&[across]), Value::Bool(keep)])
    };
    let values = |what: &dyn Fn(Expr<'_>) -> Result<Value>| -> Result<Value> {
        let x = match &dtype {
            Some(dtype) => x.call("to.dtype", std::slice::from_ref(dtype)),
            None => x.clone(),
        };
        let mut order: Dims = (0..all as i64).filter(|&d| d != row && d != column).collect();
        order.extend([row, column]);
        let places: Dims = (0..all as i64).map(|d| order.iter().position(|&o| o == d).unwrap_or(0) as i64).collect();
        let result = what(singular_values(x.call("permute", &[Value::Size(order)])))?;
        if !keep {
            return Ok(result);
        }
        on(f, result).call("unsqueeze", &[Value::Int(-1)]).call("permute", &[Value::Size(places)]).value
    };
    let extreme = |values: Expr<'_>, largest: bool| {
        values.call(if largest { "amax" } else { "amin" }, &[Value::size(&[-1]), Value::Bool(keep)]).value
    };
    match order {
        Value::Str(kind) if &**kind == "fro" => {
            let how = [Value::Float(2.0), Value::size(&[row, column]), Value::Bool(keep), dtype.unwrap_or(Value::None)];
            x.call("linalg.vector_norm", &how).value
        }
        Value::Str(kind) if &**kind == "nuc" => values(&|values| values.sum(&[-1], keep).value),
        order => match order.as_scalar().map(|order| order.to_f64()) {
            Some(p) if p.abs() == 1.0 => lines(row, column, p > 0.0).value,
            Some(p) if p.is_infinite() => lines(column, row, p > 0.0).value,
            Some(p) if p.abs() == 2.0 => values(&|values| extreme(values, p > 0.0)),
            _ => bail!(RuntimeError, "linalg.matrix_norm: this order is not supported"),
        },
    }
}

fn lu(f: &dyn Functions, a: &[Value]) -> Result<Value> {
    f.call("linalg.lu_factor_ex", &[self_(a)?, arg(a, 1)])
}

fn norm(f: &dyn Functions, a: &[Value]) -> Result<Value> {
    let (x, order) = (self_(a)?, arg(a, 1));
    let of_matrix = match arg(a, 2) {
        Value::None => matches!(order, Value::Str(_)) || ndim(&x) == 2,
        _ => dims(a, 2).len() == 2,
    };
    if of_matrix && !matches!(order, Value::None) {
        return matrix_norm(f, a, &order, 2);
    }
    let order = if let Value::None = order { Value::Float(2.0) } else { order };
    f.call("linalg.vector_norm", &[x, order, arg(a, 2), arg(a, 3), arg(a, 4)])
}

fn cond(f: &dyn Functions, a: &[Value]) -> Result<Value> {
    let (x, order) = (self_(a)?, arg(a, 1));
    let two = order.as_scalar().map_or(matches!(order, Value::None), |order| order.to_f64().abs() == 2.0);
    if two {
        let values = singular_values(on(f, x));
        let count = values.tensor()?.borrow().sizes().last().copied().unwrap_or(0);
        let one = |start: i64| {
            values.call("slice.Tensor", &[Value::Int(-1), Value::Int(start), Value::Int(start + 1), Value::Int(1)])
        };
        let (largest, least) = (one(0), one(count - 1));
        let inverted = order.as_scalar().is_some_and(|order| order.to_f64() < 0.0);
        let quotient = if inverted { least / largest } else { largest / least };
        return quotient.call("squeeze.dim", &[Value::Int(-1)]).value;
    }
    let parts = on(f, x.clone()).call("linalg.inv_ex", &[Value::Bool(false)]);
    let singular = parts.field(1).compare("ne", Value::Int(0));
    let norm = |x: Value| f.call("linalg.matrix_norm", &[x, order.clone()]);
    let product = on(f, norm(x)?) * on(f, norm(parts.field(0).value?)?);
    let infinite = [Value::Float(f64::INFINITY)];
    let product = product.with("masked_fill.Scalar", &singular, &infinite);
    // The condition number of a singular matrix is infinite, not NaN.
    let bounds = [Value::Float(f64::INFINITY), Value::Float(f64::INFINITY), Value::Float(f64::NEG_INFINITY)];
    product.call("nan_to_num", &bounds).value
}
