//! Operations that pick, move, join and replace elements.

use super::{Context, Derivative, Expr, row, same, zero};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{Dims, Error};
use crate::value::Value;

pub const ROWS: &[Derivative] = &[
    row("roll", "RollBackward0").grad(0, &[], |c| {
        let back: Dims = c.dims(1).iter().map(|shift| shift.wrapping_neg()).collect();
        c.g().call("roll", &[Value::Size(back), c.value(2)])
    }),
    row("flip", "FlipBackward0").grad(0, &[], |c| c.g().call("flip", &[c.value(1)])),
    row("rot90", "Rot90Backward0")
        .grad(0, &[], |c| c.g().call("rot90", &[Value::Int(c.int(1).wrapping_neg()), c.value(2)])),
    row("repeat", "RepeatBackward0").grad(0, &[], repeated),
    row("tril", "TrilBackward0").grad(0, &[], |c| c.g().call("tril", &[c.value(1)])),
    row("triu", "TriuBackward0").grad(0, &[], |c| c.g().call("triu", &[c.value(1)])),
    row("diagonal_copy", "DiagonalBackward0_copy")
        .grad(0, &[], |c| c.placed("diagonal", &[c.value(1), c.value(2), c.value(3)])),
    row("diag_embed", "DiagEmbedBackward0")
        .grad(0, &[], |c| c.g().call("diagonal", &[c.value(1), c.value(2), c.value(3)])),
    row("cat", "CatBackward0").grad(0, &[], part),
    row("stack", "StackBackward0")
        .grad(0, &[], |c| c.g().call("select.int", &[c.value(1), Value::Int(c.element as i64)])),
    row("index_select", "IndexSelectBackward0")
        .grad(0, &[2], |c| c.room(0).apply("index_add_", [Ok(c.value(1)), c.arg(2).value, c.g().value])),
    row("gather", "GatherBackward0")
        .grad(0, &[2], |c| c.room(0).apply("scatter_add_", [Ok(c.value(1)), c.arg(2).value, c.g().value])),
    row("take", "TakeBackward0")
        .grad(0, &[1], |c| c.room(0).apply("put_", [c.arg(1).value, c.g().value, Ok(Value::Bool(true))])),
    row("index.Tensor", "IndexBackward0")
        .grad(0, &[], |c| c.room(0).apply("_index_put_impl_", [Ok(c.value(1)), c.g().value, Ok(Value::Bool(true))])),
    row("index_put", "IndexPutBackward0")
        .grad(0, &[], |c| {
            if c.flag(3) {
                return c.g();
            }
            let zero = c.g().call("new_zeros", &[Value::size(&[])]);
            c.g().call("clone", &[]).apply("_index_put_impl_", [Ok(c.value(1)), zero.value, Ok(Value::Bool(false))])
        })
        .grad(2, &[], |c| c.g().call("index.Tensor", &[c.value(1)])),
    row("masked_fill.Scalar", "MaskedFillBackward0").grad(0, &[1], |c| c.g().cleared(&c.arg(1))),
    row("masked_fill.Tensor", "MaskedFillBackward1")
        .grad(0, &[1], |c| c.g().cleared(&c.arg(1)))
        .grad(2, &[1], |c| c.g().or_where(&c.arg(1), c.expr(Ok(Value::Int(0)))).call("sum", &[])),
    row("masked_select", "MaskedSelectBackward0").grad(0, &[0, 1], |c| {
        // The mask and the argument were broadcast against each other.
        let whole = c.arg(0).call("zeros_like", &[]) + c.arg(1).with("mul", &c.expr(Ok(Value::Float(0.0))), &[]);
        whole.apply("masked_scatter", [c.arg(1).value, c.g().value])
    }),
    row("masked_scatter", "MaskedScatterBackward0").grad(0, &[1], |c| c.g().cleared(&c.arg(1))).grad(2, &[1], |c| {
        let taken = c.g().with("masked_select", &c.arg(1), &[]);
        c.g().and(|_| {
            let count = taken.tensor()?.borrow().numel();
            let room = c.room(2).reshape(&[-1]);
            room.call("narrow", &[Value::Int(0), Value::Int(0), Value::Int(count)]).with("copy_", &taken, &[]).value?;
            Ok(room.reshape(&c.sizes(2)))
        })
    }),
    row("where.self", "WhereBackward0").grad(1, &[0], |c| c.g().or_where(&c.arg(0), c.expr(Ok(Value::Int(0))))).grad(
        2,
        &[0],
        |c| c.g().cleared(&c.arg(0)),
    ),
    row("scatter.src", "ScatterBackward0")
        .grad(0, &[2], |c| emptied(c, "scatter_.value"))
        .grad(3, &[2], |c| c.g().apply("gather", [Ok(c.value(1)), c.arg(2).value])),
    row("scatter.value", "ScatterBackward1").grad(0, &[2], |c| emptied(c, "scatter_.value")),
    row("scatter_add", "ScatterAddBackward0")
        .grad(0, &[], same)
        .grad(3, &[2], |c| c.g().apply("gather", [Ok(c.value(1)), c.arg(2).value])),
    row("index_add", "IndexAddBackward0")
        .grad(0, &[], same)
        .grad(3, &[2], |c| c.g().apply("index_select", [Ok(c.value(1)), c.arg(2).value]).scaled(c.arg(4))),
    row("index_copy", "IndexCopyBackward0").grad(0, &[2], |c| emptied(c, "index_fill_.int_Scalar")).grad(
        3,
        &[2],
        |c| c.g().apply("index_select", [Ok(c.value(1)), c.arg(2).value]),
    ),
    row("index_fill.int_Scalar", "IndexFillBackward0").grad(0, &[2], |c| emptied(c, "index_fill_.int_Scalar")),
    row("index_fill.int_Tensor", "IndexFillBackward1").grad(0, &[2], |c| emptied(c, "index_fill_.int_Scalar")).grad(
        3,
        &[2],
        |c| c.g().apply("index_select", [Ok(c.value(1)), c.arg(2).value]).call("sum", &[]),
    ),
    row("put", "PutBackward0")
        .grad(0, &[1], |c| {
            if c.flag(3) {
                return c.g();
            }
            let zero = c.arg(1).call("zeros_like", &[]).with("mul", &c.g().call("new_zeros", &[Value::size(&[])]), &[]);
            c.g().call("clone", &[]).apply("put_", [c.arg(1).value, zero.value])
        })
        .grad(2, &[1], |c| c.g().with("take", &c.arg(1), &[]).reshape(&c.sizes(2))),
    // Random numbers do not depend on what they are written over.
    row("uniform", "UniformBackward0").grad(0, &[], zero),
    row("normal", "NormalBackward0").grad(0, &[], zero),
    row("random", "RandomBackward2").grad(0, &[], zero),
    row("random.from", "RandomBackward0").grad(0, &[], zero),
    row("random.to", "RandomBackward1").grad(0, &[], zero),
    row("bernoulli", "BernoulliBackward0").grad(0, &[], zero),
    row("bernoulli_.float", "BernoulliBackward2").grad(0, &[], zero),
    row("bernoulli_.Tensor", "BernoulliBackward1")
        .grad(0, &[], zero)
        .grad(1, &[1], |c| c.arg(1).call("zeros_like", &[])),
    // PyTorch has a node for these that only refuses.
    row("unique", "Unique2Backward0").grad(0, &[], |c| refused(c, "_unique2")),
    row("unique_consecutive", "UniqueConsecutiveBackward0").grad(0, &[], |c| refused(c, "unique_consecutive")),
    row("exponential", "ExponentialBackward0").grad(0, &[], zero),
    row("cauchy", "CauchyBackward0").grad(0, &[], zero),
    row("log_normal", "LogNormalBackward0").grad(0, &[], zero),
    row("geometric", "GeometricBackward0").grad(0, &[], zero),
];

