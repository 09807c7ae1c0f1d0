//! Products of matrices and vectors. `matmul`, `einsum` and `tensordot`, which PyTorch composes of these, are recorded
//! step by step.

use crate::context::{Context, Expr};
use crate::derivative::{Derivative, row};
use value::Value;

pub(super) const ROWS: &[Derivative] = &[
    row("mm", "MmBackward0")
        .grad(0, &[1], |c| times("mm", c.g(), adjoint(c.arg(1))))
        .grad(1, &[0], |c| times("mm", adjoint(c.arg(0)), c.g())),
    row("bmm", "BmmBackward0")
        .grad(0, &[1], |c| times("bmm", c.g(), adjoint(c.arg(1))))
        .grad(1, &[0], |c| times("bmm", adjoint(c.arg(0)), c.g())),
    row("mv", "MvBackward0")
        .grad(0, &[1], |c| times("outer", c.g(), c.arg(1).conj()))
        .grad(1, &[0], |c| times("mv", adjoint(c.arg(0)), c.g())),
    row("dot", "DotBackward0").grad(0, &[1], |c| c.g() * c.arg(1).conj()).grad(1, &[0], |c| c.g() * c.arg(0).conj()),
    row("vdot", "VdotBackward0").grad(0, &[1], |c| c.g().conj() * c.arg(1)).grad(1, &[0], |c| c.g() * c.arg(0)),
    row("addmm", "AddmmBackward0")
        .grad(0, &[], |c| c.g().scaled(c.arg(3)))
        .grad(1, &[2], |c| times("mm", c.g(), adjoint(c.arg(2))).scaled(c.arg(4)))
        .grad(2, &[1], |c| times("mm", adjoint(c.arg(1)), c.g()).scaled(c.arg(4))),
    row("addmv", "AddmvBackward0")
        .grad(0, &[], |c| c.g().scaled(c.arg(3)))
        .grad(1, &[2], |c| times("outer", c.g(), c.arg(2).conj()).scaled(c.arg(4)))
        .grad(2, &[1], |c| times("mv", adjoint(c.arg(1)), c.g()).scaled(c.arg(4))),
    row("baddbmm", "BaddbmmBackward0")
        .grad(0, &[], |c| c.g().scaled(c.arg(3)))
        .grad(1, &[2], |c| times("bmm", c.g(), adjoint(c.arg(2))).scaled(c.arg(4)))
        .grad(2, &[1], |c| times("bmm", adjoint(c.arg(1)), c.g()).scaled(c.arg(4))),
    row("addbmm", "AddbmmBackward0")
        .grad(0, &[], |c| c.g().scaled(c.arg(3)))
        .grad(1, &[2], |c| times("bmm", for_each(c), adjoint(c.arg(2))).scaled(c.arg(4)))
        .grad(2, &[1], |c| times("bmm", adjoint(c.arg(1)), for_each(c)).scaled(c.arg(4))),
    row("addr", "AddrBackward0")
        .grad(0, &[], |c| c.g().scaled(c.arg(3)))
        .grad(1, &[2], |c| times("mv", c.g(), c.arg(2).conj()).scaled(c.arg(4)))
        .grad(2, &[1], |c| times("mv", transposed(c.g()), c.arg(1).conj()).scaled(c.arg(4))),
    row("trace", "TraceBackward0")
        .grad(0, &[], |c| c.placed("diagonal", &[Value::Int(0), Value::Int(0), Value::Int(1)])),
];

fn times<'a>(product: &str, a: Expr<'a>, b: Expr<'a>) -> Expr<'a> {
    a.with(product, &b, &[])
}

pub(super) fn transposed(matrices: Expr<'_>) -> Expr<'_> {
    matrices.call("transpose.int", &[Value::Int(-2), Value::Int(-1)])
}

/// Returns the conjugate transpose.
pub(super) fn adjoint(matrices: Expr<'_>) -> Expr<'_> {
    transposed(matrices).conj()
}

/// Expands the gradient of a sum of products to every product.
fn for_each<'a>(c: &Context<'a>) -> Expr<'a> {
    let (rows, columns) = (c.sizes(1), c.sizes(2));
    let sizes = [rows.first(), rows.get(1), columns.get(2)].map(|size| size.copied().unwrap_or(0));
    c.g().call("unsqueeze", &[Value::Int(0)]).call("expand", &[Value::size(&sizes)])
}
