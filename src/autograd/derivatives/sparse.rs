//! Sparse tensors. The gradient of a sparse matrix has the same specified elements. Gradients of other elements are
//! dropped.

use crate::context::{Context, Expr};
use crate::derivative::{Derivative, row};
use tensor::{Error, Result};
use value::Value;

pub(super) const ROWS: &[Derivative] = &[
    row("to_dense", "ToDenseBackward0").grad(0, &[0], |c| masked(c.g(), c)),
    row("to_sparse", "ToSparseBackward0").grad(0, &[], |c| c.g().call("to_dense", &[])),
    row("to_sparse.sparse_dim", "ToSparseBackward0").grad(0, &[], |c| c.g().call("to_dense", &[])),
    row("coalesce", "CoalesceBackward0").grad(0, &[], |c| c.g()),
    row("sparse.mm", "SparseAddmmBackward0")
        .grad(0, &[0, 1], |c| masked(c.g().with("mm", &transposed(c.arg(1)), &[]), c))
        .grad(1, &[0], |c| transposed(c.arg(0)).with("mm", &c.g(), &[])),
    row("sparse.mm.reduce", "SparseMmReduceImplBackward0")
        .grad(0, &[0, 1], |c| summed(c).then(masked(c.g().with("mm", &transposed(c.arg(1)), &[]), c)))
        .grad(1, &[0], |c| summed(c).then(transposed(c.arg(0)).with("mm", &c.g(), &[]))),
];

/// Keeps the elements of the gradient that the first argument specifies.
fn masked<'a>(gradient: Expr<'a>, c: &Context<'a>) -> Expr<'a> {
    gradient.with("sparse_mask", &c.arg(0), &[])
}

fn transposed(matrix: Expr<'_>) -> Expr<'_> {
    matrix.call("transpose.int", &[Value::Int(0), Value::Int(1)]).conj()
}

/// Returns the gradient unchanged for a reduction by sum. Other reductions are not implemented.
fn summed<'a>(c: &Context<'a>) -> Expr<'a> {
    let gradient: Result<Value> = match c.value(2) {
        Value::Str(reduce) if &*reduce == "sum" => return c.g(),
        _ => Err(Error::not_implemented("the derivative of a sparse product other than the sum is not implemented")),
    };
    c.expr(gradient)
}
