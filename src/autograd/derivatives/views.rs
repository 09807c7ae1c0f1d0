//! Views and copies. The gradient goes through the inverse view, or is copied into zeros if the view left elements out.

use super::strided::{AS_STRIDED, strided};
use crate::context::{Context, Expr};
use crate::derivative::{Derivative, row, same};
use tensor::layout::wrap_dim;
use tensor::{Dims, Result};
use value::Value;

/// Views that change elements, which are taken again after a write to their base.
pub(crate) const AS_REAL: Derivative = row("view_as_real", "ViewAsRealBackward0").grad(0, &[], complex_again);
pub(crate) const AS_COMPLEX: Derivative = row("view_as_complex", "ViewAsComplexBackward0").grad(0, &[], real_again);
pub(crate) const CONJ: Derivative = row("conj", "ConjBackward0").grad(0, &[], |c| c.g().conj());

pub(crate) const NEGATED: Derivative = row("_neg_view", "NegViewBackward0").grad(0, &[], |c| c.g().call("neg", &[]));

/// The views of which there are functions that copy them (`NAME_copy`), with the same derivatives.
pub(crate) const VIEWS: &[Derivative] = &[
    row("view", "ViewBackward0").grad(0, &[], reshaped),
    row("unsqueeze", "UnsqueezeBackward0").grad(0, &[], |c| c.g().call("squeeze.dim", &[c.value(1)])),
    row("squeeze", "SqueezeBackward0").grad(0, &[], unsqueezed),
    row("squeeze.dim", "SqueezeBackward1").grad(0, &[], unsqueezed),
    row("squeeze.dims", "SqueezeBackward2").grad(0, &[], unsqueezed),
    row("transpose.int", "TransposeBackward0").grad(0, &[], |c| c.g().call("transpose.int", &[c.value(1), c.value(2)])),
    row("t", "TBackward0").grad(0, &[], |c| c.g().call("t", &[])),
    row("permute", "PermuteBackward0").grad(0, &[], permuted),
    row("expand", "ExpandBackward0").grad(0, &[], same),
    row("alias", "AliasBackward0").grad(0, &[], same),
    row("select.int", "SelectBackward0").grad(0, &[], |c| in_place_of(c, "select_backward", 2)),
    row("slice.Tensor", "SliceBackward0").grad(0, &[], |c| in_place_of(c, "slice_backward", 4)),
    row("diagonal", "DiagonalBackward0").grad(0, &[], |c| in_place_of(c, "diagonal_backward", 3)),
    AS_STRIDED,
    row("unfold", "UnfoldBackward0").grad(0, &[], |c| in_place_of(c, "unfold_backward", 3)),
    row("split.Tensor", "SplitBackward0").grad(0, &[], |c| joined(c, "cat", 2)),
    row("split_with_sizes", "SplitWithSizesBackward0").grad(0, &[], |c| joined(c, "cat", 2)),
    row("unbind.int", "UnbindBackward0").grad(0, &[], |c| joined(c, "stack", 1)),
    AS_REAL,
    AS_COMPLEX,
];

