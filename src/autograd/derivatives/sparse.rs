//! Sparse tensors. The gradient of a sparse matrix has the same specified elements. Gradients of other elements are
//! dropped.

use crate::context::{Context, Expr};
use crate::derivative::{Derivative, RESULT, row};
use tensor::{Error, Result, TensorLayout};
use value::Value;

pub(super) const ROWS: &[Derivative] = &[
    row("to_dense", "ToDenseBackward0").grad(0, &[0], |c| match c.value(2) {
        Value::Bool(false) => converted(c, c.g()),
        _ => masked(c.g(), c),
    }),
    row("to_sparse", "ToSparseBackward1").grad(0, &[], |c| converted(c, c.g())),
    row("to_sparse.sparse_dim", "ToSparseBackward0").grad(0, &[], |c| converted(c, c.g())),
    row("to_sparse_coo", "ToSparseBackward1").grad(0, &[], |c| converted(c, c.g())),
    row("to_sparse_csr", "ToSparseCsrBackward0").grad(0, &[], |c| converted(c, c.g())),
    row("to_sparse_csc", "ToSparseCscBackward0").grad(0, &[], |c| converted(c, c.g())),
    row("to_sparse_bsr", "ToSparseBsrBackward0").grad(0, &[], |c| converted(c, c.g())),
    row("to_sparse_bsc", "ToSparseBscBackward0").grad(0, &[], |c| converted(c, c.g())),
    row("sparse_coo_tensor.indices", COORDINATES).grad(1, &[RESULT], listed),
    row("sparse_coo_tensor.indices_size", COORDINATES).grad(1, &[RESULT], listed),
    row("sparse_compressed_tensor", COMPRESSED).grad(2, &[RESULT], given),
    row("sparse_csr_tensor", COMPRESSED).grad(2, &[RESULT], given),
    row("sparse_csc_tensor", COMPRESSED).grad(2, &[RESULT], given),
    row("sparse_bsr_tensor", COMPRESSED).grad(2, &[RESULT], given),
    row("sparse_bsc_tensor", COMPRESSED).grad(2, &[RESULT], given),
    row("values", "ValuesBackward0").grad(0, &[0], with_values),
    row("sparse_mask", "SparseMaskBackward0").grad(0, &[1], |c| {
        // PyTorch's formula reads this flag, which only COO tensors have.
        let kept = c.g().with("sparse_mask", &c.arg(1).call("coalesce", &[]), &[]);
        c.g().call("is_coalesced", &[]).then(converted(c, kept))
    }),
    row("_sparse_sum.dim", "SparseSumBackward0").grad(0, &[0], |c| {
        let spread = super::reduce::spread(c, c.g().call("to_dense", &[]), &c.dims(1), false);
        spread.with("sparse_mask", &c.arg(0).call("coalesce", &[]), &[])
    }),
    row("coalesce", "CoalesceBackward0").grad(0, &[], |c| c.g()),
    row("sparse.mm", "SparseAddmmBackward0")
        .grad(0, &[0, 1], |c| masked(c.g().with("mm", &transposed(c.arg(1)), &[]), c))
        .grad(1, &[0], |c| transposed(c.arg(0)).with("mm", &c.g(), &[])),
    row("sparse.mm.reduce", "SparseMmReduceImplBackward0")
        .grad(0, &[0, 1], |c| summed(c).then(masked(c.g().with("mm", &transposed(c.arg(1)), &[]), c)))
        .grad(1, &[0], |c| summed(c).then(transposed(c.arg(0)).with("mm", &c.g(), &[]))),
];

const COORDINATES: &str = "SparseCooTensorWithDimsAndTensorsBackward0";
const COMPRESSED: &str = "SparseCompressedTensorBackward0";

/// Converts a gradient to the layout of the first argument. The sizes of blocks are not known, so it is not converted to
/// a layout of blocks.
fn converted<'a>(c: &Context<'a>, gradient: Expr<'a>) -> Expr<'a> {
    match c.shape(0).map(|shape| shape.form) {
        Ok(TensorLayout::Strided) => gradient.call("to_dense", &[]),
        Ok(TensorLayout::SparseCoo) => gradient.call("to_sparse_coo", &[]),
        Ok(TensorLayout::SparseCsr) => gradient.call("to_sparse_csr", &[]),
        Ok(TensorLayout::SparseCsc) => gradient.call("to_sparse_csc", &[]),
        Ok(_) => gradient,
        Err(error) => c.expr(Err(error)),
    }
}

/// Selects the elements of the gradient that the indices of a new COO tensor list.
fn listed<'a>(c: &Context<'a>) -> Expr<'a> {
    c.result().and(|result| {
        let mask = c.expr(Ok(Value::Tensor(result.clone())));
        // The mask counts as coalesced, so that the values can be read, even if it lists an index several times.
        let values = mask.call("_values", &[]);
        let sizes = Value::size(result.borrow().sizes());
        let mask = coordinates(mask.call("_indices", &[]), values, sizes);
        let gradient = match c.g().tensor()?.borrow().is_sparse() {
            true => c.g().call("to_sparse_coo", &[]),
            false => c.g(),
        };
        Ok(gradient.with("sparse_mask", &mask, &[]).call("values", &[]))
    })
}

/// Makes a coalesced COO tensor.
fn coordinates<'a>(indices: Expr<'a>, values: Expr<'a>, sizes: Value) -> Expr<'a> {
    let options = [Value::None, Value::None, Value::Bool(false), Value::Bool(false), Value::None, Value::Bool(true)];
    let [dtype, device, pinned, requires_grad, check, coalesced] = options.map(Ok);
    let rest = [values.value, Ok(sizes), dtype, device, pinned, requires_grad, check, coalesced];
    indices.apply("sparse_coo_tensor.indices_size", rest)
}

/// Selects the elements of the gradient that a new compressed tensor specifies.
fn given<'a>(c: &Context<'a>) -> Expr<'a> {
    c.g().with("sparse_mask", &c.result(), &[]).call("values", &[])
}

/// Makes a sparse tensor of the first argument's indices and the gradient of its values.
fn with_values<'a>(c: &Context<'a>) -> Expr<'a> {
    let sizes = Value::Size(c.sizes(0));
    let (this, gradient) = (c.arg(0), c.g());
    let layout = match c.shape(0).map(|shape| shape.form) {
        Ok(layout) => layout,
        Err(error) => return c.expr(Err(error)),
    };
    if layout == TensorLayout::SparseCoo {
        return coordinates(this.call("indices", &[]), gradient, sizes);
    }
    let (starts, plain) = layout.index_names();
    let plain = this.call(plain, &[]);
    this.call(starts, &[]).apply(
        "sparse_compressed_tensor",
        [plain.value, gradient.value, Ok(sizes), Ok(Value::None), Ok(Value::Layout(layout))],
    )
}

/// Keeps the elements of the gradient that the first argument specifies.
fn masked<'a>(gradient: Expr<'a>, c: &Context<'a>) -> Expr<'a> {
    match c.shape(0).map(|shape| shape.form) {
        Ok(TensorLayout::SparseCoo) => gradient.with("sparse_mask", &c.arg(0).call("coalesce", &[]), &[]),
        _ => gradient.with("sparse_mask", &c.arg(0), &[]),
    }
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