fn refused<'a>(c: &Context<'a>, name: &str) -> Expr<'a> {
    c.expr(Err(Error::not_implemented(format!("the derivative for '{name}' is not implemented."))))
}

/// The gradient of a sum over all copies.
fn repeated<'a>(c: &Context<'a>) -> Expr<'a> {
    let (sizes, repeats) = (c.sizes(0), c.dims(1));
    let added = repeats.len().saturating_sub(sizes.len());
    let mut split = Dims::new();
    let mut copies = Dims::new();
    for (d, &repeat) in repeats.iter().enumerate() {
        copies.push(split.len() as i64);
        split.push(repeat);
        if let Some(&size) = d.checked_sub(added).and_then(|d| sizes.get(d)) {
            split.push(size);
        }
    }
    if copies.is_empty() {
        return c.g();
    }
    c.g().reshape(&split).sum(&copies, false)
}

/// The part of the gradient that one of the joined tensors gave.
fn part<'a>(c: &Context<'a>) -> Expr<'a> {
    let all = c.list_sizes(0);
    let Some(own) = all.get(c.element) else { return c.g() };
    let widest = all.iter().map(|sizes| sizes.len()).max().unwrap_or(0);
    // An empty vector may be joined to anything.
    if own.len() != widest {
        return c.g().call("new_zeros", &[Value::Size(own.clone())]);
    }
    let Ok(dim) = wrap_dim(c.int(1), widest) else { return c.g() };
    let length = |sizes: &Dims| if sizes.len() == widest { sizes.get(dim).copied().unwrap_or(0) } else { 0 };
    let start: i64 = all.iter().take(c.element).map(length).sum();
    c.g().call("narrow", &[Value::Int(dim as i64), Value::Int(start), Value::Int(length(own))])
}

/// The gradient, zero where the operation wrote something else.
fn emptied<'a>(c: &Context<'a>, how: &str) -> Expr<'a> {
    c.g().call("clone", &[]).apply(how, [Ok(c.value(1)), c.arg(2).value, Ok(Value::Int(0))])
}