pub(super) const ROWS: &[Derivative] = &[
    row("_unsafe_view", "UnsafeViewBackward0").grad(0, &[], reshaped),
    row("unsafe_split.Tensor", "UnsafeSplitBackward0").grad(0, &[], |c| joined(c, "cat", 2)),
    row("unsafe_split_with_sizes", "UnsafeSplitWithSizesBackward0").grad(0, &[], |c| joined(c, "cat", 2)),
    // Operations that change the shape of the tensor itself.
    shown("unsqueeze_", "UnsqueezeBackward1").grad(0, &[], reshaped),
    shown("squeeze_", "SqueezeBackward3").grad(0, &[], reshaped),
    shown("squeeze_.dim", "SqueezeBackward4").grad(0, &[], reshaped),
    shown("squeeze_.dims", "SqueezeBackward5").grad(0, &[], reshaped),
    shown("transpose_", "TransposeBackward1").grad(0, &[], |c| c.g().call("transpose.int", &[c.value(1), c.value(2)])),
    shown("t_", "TBackward1").grad(0, &[], |c| c.g().call("t", &[])),
    shown("as_strided_", "AsStridedBackward1").grad(0, &[], strided),
    CONJ,
    NEGATED,
    row("clone", "CloneBackward0").grad(0, &[], same),
    row("_to_copy", "ToCopyBackward0").grad(0, &[], same),
    row("copy_", "CopyBackwards").grad(0, &[], crate::derivative::zero).grad(1, &[], same),
    row("fill.Scalar", "FillBackward0").grad(0, &[], crate::derivative::zero),
    row("fill.Tensor", "FillBackward1").grad(0, &[], crate::derivative::zero).grad(1, &[], |c| c.g().call("sum", &[])),
    row("fill_.Scalar", "FillBackward2").grad(0, &[], crate::derivative::zero),
    row("fill_.Tensor", "FillBackward3").grad(0, &[], crate::derivative::zero).grad(1, &[], |c| c.g().call("sum", &[])),
    row("zero", "ZeroBackward0").grad(0, &[], crate::derivative::zero),
];

/// Declares the row of an operation that changes the view of a tensor in place.
const fn shown(key: &'static str, name: &'static str) -> Derivative {
    Derivative { shows: true, ..row(key, name) }
}

/// Calls the function `key`, which copies the gradient into zeros at the part that the view showed. `arguments` is the
/// number of arguments of the view.
pub(crate) fn in_place_of<'a>(c: &Context<'a>, key: &str, arguments: usize) -> Expr<'a> {
    let mut args = vec![Value::Size(c.sizes(0))];
    args.extend((1..=arguments).map(|i| c.value(i)));
    c.g().call(key, &args)
}

/// Restores the dimensions of size 1 that `squeeze` removed.
fn unsqueezed<'a>(c: &Context<'a>) -> Expr<'a> {
    let (sizes, mut grad) = (c.sizes(0), c.g());
    for (dim, size) in sizes.iter().enumerate() {
        let shown = grad.tensor().map_or(0, |grad| grad.borrow().ndim());
        let gone = shown < sizes.len() && *size == 1 && is_squeezed(c, dim);
        if gone {
            grad = grad.call("unsqueeze", &[Value::Int(dim as i64)]);
        }
    }
    grad
}

/// Returns whether `squeeze` may remove this dimension. Without named dimensions, it may remove any.
fn is_squeezed(c: &Context, dim: usize) -> bool {
    let all = c.sizes(0).len();
    match c.value(1) {
        Value::None => true,
        _ => c.dims(1).iter().any(|&named| wrap_dim(named, all).is_ok_and(|named| named == dim)),
    }
}

fn complex_again<'a>(c: &Context<'a>) -> Expr<'a> {
    c.g().call("contiguous", &[]).call("view_as_complex", &[])
}

fn real_again<'a>(c: &Context<'a>) -> Expr<'a> {
    c.g().call("contiguous", &[]).call("resolve_conj", &[]).call("view_as_real", &[])
}

fn reshaped<'a>(c: &Context<'a>) -> Expr<'a> {
    // A view even if the size stays the same: it can become the `grad` of a leaf, which a gradient held by others cannot.
    c.g().call("reshape", &[Value::Size(c.sizes(0))])
}

fn permuted<'a>(c: &Context<'a>) -> Expr<'a> {
    let dims = c.dims(1);
    let mut inverse = Dims::from_elem(0, dims.len());
    for (to, &from) in dims.iter().enumerate() {
        if let Some(slot) = wrap_dim(from, dims.len()).ok().and_then(|from| inverse.get_mut(from)) {
            *slot = to as i64;
        }
    }
    c.g().call("permute", &[Value::Size(inverse)])
}

/// Joins the gradients of all parts. The dimension is the argument at `dim`.
fn joined<'a>(c: &Context<'a>, how: &str, dim: usize) -> Expr<'a> {
    let parts: Result<Vec<Value>> = (0..c.node.outputs.len()).map(|i| c.gradient(i).value).collect();
    let list = c.expr(parts.map(Value::list));
    list.call(how, &[c.value(dim)])
}
